import { expect, it } from '@jest/globals';
import { cron, every, jitterOf, recurrence, storeOnTheSecond } from './recurring.js';
import { ids, settlement, type World } from './world.js';

export const recurrencesJitter = (world: () => World): void => {
  const waiting = async () => (await world().whole.queue('default').view.list('scheduled', 0, 100))[0]!;
  /** Lets the armed occurrence of `r` begin and complete. */
  const begin = async () => {
    const { id, dueAtMs } = await waiting();
    world().pass(dueAtMs - world().now());
    const worker = world().worker('w');
    const [job] = await worker.claim();
    expect(job).toMatchObject({ id, dueAtMs });
    await worker.settle(settlement.complete(job!));
  };

  it('without a jitter an occurrence is due at its nominal instant', async () => {
    const { recurrences } = storeOnTheSecond(world());
    const { nextAtMs } = await recurrences.upsert(recurrence(every(1_000)));
    expect(await waiting()).toMatchObject({ id: `r@${nextAtMs}`, dueAtMs: nextAtMs });
  });

  it('each occurrence is due later by a part of the jitter that only recurrence and instant decide', async () => {
    const { recurrences } = storeOnTheSecond(world());
    const { nextAtMs } = await recurrences.upsert(recurrence(every(60_000, { jitterMs: 30_000 })));
    for (let i = 0; i < 5; i++) {
      const atMs = nextAtMs! + i * 60_000;
      expect(await waiting()).toMatchObject({ id: `r@${atMs}`, dueAtMs: atMs + jitterOf('r', atMs, 30_000) });
      await begin();
    }
  });

  it('recurrences of one rule are spread over the jitter', async () => {
    const { recurrences, view } = storeOnTheSecond(world());
    for (let i = 0; i < 20; i++)
      await recurrences.upsert(recurrence(every(60_000, { jitterMs: 50_000 }), { id: `r${i}` }));
    const due = (await view.list('scheduled', 0, 100)).map(({ dueAtMs }) => dueAtMs);
    expect(new Set(due).size).toBeGreaterThan(15);
  });

  it('a jitter that is longer than the interval leaves an occurrence due before the next nominal instant', async () => {
    const { recurrences } = storeOnTheSecond(world());
    const { nextAtMs } = await recurrences.upsert(recurrence(every(1_000, { jitterMs: 3_600_000 })));
    for (let i = 0; i < 5; i++) {
      const atMs = nextAtMs! + i * 1_000;
      expect(await waiting()).toMatchObject({ id: `r@${atMs}`, dueAtMs: atMs + jitterOf('r', atMs, 999) });
      await begin();
    }
  });

  it('the last occurrence has the whole jitter', async () => {
    const { recurrences } = storeOnTheSecond(world());
    const endAtMs = world().now() + 1_000;
    await recurrences.upsert(recurrence(every(1_000, { jitterMs: 20_000, endAtMs })));
    const { id, dueAtMs } = await waiting();
    const atMs = Number(id.split('@')[1]);
    expect(dueAtMs).toBe(atMs + jitterOf('r', atMs, 20_000));
  });

  it('a jitter delays nobody for the time in which an occurrence counts as missed', async () => {
    const { recurrences } = storeOnTheSecond(world());
    await recurrences.upsert(recurrence(every(3_600_000, { jitterMs: 1_800_000, onMissed: 'skip' })));
    const { id, dueAtMs } = await waiting();
    world().pass(dueAtMs - world().now() + 59_999);
    const { claimed, skippedOccurrences } = await world().worker('w').turn({ limit: 5 });
    expect(skippedOccurrences).toEqual([]);
    expect(claimed).toMatchObject([{ id, dueAtMs, envelope: { occurrence: { isMissed: false } } }]);
  });

  it.each([
    ['a period', every(10_000, { jitterMs: 10_000, onMissed: 'skip' })],
    ['wall times', cron('*/10 * * * * *', { jitterMs: 10_000, onMissed: 'skip' })],
  ])(
    'by %s, an occurrence is missed once the next one is due by its jitter, not at its nominal instant',
    async (_, rule) => {
      const { recurrences } = storeOnTheSecond(world());
      let atMs = (await recurrences.upsert(recurrence(rule))).nextAtMs!;
      const nextDueMs = () => atMs + 10_000 + jitterOf('r', atMs + 10_000, 9_999);
      // One whose successor is due well behind its nominal instant.
      while (nextDueMs() < atMs + 12_000) {
        await begin();
        await recurrences.tend(['r']);
        atMs += 10_000;
      }
      const nextMs = nextDueMs();
      world().pass(nextMs - 1 - world().now());
      const worker = world().worker('w');
      expect(await worker.turn({ limit: 5 })).toMatchObject({
        skippedOccurrences: [],
        claimed: [{ id: `r@${atMs}`, dueAtMs: atMs + jitterOf('r', atMs, 9_999) }],
      });
      // After an outage as well: of the last two the second is not due, so the first is not missed.
      atMs += 40_000;
      world().pass(nextDueMs() - 1 - world().now());
      await recurrences.tend(['r']);
      const { skippedOccurrences, claimed } = await worker.turn({ limit: 5 });
      expect({ skippedOccurrences: ids(skippedOccurrences), claimed }).toEqual({
        skippedOccurrences: [`r@${atMs - 30_000}`],
        claimed: [],
      });
      const next = await worker.claim();
      expect(ids(next)).toEqual([`r@${atMs}`]);
    },
  );

  it('a missed occurrence that is made up for is due at its nominal instant', async () => {
    const { recurrences } = storeOnTheSecond(world());
    const { nextAtMs } = await recurrences.upsert(recurrence(every(60_000, { jitterMs: 30_000, onMissed: 'all' })));
    // The jitter of the fourth is over: so it is due, and the third is missed.
    world().pass(nextAtMs! + 210_000 - world().now());
    const worker = world().worker('w');
    for (let i = 0; i < 3; i++)
      expect(await worker.claim()).toMatchObject([
        {
          id: `r@${nextAtMs! + i * 60_000}`,
          dueAtMs: nextAtMs! + i * 60_000,
          envelope: { occurrence: { isMissed: true } },
        },
      ]);
  });

  it('a new jitter leaves the armed occurrence where it is', async () => {
    const { recurrences } = storeOnTheSecond(world());
    await recurrences.upsert(recurrence(every(60_000, { jitterMs: 30_000 })));
    const { id, dueAtMs } = await waiting();
    expect((await recurrences.upsert(recurrence(every(60_000)))).status).toBe('changed');
    expect(await waiting()).toMatchObject({ id, dueAtMs });
    await begin();
    const next = await waiting();
    expect(next).toMatchObject({ id: `r@${next.dueAtMs}` });
  });
};
