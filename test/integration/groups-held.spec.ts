import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { RedisWorld } from '../contract/redis-world.js';
import { TestSession } from '../contract/world.js';
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
