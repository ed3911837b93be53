import { afterEach, expect, it } from '@jest/globals';
import { type ClaimedJob } from '../../lib/store/job-store.js';
import { nameOf, newJob, QUEUE, settlement, TestStore } from '../support/store.js';
import { until } from '../support/wait.js';

let test: TestStore;

afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

async function scheduled(...names: string[]): Promise<void> {
  test = new TestStore();
  await test.scheduleAll(names.map((name) => newJob({ name })));
}
const namesOf = (claimed: readonly ClaimedJob[]) => claimed.map(nameOf);

it('who has no room in a handler for what is due tells one that has, and none that has not either', async () => {
  await scheduled('slow', 'slow', 'slow');
  const full = await test.asleep('full', 'slow', 'quick');
  const handlers = [{ name: 'slow', weight: 1, free: 1, size: 1 }];
  const worker = test.limitedWorker('w1', true, 'slow', 'quick');
  await worker.turn({ limit: 10, handlers });
  const free = await test.asleep('free', 'slow', 'quick');
  await test.redis.del(`${test.prefix}:{${QUEUE}}:full:free`);
  await worker.turn({ limit: 9, handlers: [{ name: 'slow', weight: 1, free: 0, size: 1 }] });
  await until('the one that has room is told', () => free.told.length === 1);
  expect(full.told).toEqual([]);
});

it('a retry of a handler that is full is told to one that has room for when it is due, and not for now', async () => {
  await scheduled('slow', 'slow');
  const worker = test.limitedWorker('w1', true, 'slow', 'quick');
  const [first] = (await worker.turn({ limit: 1, handlers: [{ name: 'slow', weight: 1, free: 1, size: 1 }] })).claimed;
  const free = await test.asleep('free', 'slow', 'quick');
  await test.redis.del(`${test.prefix}:{${QUEUE}}:full:free`);
  const handlers = [{ name: 'slow', weight: 1, free: 1, size: 1 }];
  const { claimed } = await worker.turn({ settlements: [settlement.retry(first!, 3_000)], limit: 2, handlers });
  expect(namesOf(claimed)).toEqual(['slow']);
  await until('it is told', () => free.told.length > 0);
  // A later message of the same turn would have come by the answer of another one.
  await worker.turn({ limit: 0 });
  expect(free.told).toHaveLength(1);
  expect(free.told[0]).toBeGreaterThan(1_500);
});
