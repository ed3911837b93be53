import { expect, it } from '@jest/globals';
import { HOUR, jitterOf, MINUTE, recurrenceOf, SECOND } from './recurring.js';
import { ids, settlement, type World } from './world.js';

export const recurrencesOverlap = (world: () => World): void => {
  const passTo = (at: number) => world().pass(at - world().now());
  const rule = { everyMs: 10 * SECOND };
  const PERIOD = 10 * SECOND;

  async function started(overlap: 'allow' | 'skip' | 'queue', more: object = {}, job: object = {}) {
    const { recurrences } = world().store({ leaseMs: 600_000 });
    const at = (await recurrences.upsert(recurrenceOf({ ...rule, overlap, ...more }, job))).nextAtMs!;
    passTo(at);
    const worker = world().worker('w');
    const [first] = await worker.claim();
    expect(first?.id).toBe(`r@${at}`);
    return { recurrences, worker, first: first!, at };
  }

  it('with allow the next one runs beside the one before', async () => {
    const { worker, at } = await started('allow');
    passTo(at + PERIOD);
    expect(ids(await worker.claim())).toEqual([`r@${at + PERIOD}`]);
  });

  it('with skip one whose previous one has not ended is left out, and the one after it armed', async () => {
    const { worker, recurrences, first, at } = await started('skip');
    passTo(at + PERIOD);
    expect(await worker.turn({ limit: 5 })).toMatchObject({
      claimed: [],
      skippedOccurrences: [{ id: `r@${at + PERIOD}`, name: 'work', reason: 'overlap' }],
    });
    expect(await recurrences.get('r')).toMatchObject({ count: 1, lastAtMs: at, nextAtMs: at + 2 * PERIOD });
    await worker.settle(settlement.completeChosen(first));
    passTo(at + 2 * PERIOD);
    expect(ids(await worker.claim())).toEqual([`r@${at + 2 * PERIOD}`]);
  });

  it('one that waits for its next attempt has not ended', async () => {
    const { worker, first, at } = await started('skip');
    await worker.settle(settlement.retry(first, MINUTE));
    passTo(at + PERIOD);
    expect((await worker.turn({ limit: 5 })).skippedOccurrences).toMatchObject([{ reason: 'overlap' }]);
  });

  it('one that is snoozed has not ended', async () => {
    const { worker, first, at } = await started('skip');
    await worker.settle(settlement.snooze(first, MINUTE));
    passTo(at + PERIOD);
    expect((await worker.turn({ limit: 5 })).skippedOccurrences).toMatchObject([{ reason: 'overlap' }]);
  });

  it('one that is dead has ended', async () => {
    const { worker, first, at } = await started('skip');
    await worker.settle(settlement.dead(first));
    passTo(at + PERIOD);
    expect(ids(await worker.claim())).toEqual([`r@${at + PERIOD}`]);
  });

  it.each([
    ['completes', settlement.completeChosen],
    ['dies', settlement.dead],
    ['is discarded', settlement.discard],
  ] as const)('one that %s in the very turn has ended', async (_, ends) => {
    const { worker, first, at } = await started('skip');
    passTo(at + PERIOD);
    const { claimed, skippedOccurrences } = await worker.turn({ limit: 5, settlements: [ends(first)] });
    expect({ claimed: ids(claimed), skippedOccurrences }).toEqual({
      claimed: [`r@${at + PERIOD}`],
      skippedOccurrences: [],
    });
  });

  it('one that was run beside the rule counts for nothing', async () => {
    const { worker, recurrences, first, at } = await started('skip');
    await worker.settle(settlement.completeChosen(first));
    await recurrences.runNow('r');
    expect(await worker.claim()).toHaveLength(1);
    passTo(at + PERIOD);
    expect(ids(await worker.claim())).toEqual([`r@${at + PERIOD}`]);
  });

  it('with queue one waits until the previous one has ended, and is not missed by that', async () => {
    const { worker, recurrences, first, at } = await started('queue', { everyMs: 10 * MINUTE });
    passTo(at + 10 * MINUTE);
    const held = await worker.turn({ limit: 5 });
    expect(held).toMatchObject({ claimed: [], skippedOccurrences: [] });
    expect(held.sleepMs).toBeGreaterThan(0);
    expect(held.sleepMs).toBeLessThanOrEqual(250);
    world().pass(5 * MINUTE);
    await worker.turn({ limit: 5 });
    await worker.settle(settlement.completeChosen(first));
    world().pass(250);
    const [second] = await worker.claim();
    expect(second).toMatchObject({ id: `r@${at + 10 * MINUTE}`, envelope: { occurrence: { isMissed: false } } });
    expect((await recurrences.get('r'))?.nextAtMs).toBe(at + 20 * MINUTE);
  });

  it('with queue at most one waits, the latest', async () => {
    const { worker, first, at } = await started('queue');
    passTo(at + PERIOD);
    await worker.turn({ limit: 5 });
    passTo(at + 2 * PERIOD + SECOND);
    expect((await worker.turn({ limit: 5 })).skippedOccurrences).toMatchObject([
      { id: `r@${at + PERIOD}`, reason: 'overlap' },
    ]);
    passTo(at + 4 * PERIOD + SECOND);
    expect((await worker.turn({ limit: 5 })).skippedOccurrences).toMatchObject([
      { id: `r@${at + 2 * PERIOD}`, reason: 'overlap' },
    ]);
    await worker.settle(settlement.completeChosen(first));
    world().pass(250);
    expect(ids(await worker.claim())).toEqual([`r@${at + 4 * PERIOD}`]);
    expect(await world().queue.view.stats()).toMatchObject({ discarded: 3, started: 2 });
  });

  it.each([
    ['a period', { everyMs: 10 * SECOND }],
    ['wall times', { cron: '*/10 * * * * *' }],
  ])(
    'with queue, by %s, where all that are missed are made up for, all run in order, one at a time',
    async (_, every) => {
      const { recurrences, view } = world().store({ leaseMs: 600_000 });
      const given = recurrenceOf({ ...every, overlap: 'queue', onMissed: 'all' });
      const at = (await recurrences.upsert(given)).nextAtMs!;
      passTo(at + 10 * PERIOD + SECOND);
      const worker = world().worker('w');
      const ran: string[] = [];
      for (let i = 0; i < 11; i++) {
        await recurrences.tend(['r']);
        const { claimed, skippedOccurrences } = await worker.turn({ limit: 5 });
        expect({ count: claimed.length, skippedOccurrences }).toEqual({ count: 1, skippedOccurrences: [] });
        // The one behind it waits for its end, however often somebody looks.
        world().pass(250);
        expect(await worker.turn({ limit: 5 })).toMatchObject({ claimed: [], skippedOccurrences: [] });
        const { id, envelope } = claimed[0]!;
        ran.push(`${id} ${'occurrence' in envelope && envelope.occurrence?.isMissed ? 'made up' : 'in time'}`);
        await worker.settle(settlement.completeChosen(claimed[0]!));
        world().pass(250);
      }
      expect(ran.slice(0, 10)).toEqual(Array.from({ length: 10 }, (__, i) => `r@${at + i * PERIOD} made up`));
      expect(ran[10]).toBe(`r@${at + 10 * PERIOD} in time`);
      expect(await view.stats()).toMatchObject({ started: 11, completed: 11 });
      expect((await view.stats()).discarded ?? 0).toBe(0);
    },
  );

  it('with queue, where all are made up for, one that waits leaves its place to no later one', async () => {
    const { worker, first, at } = await started('queue', { onMissed: 'all' });
    for (let i = 1; i <= 3; i++) {
      passTo(at + i * PERIOD + SECOND);
      expect(await worker.turn({ limit: 5 })).toMatchObject({ claimed: [], skippedOccurrences: [] });
    }
    await worker.settle(settlement.completeChosen(first));
    world().pass(250);
    const [second] = await worker.claim();
    expect(second).toMatchObject({
      id: `r@${at + PERIOD}`,
      dueAtMs: at + PERIOD,
      envelope: { occurrence: { isMissed: true } },
    });
    await worker.settle(settlement.completeChosen(second!));
    world().pass(250);
    expect(ids(await worker.claim())).toEqual([`r@${at + 2 * PERIOD}`]);
  });

  it('with queue, where all are made up for, one that has waited for too long for that is left out as missed', async () => {
    const { worker, first, at } = await started('queue', { onMissed: 'all', missedWithinMs: 15 * SECOND });
    passTo(at + PERIOD);
    expect(await worker.turn({ limit: 5 })).toMatchObject({ claimed: [], skippedOccurrences: [] });
    passTo(at + 4 * PERIOD + SECOND);
    expect(await worker.turn({ limit: 5 })).toMatchObject({
      claimed: [],
      skippedOccurrences: [{ id: `r@${at + PERIOD}`, reason: 'missed' }],
    });
    await worker.settle(settlement.completeChosen(first));
    world().pass(250);
    expect(ids(await worker.claim())).toEqual([`r@${at + 3 * PERIOD}`]);
    expect(await world().queue.view.stats()).toMatchObject({ discarded: 2 });
  });

  it('one that has waited is due at its own instant when it begins, and so it shows while it waits', async () => {
    const { worker, first, at } = await started('queue', { everyMs: HOUR });
    passTo(at + HOUR + 3 * SECOND);
    await worker.turn({ limit: 5 });
    const due = { dueAtMs: at + HOUR };
    for (let i = 0; i < 3; i++) {
      world().pass(10 * SECOND);
      await worker.turn({ limit: 5 });
      expect(await world().job(`r@${at + HOUR}`)).toMatchObject({ ...due, waitsForEndOf: `r@${at}` });
    }
    await worker.settle(settlement.completeChosen(first));
    world().pass(250);
    expect(await worker.claim()).toMatchObject([due]);
    expect(await world().job(`r@${at + HOUR}`)).toMatchObject({ ...due, state: 'active' });
  });

  it('one that waits keeps its due time when its recurrence gets another job', async () => {
    const { worker, recurrences, first, at } = await started('queue', { everyMs: HOUR });
    passTo(at + HOUR);
    await worker.turn({ limit: 5 });
    world().pass(30 * SECOND);
    await worker.turn({ limit: 5 });
    const changed = recurrenceOf({ everyMs: HOUR, overlap: 'queue' }, { payload: '"new"' });
    expect(await recurrences.upsert(changed)).toEqual({ status: 'changed', nextAtMs: at + HOUR });
    const kept = { dueAtMs: at + HOUR, envelope: { payload: '"new"' } };
    expect(await world().job(`r@${at + HOUR}`)).toMatchObject({ ...kept, waitsForEndOf: `r@${at}` });
    await worker.settle(settlement.completeChosen(first));
    world().pass(250);
    expect(await worker.claim()).toMatchObject([kept]);
  });

  it('one that has waited for longer than its late rule allows is late', async () => {
    const lateness = { maxLatenessMs: 5 * SECOND, onLate: 'discard' } as const;
    const { worker, recurrences, first, at } = await started('queue', { everyMs: HOUR }, { lateness });
    passTo(at + HOUR);
    await worker.turn({ limit: 5 });
    world().pass(40 * SECOND);
    await worker.turn({ limit: 5 });
    await worker.settle(settlement.completeChosen(first));
    world().pass(250);
    const { claimed, late } = await worker.turn({ limit: 5 });
    expect({ claimed, late }).toMatchObject({
      claimed: [],
      late: [{ id: `r@${at + HOUR}`, latenessMs: 40.25 * SECOND, onLate: 'discard' }],
    });
    expect(await recurrences.get('r')).toMatchObject({ count: 1, nextAtMs: at + 2 * HOUR });
  });

  it('one that waits as the latest of several has its own due time as well, with its jitter', async () => {
    const { worker, first, recurrences, at } = await started('queue');
    const jitterMs = 5 * SECOND;
    await recurrences.upsert(recurrenceOf({ ...rule, overlap: 'queue', jitterMs }));
    passTo(at + PERIOD);
    await worker.turn({ limit: 5 });
    const latest = at + 3 * PERIOD;
    passTo(latest + jitterMs);
    expect((await worker.turn({ limit: 5 })).skippedOccurrences).toMatchObject([{ reason: 'overlap' }]);
    const dueAtMs = latest + jitterOf('r', latest, jitterMs);
    expect(await world().job(`r@${latest}`)).toMatchObject({ dueAtMs });
    await worker.settle(settlement.completeChosen(first));
    world().pass(250);
    expect(await worker.claim()).toMatchObject([{ id: `r@${latest}`, dueAtMs }]);
  });

  it('one that is made up for after it has waited is due at its nominal instant', async () => {
    const lateness = { maxLatenessMs: SECOND, onLate: 'discard' } as const;
    const { worker, first, at } = await started('queue', { everyMs: HOUR }, { lateness });
    passTo(at + HOUR + 30 * MINUTE);
    await worker.turn({ limit: 5 });
    world().pass(10 * MINUTE);
    await worker.turn({ limit: 5 });
    await worker.settle(settlement.completeChosen(first));
    world().pass(250);
    expect(await worker.claim()).toMatchObject([
      { id: `r@${at + HOUR}`, dueAtMs: at + HOUR, envelope: { occurrence: { isMissed: true } } },
    ]);
  });

  it.each(['skip', 'queue'] as const)(
    'with %s one begins in the turn that turns its previous one away as too late, whatever was judged before',
    async (overlap) => {
      const lateness = { maxLatenessMs: SECOND, onLate: 'dead-letter' } as const;
      const { recurrences } = world().store({ leaseMs: 600_000 });
      const at = (await recurrences.upsert(recurrenceOf({ ...rule, overlap }, { lateness }))).nextAtMs!;
      await recurrences.upsert(recurrenceOf({ ...rule, overlap }, { priority: 1 }, 'before'));
      passTo(at);
      const worker = world().worker('w');
      const [before, first] = await worker.claim();
      expect([before?.id, first?.id]).toEqual([`before@${at}`, `r@${at}`]);
      await worker.settle(settlement.snooze(first!, SECOND));
      passTo(at + PERIOD);
      const { late, claimed } = await worker.turn({ limit: 5 });
      expect(late).toMatchObject([{ id: `r@${at}`, onLate: 'dead-letter' }]);
      expect(ids(claimed)).toEqual([`r@${at + PERIOD}`]);
    },
  );

  it('one that waits keeps nothing else from being claimed', async () => {
    const { worker, at } = await started('queue');
    passTo(at + PERIOD);
    await world().schedule({ payload: 'other' });
    const first = await worker.turn({ limit: 1 });
    const second = await worker.turn({ limit: 1 });
    expect([...first.claimed, ...second.claimed]).toHaveLength(1);
  });
};
