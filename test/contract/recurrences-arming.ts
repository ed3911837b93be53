import { expect, it } from '@jest/globals';
import { DAY, HOUR, MINUTE, nextMultiple, recurrenceOf } from './recurring.js';
import { ids, payloads, settlement, type World } from './world.js';

export const recurrencesArming = (world: () => World): void => {
  /** Lets time pass until an instant, and a little beyond. */
  const passTo = (at: number) => world().pass(at - world().now());

  it('the first occurrence after the upsert is armed, as a job of its own id at its instant', async () => {
    const { recurrences } = world().store();
    const at = nextMultiple(world().now(), MINUTE);
    expect(await recurrences.upsert(recurrenceOf({}, { payload: '"p"', tags: ['t'] }))).toEqual({
      status: 'created',
      nextAtMs: at,
    });
    expect(await world().job(`r@${at}`)).toMatchObject({
      state: 'scheduled',
      dueAtMs: at,
      envelope: { name: 'work', payload: '"p"', tags: ['t'], idWasChosen: true, occurrence: { isMissed: false } },
    });
  });

  it('the next occurrence is armed as the one before begins, each once', async () => {
    const { recurrences, view } = world().store();
    const worker = world().worker('w');
    let at = nextMultiple(world().now(), MINUTE);
    await recurrences.upsert(recurrenceOf());
    for (let i = 0; i < 5; i++) {
      passTo(at);
      const claimed = await worker.claim();
      expect(ids(claimed)).toEqual([`r@${at}`]);
      expect(await recurrences.get('r')).toMatchObject({ nextAtMs: at + MINUTE, lastAtMs: at, count: i + 1 });
      await worker.settle(settlement.completeChosen(claimed[0]!));
      at += MINUTE;
    }
    expect(await view.stats()).toMatchObject({ scheduled: 6, started: 5, completed: 5 });
  });

  it('an occurrence that is retried arms nothing again', async () => {
    const { recurrences } = world().store();
    const at = nextMultiple(world().now(), MINUTE);
    await recurrences.upsert(recurrenceOf());
    passTo(at);
    const worker = world().worker('w');
    await worker.settle(settlement.retry((await worker.claim())[0]!, 0));
    expect(ids(await worker.claim())).toEqual([`r@${at}`]);
    expect(await recurrences.get('r')).toMatchObject({ count: 1, nextAtMs: at + MINUTE });
  });

  it('many recurrences that are due at once are each armed again', async () => {
    const { recurrences } = world().store();
    const at = nextMultiple(world().now(), MINUTE);
    for (let i = 0; i < 20; i++) await recurrences.upsert(recurrenceOf({}, { payload: `${i}` }, `r${i}`));
    passTo(at);
    const claimed = await world().worker('w').claim(20);
    expect(payloads(claimed).sort()).toEqual(Array.from({ length: 20 }, (_, i) => `${i}`).sort());
    for (let i = 0; i < 20; i++) expect((await recurrences.get(`r${i}`))?.nextAtMs).toBe(at + MINUTE);
  });

  it('a rule of wall times is armed through many of its instants', async () => {
    const { recurrences } = world().store();
    const worker = world().worker('w');
    let at = nextMultiple(world().now(), HOUR);
    expect((await recurrences.upsert(recurrenceOf({ cron: '0 * * * *' }))).nextAtMs).toBe(at);
    for (let i = 0; i < 12; i++) {
      passTo(at);
      const { claimed, toTend } = await worker.turn({ limit: 5 });
      expect(ids(claimed)).toEqual([`r@${at}`]);
      await worker.settle(settlement.completeChosen(claimed[0]!));
      if (toTend.length > 0) await recurrences.tend(toTend);
      at += HOUR;
    }
  });

  it('a pull arms as a worker does', async () => {
    const { recurrences } = world().store();
    const at = nextMultiple(world().now(), MINUTE);
    await recurrences.upsert(recurrenceOf());
    passTo(at);
    expect(ids(await world().puller('p').claim())).toEqual([`r@${at}`]);
    expect((await recurrences.get('r'))?.nextAtMs).toBe(at + MINUTE);
  });

  it('an instant that has begun is not armed again, whatever changes', async () => {
    const { recurrences, jobs } = world().store();
    const at = nextMultiple(world().now(), DAY);
    await recurrences.upsert(recurrenceOf({ everyMs: DAY }));
    expect(await jobs.reschedule(`r@${at}`, { delayMs: 0 })).toBe(true);
    const worker = world().worker('w');
    const [claimed] = await worker.claim();
    await worker.settle(settlement.completeChosen(claimed!));
    expect((await recurrences.get('r'))?.nextAtMs).toBe(at + DAY);
    expect((await recurrences.upsert(recurrenceOf({ everyMs: DAY, jitterMs: 1 }))).nextAtMs).toBe(at + DAY);
    expect((await recurrences.upsert(recurrenceOf({ everyMs: DAY / 2 }))).nextAtMs).toBe(at + DAY / 2);
  });

  it('an occurrence that is cancelled or removed is passed over, and the next one is armed', async () => {
    const { recurrences, jobs, management } = world().store();
    const at = nextMultiple(world().now(), MINUTE);
    await recurrences.upsert(recurrenceOf({}, { tags: ['t'] }));
    expect(await jobs.cancel(`r@${at}`)).toBe(true);
    expect((await recurrences.get('r'))?.nextAtMs).toBe(at + MINUTE);
    expect(await jobs.remove(`r@${at + MINUTE}`)).toBe(true);
    expect((await recurrences.get('r'))?.nextAtMs).toBe(at + 2 * MINUTE);
    expect(await management.cancelTagged('t', () => {})).toBe(1);
    expect((await recurrences.get('r'))?.nextAtMs).toBe(at + 3 * MINUTE);
    expect(await management.clear()).toBe(1);
    expect(await recurrences.get('r')).toMatchObject({ nextAtMs: at + 4 * MINUTE, count: 0, lastAtMs: null });
  });

  it('an equal recurrence changes nothing', async () => {
    const { recurrences, view } = world().store();
    const first = await recurrences.upsert(recurrenceOf({ limit: 5 }, { payload: '1' }));
    world().pass(10);
    expect(await recurrences.upsert(recurrenceOf({ limit: 5 }, { payload: '1' }))).toEqual({
      ...first,
      status: 'unchanged',
    });
    expect(await view.stats()).toEqual({ scheduled: 1 });
  });

  it('an upsert takes a payload whose fields stand in another order for another one', async () => {
    const { recurrences } = world().store();
    await recurrences.upsert(recurrenceOf({}, { payload: '{"a":1,"b":2}' }));
    expect(await recurrences.upsert(recurrenceOf({}, { payload: '{"b":2,"a":1}' }))).toMatchObject({
      status: 'changed',
    });
  });

  it('a new job without a new timing leaves the armed occurrence where it is', async () => {
    const { recurrences, view } = world().store();
    const { nextAtMs } = await recurrences.upsert(recurrenceOf({ everyMs: HOUR }, { payload: '1', tags: ['a', 'b'] }));
    const changed = recurrenceOf({ everyMs: HOUR }, { payload: '2', name: 'other', tags: ['b', 'c'] });
    expect(await recurrences.upsert(changed)).toEqual({ status: 'changed', nextAtMs });
    expect(await world().job(`r@${nextAtMs}`)).toMatchObject({
      state: 'scheduled',
      dueAtMs: nextAtMs,
      envelope: { name: 'other', payload: '2', tags: ['b', 'c'] },
    });
    expect(await view.stats()).toEqual({ scheduled: 1 });
  });

  it('a new timing arms its first occurrence after now, and the one before is taken away', async () => {
    const { recurrences, view } = world().store();
    const { nextAtMs } = await recurrences.upsert(recurrenceOf({ everyMs: DAY }));
    const at = nextMultiple(world().now(), MINUTE);
    expect(await recurrences.upsert(recurrenceOf({ everyMs: MINUTE }))).toEqual({ status: 'changed', nextAtMs: at });
    expect(await world().job(`r@${nextAtMs}`)).toBeUndefined();
    expect(await view.counts()).toMatchObject({ scheduled: 1, due: 0 });
  });
};
