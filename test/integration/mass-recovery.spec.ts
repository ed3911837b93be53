import { afterEach, expect, it } from '@jest/globals';
import { QUEUE, settlement, TestStore } from '../support/store.js';
import { until } from '../support/wait.js';

let test: TestStore;

afterEach(() => test.close());

it('twenty thousand leases of a fleet that died are recovered in as many turns as it takes, and living ones are left alone', async () => {
  const JOBS = 20_000;
  const LIVING = 100;
  // Long enough for the slowest machine to take them all.
  test = new TestStore({ leaseMs: 60_000 });
  await Promise.all(Array.from({ length: JOBS }, () => test.schedule()));
  const fleet = test.worker('fleet');
  let held = 0;
  for (let claimed = await fleet.claim(1_000); claimed.length > 0; claimed = await fleet.claim(1_000))
    held += claimed.length;
  expect(held).toBe(JOBS);
  await Promise.all(Array.from({ length: LIVING }, () => test.schedule()));
  const living = test.worker('living');
  const mine = await living.claim(LIVING);
  expect(mine).toHaveLength(LIVING);

  await runOut(mine.map(({ id }) => id));

  const recovered = new Set<string>();
  let turns = 0;
  let longestMs = 0;
  await until('all are recovered', async () => {
    // As a worker does: it goes on at once while there is more, and renews its own on the way.
    for (;;) {
      const from = performance.now();
      const answer = await living.turn({ renewals: mine });
      longestMs = Math.max(longestMs, performance.now() - from);
      expect(answer.lost).toEqual([]);
      if (answer.recovered.length === 0) break;
      turns++;
      for (const { id } of answer.recovered) {
        expect(recovered.has(id)).toBe(false);
        recovered.add(id);
      }
    }
    return recovered.size === JOBS;
  });
  process.stdout.write(`${JOBS} leases recovered in ${turns} turns, the longest took ${longestMs.toFixed(1)} ms\n`);
  // Two hundred a turn; the first also came across the living.
  expect(turns).toBeGreaterThanOrEqual(JOBS / 200);
  expect(turns).toBeLessThanOrEqual(JOBS / 200 + 1);
  expect(await test.view.counts()).toMatchObject({ due: JOBS, active: LIVING });
  expect(await living.settle(...mine.map(settlement.complete))).toEqual(mine.map(() => true));
  expect((await test.worker('next').claim(1)).map(({ attempt, crashes }) => ({ attempt, crashes }))).toEqual([
    { attempt: 2, crashes: 1 },
  ]);
  expect(await test.audit()).toEqual([]);
});

/** Ends every lease, these first of all, as if their time had passed under the eyes of other workers. */
async function runOut(first: string[]): Promise<void> {
  const base = `${test.prefix}:{${QUEUE}}:`;
  const now = Date.now();
  const ids = await test.redis.zrange(`${base}active`, '0', '-1');
  for (let i = 0; i < ids.length; i += 1_000)
    await test.redis.zadd(`${base}active`, ...ids.slice(i, i + 1_000).flatMap((id) => [now - 1, id]));
  await test.redis.zadd(`${base}active`, ...first.flatMap((id) => [now - 2, id]));
  await test.redis.set(`${base}served`, `${now} 0 ${now}`);
}
