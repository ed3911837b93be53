import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { JobSelection } from '../../lib/store/job-store.js';
import { type RedisServer, startOwnServer } from '../support/redis-server.js';
import { commandsOfScripts } from '../support/script-commands.js';
import { newJob, TestStore } from '../support/store.js';

const ALL = { states: ['scheduled', 'due', 'active'] } as const;

let server: RedisServer;
let test: TestStore;

beforeEach(async () => {
  server = await startOwnServer();
  test = new TestStore({}, server.url);
});

afterEach(async () => {
  await test.close();
  await server.stop();
});

/** Redis moves a few jobs into the smaller table with each look at one. */
async function letTableShrink(ids: readonly string[]): Promise<void> {
  for (const id of [...ids, ...ids]) await test.view.job(id);
}

/** Ids found from a place on, in all steps that are left. */
async function searchFrom(first: string, size = 20, limit = 1_000): Promise<string[]> {
  const found: string[] = [];
  let place: string | undefined = first;
  do {
    const step: Awaited<ReturnType<typeof test.view.find>> = await test.view.find(ALL, place, { size, limit });
    found.push(...step.jobs.map(({ id }) => id));
    place = step.next;
  } while (place !== undefined);
  return found;
}

it('finds a job once though the table that it lies in shrinks to an eighth between two steps', async () => {
  for (let trial = 0; trial < 12; trial++) {
    const stay = Array.from({ length: 195 }, (_, i) => `stays-${trial}-${i}`);
    for (const id of stay) void test.jobs.schedule(newJob({ id, due: { delayMs: 3_600_000 } }));
    const tag = `goes-${trial}`;
    await Promise.all(Array.from({ length: 900 }, () => test.jobs.schedule(newJob({ tags: [tag], settings: {} }))));
    const found: string[] = [];
    let place: string | undefined;
    for (let step = 0; step <= trial; step++) {
      const { jobs, next } = await test.view.find(ALL, place, { size: 20, limit: 1_000 });
      found.push(...jobs.map(({ id }) => id));
      place = next;
      if (place === undefined) break;
    }
    await test.management.cancelTagged(tag, () => {});
    await letTableShrink(stay);
    if (place !== undefined) found.push(...(await searchFrom(place)));
    expect(found.filter((id) => id.startsWith('stays')).sort()).toEqual(stay.sort());
    await test.management.clear();
  }
});

it.each([1_000, 1])(
  'finds large jobs once, up to %i a step, though their table shrinks between two steps',
  async (limit) => {
    const payload = JSON.stringify('x'.repeat(270_000));
    let mayComeAgain = 0;
    for (let trial = 0; trial < 3; trial++) {
      const stay = Array.from({ length: 20 }, (_, i) => `stays-${trial}-${i}`);
      for (const id of stay) void test.jobs.schedule(newJob({ id, due: { delayMs: 3_600_000 }, payload }));
      const tag = `goes-${trial}`;
      await Promise.all(Array.from({ length: 225 }, () => test.jobs.schedule(newJob({ tags: [tag], payload }))));
      const found: string[] = [];
      let place: string | undefined;
      // Until it stands where a smaller table shows again a job that was told.
      do {
        const { jobs, next } = await test.view.find(ALL, place, { size: 20, limit: 1_000 });
        found.push(...jobs.map(({ id }) => id));
        place = next;
      } while (place !== undefined && !JSON.parse(place)[3].some((id: string) => stay.includes(id)));
      await test.management.cancelTagged(tag, () => {});
      await letTableShrink(stay);
      if (place !== undefined) {
        mayComeAgain++;
        found.push(...(await searchFrom(place, 20, limit)));
      }
      expect(found.filter((id) => id.startsWith('stays')).sort()).toEqual(stay.sort());
      await test.management.clear();
    }
    expect(mayComeAgain).toBeGreaterThan(0);
  },
);

it.each<[what: string, wanted: Partial<JobSelection>]>([
  ['fit', {}],
  ['are due too early', { dueFromMs: 8e15 }],
  ['are in another state', { states: ['active', 'due'] }],
  ['have another id', { idPrefix: 'no-such' }],
  ['carry the tag, and are due too early', { tags: ['t'], dueFromMs: 8e15 }],
  ['carry the tag, and have another name', { tags: ['t'], names: ['other'] }],
])('one script reads some of the large jobs only, where they %s', async (_, wanted) => {
  const [bytes, count] = [100_000, 300];
  const payload = JSON.stringify('x'.repeat(bytes));
  const job = { payload, tags: ['t'], due: { delayMs: 3_600_000 } };
  await Promise.all(Array.from({ length: count }, () => test.jobs.schedule(newJob(job))));
  const scripts = await commandsOfScripts(test.redis, async () => {
    let place: string | undefined;
    do ({ next: place } = await test.view.find({ ...ALL, ...wanted }, place, { size: 150, limit: 1_000 }));
    while (place !== undefined);
  });
  const read = scripts.map((commands) => {
    const scanned = commands.filter(([name]) => name === 'hscan').map((command) => Number(command.at(-1)));
    const fetched = commands.filter(([name, key]) => name === 'hget' && key!.endsWith(':jobs'));
    return (scanned.reduce((sum, each) => sum + each, 0) + fetched.length) * bytes;
  });
  expect(Math.max(...read)).toBeLessThanOrEqual(1_500_000);
  // In Valkey, where several jobs share a bucket, one is asked for and several are read.
  const isValkey = (await test.redis.info('server')).includes('valkey_version');
  expect(Math.max(...read)).toBeGreaterThanOrEqual(isValkey ? 200_000 : 400_000);
});

describe('of jobs with several tags', () => {
  const [all, few] = [600, 10];
  const job = (i: number) => newJob({ tags: ['tenant', i < few ? 'order' : `order-${i}`] });

  async function search(tags: string[], between = async () => {}): Promise<{ ids: string[]; looked: number }> {
    const ids: string[] = [];
    let [looked, place]: [number, string | undefined] = [0, undefined];
    do {
      const step = await test.view.find({ ...ALL, tags }, place, { size: 4, limit: 1_000 });
      ids.push(...step.jobs.map(({ id }) => id));
      [looked, place] = [looked + step.looked, step.next];
      await between();
    } while (place !== undefined);
    return { ids, looked };
  }

  it('looks only at those of the smallest tag, whichever is named first', async () => {
    const made = await Promise.all(Array.from({ length: all }, (_, i) => test.jobs.schedule(job(i))));
    const wanted = made.slice(0, few).map(({ id }) => id);
    for (const tags of [
      ['tenant', 'order'],
      ['order', 'tenant'],
    ])
      expect(await search(tags)).toEqual({ ids: wanted, looked: few });
    expect(await search(['tenant', 'nobody'])).toEqual({ ids: [], looked: 1 });
  });

  it('finds those that stay once, also where another tag has become the smallest meanwhile', async () => {
    const made = Array.from({ length: 40 }, (_, i) => ({ id: `job-${i}`, tags: ['a'] }));
    await Promise.all(made.map((each) => test.jobs.schedule(newJob(each))));
    // In `b` they stand the other way round.
    for (const each of [...made].reverse()) await test.replace({ id: each.id, tags: ['a', 'b'] });
    await test.jobs.schedule(newJob({ tags: ['b'] }));
    const { ids } = await search(['b', 'a'], async () => {
      for (let i = 0; i < 2; i++) await test.jobs.schedule(newJob({ tags: ['a'] }));
    });
    expect(ids).toEqual(made.map(({ id }) => id));
  });

  it('refuses a place in a tag that was not asked for', async () => {
    for (const place of ['0 1 x', '3 1 x', '1 x', '9'])
      await expect(
        test.view.find({ ...ALL, tags: ['a', 'b'] }, JSON.stringify([0, place, [], []]), { size: 5, limit: 5 }),
      ).rejects.toThrow(RangeError);
  });
});

it('a place that no step has answered is refused', async () => {
  await test.jobs.schedule(newJob());
  for (const place of ['', 'x', '[]', '[0,"x",[]]', '[0,"",[1]]', '[9,"",[]]', '[1,"",[]]', '[-1,"",[]]', '{}', 'null'])
    await expect(test.view.find(ALL, place, { size: 5, limit: 5 })).rejects.toThrow(RangeError);
});

it('tells large jobs a few at a time, and every one', async () => {
  const payload = JSON.stringify('x'.repeat(200_000));
  const made = await Promise.all(Array.from({ length: 40 }, () => test.jobs.schedule(newJob({ payload }))));
  const found: string[] = [];
  let place: string | undefined;
  do {
    const step: Awaited<ReturnType<typeof test.view.find>> = await test.view.find(ALL, place, {
      size: 100,
      limit: 1_000,
    });
    expect(step.jobs.length).toBeLessThanOrEqual(6);
    found.push(...step.jobs.map(({ id }) => id));
    place = step.next;
  } while (place !== undefined);
  expect(found.sort()).toEqual(made.map(({ id }) => id).sort());
});
