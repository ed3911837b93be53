import { expect, it } from '@jest/globals';
import { DAY, HOUR, MINUTE, nextMultiple, recurrenceOf, SECOND } from './recurring.js';
import { ids, settlement, type World } from './world.js';

export const recurrencesBackfill = (world: () => World): void => {
  const passTo = (at: number) => world().pass(at - world().now());
  const hours = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i * HOUR);

  it('occurrences of the past are added in their order, each once', async () => {
    const { recurrences, view } = world().store();
    const { nextAtMs } = await recurrences.upsert(recurrenceOf({ everyMs: DAY }));
    const instants = [3, 2, 1].map((days) => nextAtMs! - days * DAY);
    expect(await recurrences.backfill('r', instants)).toBe(3);
    const worker = world().worker('w');
    const claimed = await worker.claim();
    expect(ids(claimed)).toEqual(instants.map((at) => `r@${at}`));
    await worker.settle(...claimed.map((job) => settlement.completeChosen(job)));
    expect(await recurrences.backfill('r', [...instants, instants[0]! - DAY, nextAtMs!])).toBe(1);
    expect(await recurrences.get('r')).toMatchObject({ count: 0, nextAtMs });
    expect(await recurrences.backfill('other', instants)).toBeUndefined();
    expect(await recurrences.backfill('r', [])).toBe(0);
    expect(await view.stats()).toMatchObject({ scheduled: 5 });
  });

  it('hundreds are added in one call', async () => {
    const { recurrences, view } = world().store();
    await recurrences.upsert(recurrenceOf());
    const before = nextMultiple(world().now(), MINUTE) - 601 * MINUTE;
    const instants = Array.from({ length: 600 }, (_, i) => before + i * MINUTE);
    expect(await recurrences.backfill('r', instants)).toBe(600);
    expect(await view.counts()).toMatchObject({ due: 600, scheduled: 1 });
  });

  it('one turn takes as many of them as it has places, and ordinary jobs behind them', async () => {
    const { recurrences } = world().store();
    const { nextAtMs } = await recurrences.upsert(recurrenceOf({ everyMs: DAY }));
    await recurrences.backfill('r', hours(nextAtMs! - 200 * HOUR, 60));
    world().pass(1);
    await world().schedule({ id: 'ordinary' });
    const claimed = ids((await world().worker('w').turn({ limit: 100 })).claimed);
    expect(claimed).toHaveLength(61);
    expect(claimed.at(-1)).toBe('ordinary');
  });

  it('all that an outage has missed can be added, the one that was armed in it as well', async () => {
    const { recurrences } = world().store();
    const at = (await recurrences.upsert(recurrenceOf({ everyMs: HOUR, onMissed: 'skip' }))).nextAtMs!;
    passTo(at + 3.5 * HOUR);
    const worker = world().worker('w');
    expect(await worker.turn({ limit: 5 })).toMatchObject({ claimed: [], skippedOccurrences: [{ reason: 'missed' }] });
    expect(await recurrences.backfill('r', hours(at, 4))).toBe(4);
    expect(ids(await worker.claim(5))).toEqual(hours(at, 4).map((each) => `r@${each}`));
    expect(await recurrences.get('r')).toMatchObject({ count: 0, nextAtMs: at + 4 * HOUR });
  });

  it('one that was left out as its previous one ran can be added', async () => {
    const { recurrences } = world().store({ leaseMs: 600_000 });
    const at = (await recurrences.upsert(recurrenceOf({ overlap: 'skip' }))).nextAtMs!;
    passTo(at);
    const worker = world().worker('w');
    expect(await worker.claim()).toHaveLength(1);
    passTo(at + MINUTE);
    expect(await worker.turn({ limit: 5 })).toMatchObject({ claimed: [], skippedOccurrences: [{ reason: 'overlap' }] });
    expect(await recurrences.backfill('r', [at, at + MINUTE])).toBe(1);
    expect(ids(await worker.claim())).toEqual([`r@${at + MINUTE}`]);
  });

  it.each([
    ['a period', { everyMs: HOUR }],
    ['wall times', { cron: '0 * * * *' }],
  ])(
    'by %s, one that is armed still, and over, is run in its place, and the first one behind is armed',
    async (_, rule) => {
      const { recurrences, view } = world().store();
      const given = recurrenceOf({ ...rule, onMissed: 'skip', limit: 5 }, { tags: ['t'] });
      const at = (await recurrences.upsert(given)).nextAtMs!;
      passTo(at + 3.5 * HOUR);
      expect(await recurrences.backfill('r', hours(at, 4))).toBe(4);
      expect(await recurrences.get('r')).toMatchObject({ count: 0, lastAtMs: null, nextAtMs: at + 4 * HOUR });
      expect(await recurrences.backfill('r', hours(at, 4))).toBe(0);
      expect(await view.counts()).toMatchObject({ due: 4, scheduled: 1 });
      const worker = world().worker('w');
      const { claimed, skippedOccurrences } = await worker.turn({ limit: 5 });
      expect({ claimed: ids(claimed), skippedOccurrences }).toEqual({
        claimed: hours(at, 4).map((each) => `r@${each}`),
        skippedOccurrences: [],
      });
      expect(claimed.map(({ dueAtMs }) => dueAtMs)).toEqual(Array(4).fill(at + 3.5 * HOUR));
      await worker.settle(...claimed.map((job) => settlement.completeChosen(job)));
      expect(await view.stats()).toMatchObject({ scheduled: 5, completed: 4 });
    },
  );

  it('an armed one that runs in its place alone leaves those behind it to the rule', async () => {
    const { recurrences } = world().store();
    const at = (await recurrences.upsert(recurrenceOf({ everyMs: HOUR }))).nextAtMs!;
    passTo(at + 1.5 * HOUR);
    expect(await recurrences.backfill('r', [at])).toBe(1);
    const worker = world().worker('w');
    const { claimed, skippedOccurrences } = await worker.turn({ limit: 1 });
    expect({ claimed: ids(claimed), skippedOccurrences }).toEqual({
      claimed: [`r@${at + HOUR}`],
      skippedOccurrences: [],
    });
  });

  it('one that is armed and not over stays with the rule', async () => {
    const { recurrences } = world().store();
    const { nextAtMs } = await recurrences.upsert(recurrenceOf({ everyMs: HOUR }));
    expect(await recurrences.backfill('r', [nextAtMs!, nextAtMs! + HOUR])).toBe(1);
    expect(await recurrences.get('r')).toMatchObject({ nextAtMs });
    expect(await world().job(`r@${nextAtMs}`)).toMatchObject({ state: 'scheduled', dueAtMs: nextAtMs });
  });

  it('an instant that was added and has run is neither armed by the rule nor added again, for as long as its id is remembered', async () => {
    const { recurrences } = world().store();
    const at = (await recurrences.upsert(recurrenceOf())).nextAtMs!;
    const later = at + MINUTE;
    const worker = world().worker('w');
    expect(await recurrences.backfill('r', [later])).toBe(1);
    await worker.settle(...(await worker.claim()).map(settlement.completeChosen));
    passTo(at);
    expect(ids(await worker.claim())).toEqual([`r@${at}`]);
    expect(await recurrences.get('r')).toMatchObject({ nextAtMs: later + MINUTE });
    expect(await recurrences.pause('r')).toBe(true);
    expect(await recurrences.backfill('r', [later])).toBe(0);
  });

  it('an instant that was added, has run and is kept, but forgotten, is known as its new job alone once the rule arms it', async () => {
    const { recurrences, view } = world().store({ keepCompleted: 5 });
    const at = (await recurrences.upsert(recurrenceOf())).nextAtMs!;
    const later = at + MINUTE;
    const worker = world().worker('w');
    await recurrences.backfill('r', [later]);
    await worker.settle(...(await worker.claim()).map((job) => settlement.complete(job, '"done"')));
    expect(await world().job(`r@${later}`)).toMatchObject({ state: 'completed', result: '"done"' });
    passTo(at);
    await worker.claim();
    expect(await world().job(`r@${later}`)).toMatchObject({ state: 'scheduled' });
    expect(await world().job(`r@${later}`)).not.toHaveProperty('result');
    expect(await view.list('completed', 0, 5)).toEqual([]);
    expect(await view.counts()).toEqual({ scheduled: 1, due: 0, active: 1, completed: 0, dead: 0 });
  });

  it.each([
    ['all jobs are cleared away', () => world().queue.management.clear()],
    ['all jobs of its tag are cancelled', () => world().queue.management.cancelTagged('t', () => {})],
  ])('once %s, the next instant is armed, though its job was among them', async (_, cancel) => {
    const { recurrences } = world().store();
    const at = (await recurrences.upsert(recurrenceOf({}, { tags: ['t'] }))).nextAtMs!;
    expect(await recurrences.backfill('r', [at + MINUTE])).toBe(1);
    expect(await cancel()).toBe(2);
    expect(await recurrences.get('r')).toMatchObject({ nextAtMs: at + MINUTE });
    expect(await world().job(`r@${at + MINUTE}`)).toMatchObject({ state: 'scheduled', dueAtMs: at + MINUTE });
  });

  it('an instant whose job ends in the turn in which the one before begins is passed over', async () => {
    const { recurrences } = world().store();
    const at = (await recurrences.upsert(recurrenceOf())).nextAtMs!;
    const worker = world().worker('w');
    expect(await recurrences.backfill('r', [at + MINUTE])).toBe(1);
    const [beside] = await worker.claim();
    passTo(at);
    const { claimed } = await worker.turn({ settlements: [settlement.completeChosen(beside!)], limit: 1 });
    expect(ids(claimed)).toEqual([`r@${at}`]);
    expect(await recurrences.get('r')).toMatchObject({ nextAtMs: at + 2 * MINUTE });
  });

  it('a sleeper is told of an armed one that is run in its place', async () => {
    const { recurrences, jobs } = world().store();
    const { nextAtMs } = await recurrences.upsert(recurrenceOf({ everyMs: HOUR }));
    await jobs.reschedule(`r@${nextAtMs}`, { at: nextAtMs! + DAY });
    passTo(nextAtMs! + SECOND);
    const worker = await world().worker('w').listens();
    await worker.sleeps();
    expect(await recurrences.backfill('r', [nextAtMs!])).toBe(1);
    expect(await worker.isTold()).toBe(0);
  });
};
