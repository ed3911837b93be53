import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { THROTTLED_LONGER_MS } from '../../lib/core/constants.js';
import { QUEUE, TestStore } from '../support/store.js';
import { until } from '../support/wait.js';

// What a throttle leaves behind in Redis.

let test: TestStore;
beforeEach(() => {
  test = new TestStore({ keepIdsMs: 0 });
});
afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

const remembered = () => test.redis.zcard(`${test.prefix}:{${QUEUE}}:usedIds`);
/** Is forgotten about as long after the call. */
const change = (id: string, forgottenInMs: number) =>
  test.jobs.replace({ ...JOB, id, due: { at: Date.now() - THROTTLED_LONGER_MS + forgottenInMs }, throttleMs: 1 });
const JOB = { name: 'work', priority: 5, settings: {}, payload: '{}' };

it('idle turns take away what is over, of hundreds of ids', async () => {
  const ids = Array.from({ length: 700 }, (_, i) => `id-${i}`);
  await Promise.all(ids.map((id) => change(id, 30_000)));
  expect(await remembered()).toBe(700);
  await test.management.clear();
  expect(await remembered()).toBe(700);
  // As if their time had passed.
  const key = `${test.prefix}:{${QUEUE}}:usedIds`;
  await test.redis.zadd(key, ...ids.flatMap((id) => [Date.now() - 1, `\t${id}`]));
  const worker = test.worker('w');
  let turns = 0;
  await until('nothing is left', async () => {
    await worker.turn({ limit: 1 });
    turns++;
    return (await remembered()) === 0;
  });
  expect(turns).toBeLessThanOrEqual(9);
});

it('calls keep small what no turn takes away', async () => {
  for (let i = 0; i < 300; i++) await change(`id-${i}`, 20);
  let later = 0;
  await until('the others are gone', async () => {
    await change(`later-${later++}`, 30_000);
    return (await remembered()) === later;
  });
});

it('a full day is kept', async () => {
  await test.jobs.replace({ ...JOB, id: 'a', due: { delayMs: 0 }, throttleMs: 86_400_000 });
  const [, score] = await test.redis.zrange(`${test.prefix}:{${QUEUE}}:usedIds`, '0', '0', 'WITHSCORES');
  expect(Number(score)).toBeGreaterThan(Date.now() + 86_000_000);
});
