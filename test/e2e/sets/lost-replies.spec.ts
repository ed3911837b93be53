import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { SCRIPTS, type ScriptName } from '../../../lib/store/redis/scripts/embedded.js';
import { audit } from '../../support/audit.js';
import { type QueueApp, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { takesTurn } from '../../support/takes-turn.js';
import { TcpProxy } from '../../support/tcp-proxy.js';

let proxy: TcpProxy;
/** Whose replies get lost. */
let app: QueueApp;
/** Whose do not. */
let other: QueueApp;

const calls = (script: ScriptName) => (request: string) => request.includes(SCRIPTS[script].sha);
const DONE = { done: { job: 'done', payload: null } };
const NONE = { completed: 0, dead: 0, discarded: 0, cancelled: 0 };

beforeEach(async () => {
  proxy = await TcpProxy.start(redisUrl());
  app = await startApp([], { connection: proxy.url, queues: { default: { leaseMs: 60_000 } } });
  other = await startApp([], { prefix: app.prefix });
  // The scripts are in Redis' cache by then, and the connections stand.
  await app.producer.openSet('warm-up');
  await app.producer.schedule('member', null, { set: 'warm-up', id: 'warm-up', delay: '1h' });
  await app.producer.cancel('warm-up');
  await app.producer.closeSet('warm-up');
  await app.consumer.pop();
});

afterEach(async () => {
  const admin = new Redis(redisUrl());
  expect(await audit(admin, app.prefix)).toEqual([]);
  admin.disconnect();
  await stopApps();
  await proxy.stop();
});

/** What the call answers, whose first reply is lost; `meanwhile` happens before it is sent again. */
async function resent<T>(
  when: (request: string) => boolean,
  call: () => Promise<T>,
  meanwhile?: () => Promise<unknown>,
): Promise<T> {
  const lost = proxy.cutOnce((request, reply) => {
    const isHit = when(request) && reply !== '';
    if (isHit && meanwhile) proxy.refuse();
    return isHit;
  });
  const answer = call();
  // Where what happens meanwhile fails, that is what is told.
  answer.catch(() => {});
  await lost;
  await meanwhile?.();
  proxy.accept();
  return answer;
}

/** Ends the completion jobs that are due, and answers what they saw. */
async function completions() {
  const jobs = await other.consumer.pop({ names: ['done'], count: 10 });
  for (const job of jobs) expect(await job.complete()).toBe(true);
  return jobs.map(({ setDone }) => setDone);
}

it('an openSet whose reply is lost has opened the set, and says so', async () => {
  const opened = await resent(calls('open-set'), () => app.producer.openSet('s', DONE));
  expect(opened).toEqual({ id: 's', queue: 'default', created: true, state: 'open' });
  expect(await app.producer.openSet('s')).toMatchObject({ created: false });
});

it('an openSet whose reply is lost has opened the set once, though it is done before the call is sent again', async () => {
  const opened = await resent(
    calls('open-set'),
    () => app.producer.openSet('s', DONE),
    () => other.producer.closeSet('s'),
  );
  expect(opened).toMatchObject({ created: true, state: 'open' });
  expect(await app.inspector.set('s')).toMatchObject({ state: 'done' });
  expect(await completions()).toEqual([{ id: 's', total: 0, ...NONE }]);
});

it('a schedule into a set whose reply is lost adds one member', async () => {
  await app.producer.openSet('s', DONE);
  const ref = await resent(calls('schedule'), () => app.producer.schedule('member', null, { set: 's' }));
  expect(ref.created).toBe(true);
  expect(await app.inspector.set('s')).toMatchObject({ total: 1, pending: 1 });
});

it('a schedule into a set whose reply is lost adds one member, though the set is done before the call is sent again', async () => {
  await app.producer.openSet('s', DONE);
  const ref = await resent(
    calls('schedule'),
    () => app.producer.schedule('member', null, { set: 's', id: 'chosen' }),
    async () => {
      const [member] = await other.consumer.pop({ names: ['member'] });
      await member!.complete();
      await other.producer.closeSet('s');
    },
  );
  expect(ref).toMatchObject({ id: 'chosen', created: true });
  expect(await completions()).toEqual([{ id: 's', total: 1, ...NONE, completed: 1 }]);
});

it('a closeSet whose reply is lost closes the set, and completes it once', async () => {
  await app.producer.openSet('s', DONE);
  expect(await resent(calls('close-set'), () => app.producer.closeSet('s'))).toBe(true);
  expect(await app.producer.closeSet('s')).toBe(false);
  expect(await completions()).toEqual([{ id: 's', total: 0, ...NONE }]);
  expect(await completions()).toEqual([]);
});

it('a closeSet whose reply is lost completes the set once, though the completion job has ended before the call is sent again', async () => {
  await app.producer.openSet('s', DONE);
  const seen: unknown[] = [];
  const closed = await resent(
    calls('close-set'),
    () => app.producer.closeSet('s'),
    async () => seen.push(...(await completions())),
  );
  expect([closed, seen]).toEqual([true, [{ id: 's', total: 0, ...NONE }]]);
  expect(await completions()).toEqual([]);
});

it.each(['cancel', 'remove'] as const)('a %s of the last member whose reply is lost counts once', async (how) => {
  await app.producer.openSet('s', DONE);
  const ref = await app.producer.schedule('member', null, { set: 's', delay: '1h' });
  await app.producer.closeSet('s');
  const ended = await resent(calls(how), () =>
    how === 'cancel' ? app.producer.cancel(ref) : app.inspector.remove(ref),
  );
  expect(ended).toBe(true);
  expect(await completions()).toEqual([{ id: 's', total: 1, ...NONE, cancelled: 1 }]);
  expect(await completions()).toEqual([]);
});

it('the end of the last member whose reply is lost counts once', async () => {
  await app.producer.openSet('s', DONE);
  await app.producer.schedule('member', null, { set: 's' });
  await app.producer.closeSet('s');
  const [member] = await app.consumer.pop({ names: ['member'] });
  const seen: unknown[] = [];
  const completed = await resent(
    takesTurn,
    () => member!.complete(),
    async () => seen.push(...(await completions())),
  );
  expect([completed, seen]).toEqual([true, [{ id: 's', total: 1, ...NONE, completed: 1 }]]);
  expect(await completions()).toEqual([]);
});

it('the end of a job whose reply is lost schedules the next step of its chain once', async () => {
  await app.producer.schedule('step', 1, { then: { job: 'step', payload: 2 } });
  const [first] = await app.consumer.pop({ names: ['step'] });
  let second: string | undefined;
  const completed = await resent(
    takesTurn,
    () => first!.complete(),
    async () => {
      const [step] = await other.consumer.pop({ names: ['step'] });
      second = step!.id;
      await step!.complete();
    },
  );
  expect([completed, second]).toEqual([true, expect.any(String)]);
  expect(await other.consumer.pop({ names: ['step'] })).toEqual([]);
  expect(await app.inspector.stats()).toMatchObject({ scheduled: 3, completed: 2 });
});
