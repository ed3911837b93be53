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

it('takes no more weight than there is room for', async () => {
  await scheduled('heavy', 'light', 'light', 'heavy', 'light');
  const worker = test.worker('w1', 'heavy', 'light');
  const handlers = [{ name: 'heavy', weight: 5, free: 10 }];
  const answer = await worker.turn({ limit: 7, handlers });
  expect(namesOf(answer.claimed)).toEqual(['heavy', 'light', 'light']);
});

it('the best job waits for room that it fits into, and nothing lighter goes before it', async () => {
  await scheduled('heavy', 'light', 'light');
  const worker = test.worker('w1', 'heavy', 'light');
  const answer = await worker.turn({ limit: 4, handlers: [{ name: 'heavy', weight: 5, free: 10 }] });
  expect(answer.claimed).toEqual([]);
  // Once something that it runs has ended it looks anyway. It is among no sleepers, so nobody would tell it of a better one.
  // Less what is gone of this millisecond.
  expect(answer.sleepMs).toBeGreaterThan(499);
  expect(answer.sleepMs).toBeLessThanOrEqual(500);
  await test.schedule({ name: 'light', priority: 1 });
  const next = await worker.turn({ limit: 4, handlers: [{ name: 'heavy', weight: 5, free: 10 }] });
  expect(namesOf(next.claimed)).toEqual(['light']);
});

it('a handler that is full is passed over, and holds up no others', async () => {
  await scheduled('slow', 'slow', 'slow', 'quick', 'slow', 'quick');
  const worker = test.limitedWorker('w1', true, 'slow', 'quick');
  const first = await worker.turn({ limit: 10, handlers: [{ name: 'slow', weight: 1, free: 2 }] });
  expect(namesOf(first.claimed)).toEqual(['slow', 'slow', 'quick', 'quick']);
  // What is left to do is not for this worker now.
  expect(first.sleepMs).toBeGreaterThan(1_000);
  const full = await worker.turn({ limit: 6, handlers: [{ name: 'slow', weight: 1, free: 0 }] });
  expect(full.claimed).toEqual([]);
  expect(full.sleepMs).toBeGreaterThan(1_000);
  const settlements = first.claimed.filter((_, i) => i === 0).map((job) => settlement.complete(job));
  const next = await worker.turn({ settlements, limit: 7, handlers: [{ name: 'slow', weight: 1, free: 1 }] });
  expect(namesOf(next.claimed)).toEqual(['slow']);
});

it('a full handler is passed over at every priority', async () => {
  test = new TestStore({ ordering: { mode: 'aging', msPerLevel: 1 } });
  await test.scheduleAll([1, 2, 3, 4].map((priority) => newJob({ name: 'slow', priority })));
  const worker = test.limitedWorker('w1', true, 'slow', 'quick');
  const { claimed } = await worker.turn({ limit: 10, handlers: [{ name: 'slow', weight: 1, free: 2 }] });
  expect(namesOf(claimed)).toHaveLength(2);
});

it('who has no room in a handler for what is due tells one that has, and none that has not either', async () => {
  await scheduled('slow', 'slow', 'slow');
  const full = await test.asleep('full', 'slow', 'quick');
  const handlers = [{ name: 'slow', weight: 1, free: 1 }];
  const worker = test.limitedWorker('w1', true, 'slow', 'quick');
  await worker.turn({ limit: 10, handlers });
  const free = await test.asleep('free', 'slow', 'quick');
  await test.redis.del(`${test.prefix}:{${QUEUE}}:full:free`);
  await worker.turn({ limit: 9, handlers: [{ name: 'slow', weight: 1, free: 0 }] });
  await until('the one that has room is told', () => free.told.length === 1);
  expect(full.told).toEqual([]);
});

it('a retry of a handler that is full is told to one that has room for when it is due, and not for now', async () => {
  await scheduled('slow', 'slow');
  const worker = test.limitedWorker('w1', true, 'slow', 'quick');
  const [first] = (await worker.turn({ limit: 1, handlers: [{ name: 'slow', weight: 1, free: 1 }] })).claimed;
  const free = await test.asleep('free', 'slow', 'quick');
  await test.redis.del(`${test.prefix}:{${QUEUE}}:full:free`);
  const handlers = [{ name: 'slow', weight: 1, free: 1 }];
  const { claimed } = await worker.turn({ settlements: [settlement.retry(first!, 3_000)], limit: 2, handlers });
  expect(namesOf(claimed)).toEqual(['slow']);
  await until('it is told', () => free.told.length > 0);
  // A later message of the same turn would have come by the answer of another one.
  await worker.turn({ limit: 0 });
  expect(free.told).toHaveLength(1);
  expect(free.told[0]).toBeGreaterThan(1_500);
});
