import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { ClaimedJob } from '../../lib/store/job-store.js';
import { RedisWorld } from '../contract/redis-world.js';
import { settlement, TestSession } from '../contract/world.js';
import { ManualClock } from '../support/manual-clock.js';

let world: RedisWorld;

beforeAll(async () => {
  world = await RedisWorld.start(new ManualClock());
});

afterEach(async () => {
  expect(await world.audit()).toEqual([]);
  await world.close();
});

afterAll(() => world.stop());

const ofGroup = (count: number) => Array.from({ length: count }, () => ({ group: 'a' }));

it('a group that its rate holds starts within the next window where the clock goes back', async () => {
  world.store({ groups: { rateLimit: { max: 1, perMs: 1_000 } } });
  await world.scheduleAll(ofGroup(4));
  const worker = world.worker('w');
  expect(await worker.claim()).toHaveLength(1);
  expect(await worker.claim()).toHaveLength(0);
  world.jump(-3_600_000);
  // The others are not due yet by that clock.
  await world.scheduleAll(ofGroup(4));
  let started = 0;
  for (let second = 0; second < 4; second++) {
    started += (await worker.claim()).length;
    world.pass(1_100);
  }
  expect(started).toBeGreaterThanOrEqual(2);
});

describe('where the clock goes back, turns look at all held groups', () => {
  const HOUR_MS = 3_600_000;
  const namesOf = (count: number, name: string) => Array.from({ length: count }, (_, i) => ({ group: `${name}${i}` }));

  /** Takes turns until none is left to take at once; completes what it claims, and answers how many these were. */
  async function runAll(worker: TestSession): Promise<number> {
    let ran = 0;
    for (let claimed: readonly ClaimedJob[] = []; ; ) {
      const turn = await worker.turn({ limit: 500, settlements: claimed.map((job) => settlement.complete(job)) });
      claimed = turn.claimed;
      ran += claimed.length;
      if (claimed.length === 0 && turn.sleepMs !== 0) return ran;
    }
  }

  it('of 3 000 that their rate holds, each starts within the next window', async () => {
    world.store({ groups: { rateLimit: { max: 1, perMs: 60_000 } } });
    const worker = world.worker('w');
    await world.scheduleAll([...namesOf(3_000, 'g'), ...namesOf(3_000, 'g')]);
    expect(await runAll(worker)).toBe(3_000);
    world.jump(-HOUR_MS);
    // The others are not due yet by that clock.
    await world.scheduleAll(namesOf(3_000, 'g'));
    expect(await runAll(worker)).toBe(0);
    world.pass(61_200);
    expect(await runAll(worker)).toBe(3_000);
  });

  it('also behind thousands that stay paused', async () => {
    const { management } = world.store({ groups: { rateLimit: { max: 1, perMs: 60_000 } } });
    const [paused, others, worker] = [namesOf(2_500, 'p'), namesOf(20, 'g'), world.worker('w')];
    // The pauses end before the windows of the others, so they come first.
    await Promise.all(paused.map(({ group }) => management.pauseGroup(group, 30_000)));
    await world.scheduleAll([...others, ...others]);
    expect(await runAll(worker)).toBe(20);
    world.jump(-HOUR_MS);
    await world.scheduleAll(others);
    expect(await runAll(worker)).toBe(0);
    world.pass(61_200);
    expect(await runAll(worker)).toBe(20);
  });
});

it.each([
  ['its concurrency', { concurrency: 1 }],
  ["'fifo'", { order: 'fifo' as const }],
])('a relay moves jobs of a group that %s holds for workers', async (_, groups) => {
  const { sessions } = world.store({ groups });
  await world.scheduleAll(ofGroup(3));
  expect(await world.worker('w').claim()).toHaveLength(1);
  const relay = new TestSession(sessions.relay('r', undefined, { type: 'list', key: '{default}:relay:out' }));
  await relay.turn({ limit: 5 });
  expect(await world.queue.view.counts()).toMatchObject({ due: 0, active: 1 });
});
