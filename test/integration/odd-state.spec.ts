import { afterEach, expect, it } from '@jest/globals';
import type { ClaimedJob, Settlement } from '../../lib/store/job-store.js';
import { QUEUE, settlement, TestStore } from '../support/store.js';

let test: TestStore;
const key = (name: string) => `${test.prefix}:{${QUEUE}}:${name}`;

afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

it.each<[string, number, (job: ClaimedJob, ms: number) => Settlement]>([
  ['retry', Number.NaN, settlement.retry],
  ['retry', Number.POSITIVE_INFINITY, settlement.retry],
  ['snooze', Number.NaN, ({ id, fence }, delayMs) => ({ id, fence, transition: 'snooze', due: { delayMs } })],
])('a %s with the delay %d is due at once, and takes nobody with it', async (_, delayMs, oddly) => {
  test = new TestStore();
  const worker = test.worker('w');
  for (let i = 0; i < 3; i++) await test.schedule();
  const [odd, ...others] = await worker.claim(3);
  expect(await worker.settle(oddly(odd!, delayMs), ...others.map((job) => settlement.retry(job, 0)))).toEqual([
    true,
    true,
    true,
  ]);
  expect(await test.view.counts()).toMatchObject({ due: 3, active: 0 });
});

it('all that can be replayed is, whatever lies between', async () => {
  test = new TestStore();
  const worker = test.worker('w');
  for (let i = 0; i < 250; i++) await test.schedule();
  await worker.settle(...(await worker.claim(250)).map((job) => settlement.dead(job)));
  const [first, ...rest] = await test.redis.zrange(key('dead'), 0, '-1');
  const damaged = [first!, ...rest.slice(120, 140)];
  const envelopes = await test.redis.hmget(key('jobs'), ...damaged);
  for (const id of damaged) await test.redis.hset(key('jobs'), id, 'damaged');
  expect(await test.management.replayDead(undefined, { delayMs: 0 })).toBe(250 - damaged.length);
  expect(await test.view.counts()).toMatchObject({ due: 250 - damaged.length, dead: damaged.length });
  for (const [i, id] of damaged.entries()) await test.redis.hset(key('jobs'), id, envelopes[i]!);
});

it('names of a crew that are gone are noted again by a turn that lists its session', async () => {
  test = new TestStore();
  const worker = test.worker('w');
  await worker.turn({ limit: 1 });
  const [handles] = await test.redis.keys(key('handles:*'));
  await test.redis.del(handles!);
  const { id } = await test.schedule();
  expect(await worker.claim()).toMatchObject([{ id }]);
  await test.worker('another').claim();
  expect(await test.redis.smembers(handles!)).toContain('work');
});

it.each([
  ['an ordinary turn', {}],
  ['a whole one', { globalConcurrency: 10 }],
])('names of a crew live on as long as a session of it is listed, by %s', async (_, options) => {
  test = new TestStore(options);
  await test.worker('w').turn({ limit: 1 });
  const [handles] = await test.redis.keys(key('handles:*'));
  await test.redis.pexpire(handles!, 60_000);
  await test.worker('another').turn({ limit: 1 });
  expect(await test.redis.pttl(handles!)).toBeGreaterThan(24 * 3_600_000);
});

it('a name among those of a crew that nobody of it handles is taken out, and the worker goes on', async () => {
  test = new TestStore();
  const worker = test.worker('w');
  await worker.turn({ limit: 1 });
  const [handles] = await test.redis.keys(key('handles:*'));
  await test.redis.sadd(handles!, 'stranger');
  const { id } = await test.schedule();
  expect(await worker.claim()).toMatchObject([{ id }]);
  // Turns that list their session count the names.
  await test.worker('another').claim();
  expect(await test.redis.smembers(handles!)).not.toContain('stranger');
});
