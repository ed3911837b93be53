import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { newJob, QUEUE, settlement, TestStore } from '../support/store.js';
import { until } from '../support/wait.js';

let test: TestStore;
const base = () => `${test.prefix}:{${QUEUE}}:`;
const LANE = '5::work';

beforeEach(() => {
  test = new TestStore();
});

afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

/** Schedules so many jobs for one moment, and more for others after it, names in turn; resolves once all are due. */
async function burst(
  sizes: readonly number[],
  names: readonly string[] = ['work'],
): Promise<{ ids: string[]; dues: number[] }> {
  const from = Date.now() + 200;
  const dues = sizes.flatMap((size, i) => Array.from({ length: size }, () => from + i));
  const answers = await test.scheduleAll(dues.map((at, i) => newJob({ name: names[i % names.length]!, due: { at } })));
  await until('all are due', async () => (await test.view.counts()).due === dues.length);
  return { ids: answers.map(({ id }) => id), dues };
}

it.each([
  { sizes: [60, 5, 40], limit: 100 },
  { sizes: [60, 5, 40], limit: 1 },
  { sizes: [60, 5, 40], limit: 17 },
  { sizes: [17, 17, 17], limit: 25 },
  { sizes: Array.from({ length: 40 }, () => 1), limit: 33 },
])('jobs of $sizes moments keep their order and due times, $limit at a time', async ({ sizes, limit }) => {
  const { ids, dues } = await burst(sizes);
  const worker = test.worker('w');
  const claimed: { id: string; dueAtMs: number }[] = [];
  for (let more = true; more; ) {
    const jobs = await worker.claim(limit);
    expect(jobs).toHaveLength(Math.min(limit, ids.length - claimed.length));
    claimed.push(...jobs);
    more = jobs.length > 0;
  }
  expect(claimed.map(({ id }) => id)).toEqual(ids);
  expect(claimed.map(({ dueAtMs }) => dueAtMs)).toEqual(dues);
});

it.each([
  { due: 16, limit: 16 },
  { due: 16, limit: 100 },
  { due: 17, limit: 17 },
  { due: 17, limit: 100 },
  { due: 18, limit: 17 },
  { due: 40, limit: 100 },
])('of $due due jobs before one that is not, a claim of $limit takes all that it may', async ({ due, limit }) => {
  const later = await test.schedule({ due: { delayMs: 3_600_000 } });
  const { ids } = await burst([due - 1, 1]);
  const worker = test.worker('w');
  expect((await worker.claim(limit)).map(({ id }) => id)).toEqual(ids.slice(0, limit));
  expect((await worker.claim(limit)).map(({ id }) => id)).toEqual(ids.slice(limit));
  expect(await test.redis.zrange(`${base()}lane:${LANE}`, '0', '-1')).toEqual([later.id]);
});

it('what a turn puts back into a lane from which it claims stays there', async () => {
  await burst([60]);
  const worker = test.worker('w');
  const first = await worker.claim(20);
  const settlements = first.map((job) => settlement.release(job));
  const { claimed } = await worker.turn({ limit: 20, settlements });
  expect(claimed.map(({ id }) => id)).not.toEqual(expect.arrayContaining([first[0]!.id]));
  const rest = await worker.claim(100);
  expect(rest.map(({ id }) => id).slice(0, 20)).toEqual(first.map(({ id }) => id));
  expect(rest).toHaveLength(40);
});

it('jobs of two names that are due at once go back to their own lanes', async () => {
  await burst([40], ['work', 'other']);
  const both = test.worker('w', 'work', 'other');
  const claimed = await both.claim(40);
  expect(claimed).toHaveLength(40);
  await both.settle(...claimed.map((job) => settlement.release(job)));
  expect(await test.worker('x', 'other').claim(40)).toHaveLength(20);
  expect(await test.worker('y', 'work').claim(40)).toHaveLength(20);
});

it('a lane whose head the index names wrongly loses none of its jobs, and hands none out twice', async () => {
  const { ids, dues } = await burst([30]);
  // As if somebody had restored an older copy of the index: its head is the lane's last job.
  await test.redis.del(`${base()}heads:5`);
  await test.redis.zadd(`${base()}heads:5`, dues[0]!, `${ids.at(-1)}\t${LANE}`);
  const worker = test.worker('w');
  const claimed: string[] = [];
  for (let turns = 0; turns < 5; turns++) for (const { id } of await worker.claim(100)) claimed.push(id);
  expect(claimed.sort()).toEqual([...ids].sort());
});

it('a job of a group that the index of common lanes names, in a queue that knows no group, is claimed and settled', async () => {
  const { id } = await test.schedule({ group: 'g' });
  const lane = '5:@g:work';
  const due = await test.redis.zscore(`${base()}lane:${lane}`, id);
  await test.redis.del(`${base()}groups`, `${base()}heads:5:@`, `${base()}levels:@`);
  await test.redis.zadd(`${base()}heads:5`, due!, `${id}\t${lane}`);
  await test.redis.zadd(`${base()}levels`, due!, '5');
  const worker = test.worker('w');
  const [job] = await worker.claim(5);
  expect(job).toMatchObject({ id });
  expect(await worker.settle(settlement.complete(job!))).toEqual([true]);
  await test.redis.del(`${base()}heads:5`, `${base()}levels`);
});

it.each(['recovers', 'puts back'])(
  'a turn that %s a job which somebody has put into its lane keeps it',
  async (how) => {
    await burst([1]);
    const worker = test.worker('w');
    const [job] = await worker.claim();
    await test.redis.zadd(`${base()}lane:${LANE}`, 1, job!.id);
    await test.redis.zadd(`${base()}heads:5`, 1, `${job!.id}\t${LANE}`);
    await test.redis.zadd(`${base()}levels`, 1, '5');
    if (how === 'recovers') await test.redis.zadd(`${base()}active`, 1, job!.id);
    const settlements = how === 'recovers' ? [] : [settlement.release(job!)];
    const { claimed } = await worker.turn({ limit: 5, settlements });
    expect(claimed.map(({ id }) => id)).toEqual([job!.id]);
    expect(await worker.settle(settlement.release(claimed[0]!))).toEqual([true]);
    expect(await worker.claim()).toHaveLength(1);
  },
);

it('many leases and claim records are kept where each is found at once, with nothing beside them', async () => {
  await burst([20]);
  const worker = test.worker('w');
  const few = await worker.claim(4);
  expect(await test.redis.object('ENCODING', `${base()}active`)).toMatch(/^(list|zip)/);
  const many = await worker.claim(16);
  expect(await test.redis.object('ENCODING', `${base()}active`)).toBe('skiplist');
  expect(await test.redis.object('ENCODING', `${base()}claims`)).toBe('hashtable');
  const ids = [...few, ...many].map(({ id }) => id).sort();
  expect((await test.redis.zrange(`${base()}active`, '0', '-1')).sort()).toEqual(ids);
  expect((await test.redis.hkeys(`${base()}claims`)).sort()).toEqual(ids);
});

it('ends of jobs from several claims count in one turn, each under its own fence', async () => {
  await burst([9]);
  const worker = test.worker('w');
  const claims = [await worker.claim(3), await worker.claim(3), await worker.claim(3)];
  const [a, b, c] = claims.map((jobs) => jobs.map((job) => settlement.complete(job)));
  const mixed = [a![0]!, a![1]!, b![0]!, a![2]!, b![1]!, c![0]!];
  const wrong = { ...c![1]!, fence: a![0]!.fence };
  expect(await worker.settle(...mixed, wrong)).toEqual([true, true, true, true, true, true, false]);
  expect(await worker.settle(b![2]!, c![1]!, c![2]!, a![0]!)).toEqual([true, true, true, false]);
});

it('where somebody has taken a level away, the next first job of a lane brings back what is due before it', async () => {
  const { ids } = await burst([1], ['work']);
  await test.redis.del(`${base()}levels`);
  await test.schedule({ name: 'other', due: { delayMs: 30 * 86_400_000 } });
  const worker = test.worker('w', 'work', 'other');
  expect((await worker.claim()).map(({ id }) => id)).toEqual(ids);
});
