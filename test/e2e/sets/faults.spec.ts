import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { queueKeys } from '../../../lib/store/redis/keys.js';
import { HeldJobs } from '../../../lib/worker/pull/held-jobs.js';
import { audit } from '../../support/audit.js';
import { type QueueApp, startApp, stopApps } from '../../support/queue-app.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { until } from '../../support/wait.js';

let server: OwnRedisServer;
let admin: Redis;
let app: QueueApp;

const DONE = { done: { job: 'done', payload: null } };
const NONE = { completed: 0, dead: 0, discarded: 0, cancelled: 0 };

beforeEach(async () => {
  server = await startOwnServer();
  admin = new Redis(server.url);
  app = await startApp([], { connection: server.url });
});

afterEach(async () => {
  jest.restoreAllMocks();
  await stopApps();
  expect(await audit(admin, app.prefix)).toEqual([]);
  admin.disconnect();
  await server.stop();
});

/** Ends the completion jobs that are due, and answers what they saw. */
async function completions() {
  const jobs = await app.consumer.pop({ names: ['done'], count: 10 });
  for (const job of jobs) expect(await job.complete()).toBe(true);
  return jobs.map(({ setDone }) => setDone);
}

const pop = async (name = 'member') => (await app.consumer.pop({ names: [name] }))[0];

it.each([
  ['has never been claimed', false],
  ['has been claimed before', true],
])('a waiting member whose envelope is gone, and which %s, dies and is counted', async (_, wasClaimed) => {
  await app.producer.openSet('other', DONE);
  await app.producer.openSet('s', DONE);
  const { id } = await app.producer.schedule('member', null, { set: 's' });
  if (wasClaimed) await (await pop())!.snooze(1);
  await app.producer.closeSet('s');
  await admin.hdel(queueKeys(app.prefix, 'default').jobs, id);
  await until('it is dead', async () => !(await pop()) && (await app.inspector.counts()).dead === 1);
  expect(await app.inspector.job(id)).toMatchObject({ state: 'dead', reason: 'envelope-missing' });
  expect(await completions()).toEqual([{ id: 's', total: 1, ...NONE, dead: 1 }]);
});

it('a running member whose envelope is gone is counted as its run ends', async () => {
  await app.producer.openSet('s', DONE);
  const { id } = await app.producer.schedule('member', null, { set: 's' });
  await app.producer.closeSet('s');
  const member = await pop();
  await admin.hdel(queueKeys(app.prefix, 'default').jobs, id);
  expect(await member!.complete()).toBe(true);
  expect(await completions()).toEqual([{ id: 's', total: 1, ...NONE, completed: 1 }]);
});

it('after FLUSHALL no set is there, no run of its members counts, and it can be opened again', async () => {
  await app.producer.openSet('s', DONE);
  await app.producer.schedule('member', null, { set: 's' });
  const member = await pop();
  await admin.flushall();
  expect(await member!.complete()).toBe(false);
  expect(await app.inspector.set('s')).toBeNull();
  expect(await app.producer.closeSet('s')).toBe(false);
  await expect(app.producer.schedule('member', null, { set: 's' })).rejects.toMatchObject({ reason: 'set-over' });
  expect(await app.producer.openSet('s', DONE)).toMatchObject({ created: true, state: 'open' });
  await app.producer.schedule('member', null, { set: 's' });
  await app.producer.closeSet('s');
  expect(await (await pop())!.complete()).toBe(true);
  expect(await completions()).toEqual([{ id: 's', total: 1, ...NONE, completed: 1 }]);
});

it('where Redis has no memory left members end, sets are closed and done, and chains go on; only what adds is refused', async () => {
  const sets = ['ends', 'is-closed', 'is-cancelled', 'dies'];
  for (const set of sets) await app.producer.openSet(set, DONE);
  for (const set of ['ends', 'dies']) await app.producer.schedule('member', null, { set, maxAttempts: 1 });
  const cancelled = await app.producer.schedule('member', null, { set: 'is-cancelled', delay: '1h' });
  for (const set of ['ends', 'is-cancelled', 'dies']) await app.producer.closeSet(set);
  await app.producer.schedule('step', 1, { then: { job: 'step', payload: 2 } });
  await admin.config('SET', 'maxmemory', '1');

  const refused = { outcome: 'refused', redisCode: 'OOM' };
  await expect(app.producer.openSet('more', DONE)).rejects.toMatchObject(refused);
  await expect(app.producer.schedule('member', null, { set: 'is-closed' })).rejects.toMatchObject(refused);
  const [first, second] = [await pop(), await pop()];
  expect([first!.set, second!.set]).toEqual(['ends', 'dies']);
  expect(await first!.complete()).toBe(true);
  expect(await second!.fail(new Error('no'))).toBe(true);
  expect(await app.producer.cancel(cancelled)).toBe(true);
  expect(await app.producer.closeSet('is-closed')).toBe(true);
  expect(await (await pop('step'))!.complete()).toBe(true);
  expect(await (await pop('step'))!.complete()).toBe(true);

  const numbers = (await app.inspector.sets()).map(({ id, state }) => `${id} ${state}`).sort();
  expect(numbers).toEqual(['dies done', 'ends done', 'is-cancelled done', 'is-closed done']);
  await admin.config('SET', 'maxmemory', '0');
  expect(
    (await completions()).map((done) => `${done!.id} ${JSON.stringify({ ...done, id: undefined })}`).sort(),
  ).toEqual([
    `dies ${JSON.stringify({ total: 1, ...NONE, dead: 1 })}`,
    `ends ${JSON.stringify({ total: 1, ...NONE, completed: 1 })}`,
    `is-cancelled ${JSON.stringify({ total: 1, ...NONE, cancelled: 1 })}`,
    `is-closed ${JSON.stringify({ total: 0, ...NONE })}`,
  ]);
});

it('what is kept of ended jobs holds no payload and no result of their chains', async () => {
  const keeping = await startApp([], {
    connection: server.url,
    prefix: app.prefix,
    queues: { default: { keepEnded: 10 } },
  });
  const { producer, consumer, inspector } = keeping;
  const secret = { file: 'secret' };
  const then = [
    { job: 'step', payload: secret, options: { delay: '1h' as const } },
    { job: 'step', payload: secret },
  ];
  await producer.schedule('member', secret, { then, tags: ['cabinet'] });
  const [first] = await consumer.pop();
  await first!.complete('secret');
  const [second] = (await inspector.find({ limit: 10 })).jobs;
  expect(await producer.cancel({ id: second!.id, queue: 'default' })).toBe(true);
  await producer.schedule('member', secret, { id: 'cancelled', then });
  const [cancelled] = await consumer.pop();
  await inspector.cancelRunning('cancelled');
  await cancelled!.complete();
  const kept = await admin.hgetall(`${app.prefix}:{default}:endings`);
  expect(Object.keys(kept).sort()).toEqual(['cancelled', second!.id].sort());
  expect(JSON.stringify(kept)).not.toContain('secret');
});

it('in scheduleMany a job whose set is over does not keep another one of its id out', async () => {
  const [over, other] = await Promise.allSettled([
    app.producer.scheduleMany([{ job: 'member', payload: null, options: { id: 'x', set: 'gone' } }]),
    app.producer.scheduleMany([
      { job: 'member', payload: null, options: { id: 'y', set: 'gone' } },
      { job: 'member', payload: null, options: { id: 'y' } },
    ]),
  ]);
  for (const { status, reason } of [over, other] as PromiseRejectedResult[]) {
    expect(status).toBe('rejected');
    expect(reason).toMatchObject({ reason: 'set-over' });
  }
  expect(await app.inspector.job('x')).toBeNull();
  expect(await app.inspector.job('y')).toMatchObject({ state: 'due' });
});

it('a popped job that closing has given back is not completed as well', async () => {
  const closing = await startApp([], { connection: server.url, prefix: app.prefix });
  await app.producer.scheduleMany(['a', 'b'].map((id) => ({ job: 'member', payload: null, options: { id } })));
  const [a, b] = await closing.consumer.pop({ count: 2 });
  server.freeze();
  // Its turn is under way, so the one that gives back has to wait for the answer.
  const ended = [a!.complete().catch(String)];
  await new Promise(setImmediate);
  const givesBack = jest.spyOn(HeldJobs.prototype, 'giveBack');
  const closed = closing.app.close();
  await until('it gives back', () => givesBack.mock.calls.length > 0);
  ended.push(b!.complete().catch(String));
  server.thaw();
  await closed;
  expect(await ended[1]).toContain('have gone back');
  expect(await app.inspector.job('b')).toMatchObject({ state: 'due', attempts: 0 });
  expect(await app.inspector.stats()).toMatchObject({ dead: 0 });
  const [again] = await app.consumer.pop();
  expect(again).toMatchObject({ id: 'b' });
  expect(await again!.complete()).toBe(true);
});
