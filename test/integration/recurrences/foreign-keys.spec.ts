import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { DAY, recurrenceOf } from '../../contract/recurring.js';
import { TestStore } from '../../support/store.js';

// Somebody else has put a key of another type where the queue keeps a key that arming touches only after `jobs`.

let test: TestStore;
const key = (name: string) => `${test.prefix}:{default}:${name}`;

beforeEach(() => {
  test = new TestStore();
});

afterEach(() => test.close());

const rule = recurrenceOf({ everyMs: DAY });

/** All that the queue keeps, but receipts of calls and what says who is there. */
async function kept(): Promise<Record<string, unknown>> {
  const names = ['jobs', 'timetable', 'recurrences', 'levels', 'heads:5', 'lane:5::work'];
  const dumps = await Promise.all(names.map((name) => test.redis.dumpBuffer(key(name))));
  return Object.fromEntries(names.map((name, i) => [name, dumps[i]?.toString('hex')]));
}

const aside = (name: string) => `${test.prefix}:aside:{default}:${name}`;

async function damage(name: string, beside: string): Promise<void> {
  if (await test.redis.exists(key(name))) await test.redis.rename(key(name), aside(name));
  await test.redis.set(key(name), 'foreign');
  await test.redis.zadd(key(beside), Date.now(), 'earlier');
}

async function mend(name: string, beside: string): Promise<void> {
  await test.redis.del(key(name), key(beside));
  if (await test.redis.exists(aside(name))) await test.redis.rename(aside(name), key(name));
}

/** Each with another key that has a member: arming skips the keys of ended jobs where there are none. */
const KEYS: [foreign: string, beside: string][] = [
  ['completed', 'ended'],
  ['results', 'completed'],
  ['ended', 'completed'],
  ['endings', 'completed'],
  ['stats', 'completed'],
];

it.each(KEYS)(
  'with `%s` of another type a recurrence is refused whole, and made once the key is gone',
  async (name, beside) => {
    await damage(name, beside);
    const before = await kept();
    await expect(test.recurrences.upsert(rule)).rejects.toMatchObject({ redisCode: 'WRONGTYPE', outcome: 'refused' });
    expect(await kept()).toEqual(before);
    await mend(name, beside);
    expect(await test.recurrences.upsert(rule)).toMatchObject({ status: 'created' });
    expect(await test.view.counts()).toMatchObject({ scheduled: 1 });
    expect(await test.view.stats()).toEqual({ scheduled: 1 });
    expect(await test.audit()).toEqual([]);
  },
);

it.each(KEYS)(
  'with `%s` of another type nobody arms a lost occurrence, and whoever tends later does',
  async (name, beside) => {
    const { nextAtMs } = await test.recurrences.upsert(rule);
    await test.redis.del(key('jobs'), key('lane:5::work'), key('heads:5'), key('levels'), key('stats'));
    await damage(name, beside);
    await test.redis.hset(key('gate'), 'tendAt', '1');
    const before = await kept();
    await expect(test.recurrences.tend()).rejects.toMatchObject({ redisCode: 'WRONGTYPE' });
    expect(await kept()).toEqual(before);
    await mend(name, beside);
    await test.recurrences.tend();
    expect((await test.view.list('scheduled', 0, 10)).map(({ id }) => id)).toEqual([`r@${nextAtMs}`]);
    expect(await test.audit()).toEqual([]);
  },
);

it.each(KEYS)('with `%s` of another type no occurrence begins, and each once the key is gone', async (name, beside) => {
  const { nextAtMs } = await test.recurrences.upsert(rule);
  await test.jobs.reschedule(`r@${nextAtMs}`, { delayMs: 0 });
  await damage(name, beside);
  const worker = test.worker('w');
  const before = await kept();
  await expect(worker.claim()).rejects.toMatchObject({ redisCode: 'WRONGTYPE' });
  expect(await kept()).toEqual(before);
  await mend(name, beside);
  expect((await worker.claim()).map(({ id }) => id)).toEqual([`r@${nextAtMs}`]);
  expect(await test.view.counts()).toMatchObject({ scheduled: 1, active: 1 });
  expect(await test.audit()).toEqual([]);
});
