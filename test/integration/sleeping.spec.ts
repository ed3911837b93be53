import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { queueKeys } from '../../lib/store/redis/keys.js';
import { newPrefix } from '../support/queue-app.js';
import { type RedisServer, startOwnServer } from '../support/redis-server.js';
import { QUEUE, TestStore } from '../support/store.js';
import { until } from '../support/wait.js';

let server: RedisServer;
let test: TestStore;
let admin: Redis;

beforeEach(async () => {
  // Of its own: what others do would be counted too.
  server = await startOwnServer();
  test = new TestStore({}, server.url, newPrefix());
  admin = new Redis(server.url);
});

afterEach(async () => {
  await test.close();
  admin.disconnect();
  await server.stop();
});

const keys = () => queueKeys(test.prefix, QUEUE);

/** What a call makes Redis do: commands, those inside scripts included, with how often each is called. */
async function commandsOf(act: () => Promise<unknown>): Promise<Record<string, number>> {
  const read = async () => {
    const info = await admin.info('commandstats');
    const calls = [...info.matchAll(/^cmdstat_(\w+):calls=(\d+)/gm)].map(([, name, count]) => [name!, Number(count)]);
    return Object.fromEntries(calls) as Record<string, number>;
  };
  const before = await read();
  await act();
  const after = await read();
  const differing = Object.keys(after).filter((name) => name !== 'info' && after[name] !== before[name]);
  return Object.fromEntries(differing.map((name) => [name, after[name]! - (before[name] ?? 0)]));
}

let delayMs = 36_000_000;
/** Schedules a job that is due before all that were scheduled so, and so becomes the first of its lane. */
function scheduleFirst(job: { name?: string } = {}) {
  delayMs -= 600_000;
  return test.schedule({ ...job, due: { delayMs } });
}

it('pops of a thousand sets of names make no later schedule do more', async () => {
  await scheduleFirst();
  const before = await commandsOf(scheduleFirst);
  for (let i = 0; i < 1_000; i++) await test.puller('w', `name-${i}`).turn({ limit: 1, standing: 'goes' });
  expect(await commandsOf(scheduleFirst)).toEqual(before);
});

it('pops that have waited in vain make no later schedule do more', async () => {
  await scheduleFirst();
  const before = await commandsOf(scheduleFirst);
  const pullers = Array.from({ length: 20 }, (_, i) => test.puller('w', `name-${i}`));
  for (const puller of pullers) {
    await puller.listens();
    await puller.turn({ limit: 1, standing: 'until-claimed' });
  }
  expect(await admin.zcard(keys().sleeping)).toBe(20);
  for (const puller of pullers) await puller.turn({ limit: 0, standing: 'goes' });
  expect(await commandsOf(scheduleFirst)).toEqual(before);
});

it('one of two that wait for the same names is still told when the other one goes', async () => {
  const stays = test.puller('stays', 'work');
  const goes = test.puller('goes', 'work');
  const told = await stays.listens();
  await goes.listens();
  for (const puller of [stays, goes]) await puller.turn({ limit: 1, standing: 'until-claimed' });
  told.length = 0;
  await goes.turn({ limit: 0, standing: 'goes' });
  await test.schedule();
  await until('it is told', () => told.length > 0);
});

it('a schedule reads the sleepers of those only who handle the name', async () => {
  const zranges = async () => (await commandsOf(() => scheduleFirst({ name: 'handled' }))).zrange!;
  await zranges();
  const before = await zranges();
  for (let i = 0; i < 20; i++) await test.asleep(`w${i}`, `name-${i}`);
  expect(await zranges()).toBe(before);
  await test.asleep('w', 'handled');
  expect(await zranges()).toBe(before + 1);
  // Behind the first job of its lane nobody has to be woken for it.
  const behind = await commandsOf(() => test.schedule({ name: 'handled', due: { delayMs: 72_000_000 } }));
  expect(behind).toEqual({ evalsha: 1, time: 1, get: 1, zrange: 1, hset: 1, zadd: 1, hincrby: 1, set: 1 });
});

/** Workers of one crew that look again in so many ms, and what each is told of; whether one has died without a word. */
async function crewOf(...sleepers: [id: string, lookInMs: number, died?: 'died'][]): Promise<Record<string, number[]>> {
  const told: Record<string, number[]> = {};
  for (const [id, , died] of sleepers) {
    const worker = test.worker(id, 'work');
    const heard = await worker.listens();
    await worker.turn({ limit: 1 });
    if (died) {
      worker.session.leave();
      await until('nobody hears it', async () => (await admin.pubsub('NUMSUB', `${keys().base}wake:${id}`))[1] === 0);
    }
    heard.length = 0;
    told[id] = heard;
  }
  const [list = ''] = await admin.keys(`${test.prefix}:*:sleepers:*`);
  const [seconds, micros] = await admin.time();
  const now = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  for (const [id, lookInMs] of sleepers) await admin.zadd(list, now + lookInMs, id);
  return told;
}

const FAR = 100_000;

/** When the sleepers look, in ms after the first of them: who has been found dead is not among them. */
async function looks(): Promise<Record<string, number>> {
  const [list = ''] = await admin.keys(`${test.prefix}:*:sleepers:*`);
  const listed = await admin.zrange(list, '0', '-1', 'WITHSCORES');
  const first = Number(listed[1]);
  return Object.fromEntries(listed.flatMap((id, i) => (i % 2 ? [] : [[id, Number(listed[i + 1]) - first]])));
}

it('a deputy that has died is passed over: the next sleeper is told in its place', async () => {
  const told = await crewOf(['first', FAR], ['dead', FAR + 1, 'died'], ['next', FAR + 2]);
  await test.schedule({ due: { delayMs: 20_000 } });
  await until('both are told', () => told.first!.length > 0 && told.next!.length > 0);
  expect(await looks()).toEqual({ first: 0, next: 500 });
});

it('a sleeper that looks early enough and has died is not counted on: the next one is told, with another as its deputy', async () => {
  const told = await crewOf(['dead', 10_000, 'died'], ['next', FAR], ['deputy', FAR + 1]);
  await test.schedule({ due: { delayMs: 20_000 } });
  await until('both are told', () => told.next!.length > 0 && told.deputy!.length > 0);
  expect(await looks()).toEqual({ next: 0, deputy: 500 });
});

/** Within the deputy's half second after a due time 20 s ahead, also where a slow machine takes 400 ms to schedule. */
const SOON = 20_400;

it('a sleeper that looks a little later is the deputy: one message goes out, to the next one', async () => {
  const told = await crewOf(['deputy', SOON], ['next', FAR], ['third', FAR + 1]);
  const { publish } = await commandsOf(() => test.schedule({ due: { delayMs: 20_000 } }));
  expect(publish).toBe(1);
  await until('the next one is told', () => told.next!.length > 0);
  expect(Object.keys(await looks())).toEqual(['next', 'deputy', 'third']);
  expect(told.deputy).toEqual([]);
});

it('a sleeper that looks a little later is told itself where nobody else lives', async () => {
  const told = await crewOf(['deputy', SOON], ['dead', FAR, 'died']);
  await test.schedule({ due: { delayMs: 20_000 } });
  await until('it is told', () => told.deputy!.length > 0);
  expect(await looks()).toEqual({ deputy: 0 });
});

it('a schedule sends no message where two sleepers look early enough, and two where one of them does, however many sleep', async () => {
  const idle = Array.from({ length: 4 }, (_, i) => [`idle-${i}`, FAR + i] as [string, number]);
  await crewOf(['first', 10_000], ['second', 20_200], ...idle);
  const messages = async (delayMs: number, priority: number) =>
    (await commandsOf(() => test.schedule({ due: { delayMs }, priority }))).publish;
  expect(await messages(20_000, 4)).toBeUndefined();
  expect(await messages(15_000, 5)).toBe(2);
  expect(await messages(15_000, 6)).toBeUndefined();
});

it('a worker is told of jobs again once it has slept after somebody emptied Redis', async () => {
  const worker = test.worker('w', 'work');
  const told = await worker.listens();
  await worker.turn({ limit: 1 });
  await admin.flushall();
  await worker.turn({ limit: 1 });
  told.length = 0;
  await test.schedule();
  await until('it is told', () => told.length > 0);
});

it('crews that sleep no longer are not kept', async () => {
  await admin.zadd(keys().sleeping, 1, 'gone');
  await test.worker('w', 'work').turn({ limit: 1 });
  expect(await admin.zrange(keys().sleeping, '0', '-1')).not.toContain('gone');
});

it('workers that have died asleep are forgotten after a minute, when another one says that it is there', async () => {
  const worker = test.worker('w', 'work');
  await worker.listens();
  await worker.turn({ limit: 1 });
  const [sleepers = ''] = await admin.keys(`${test.prefix}:*:sleepers:*`);
  await admin.zadd(sleepers, Date.now() - 61_000, 'dead');
  const next = test.worker('next', 'work');
  await next.listens();
  await next.turn({ limit: 1 });
  expect((await admin.zrange(sleepers, '0', '-1')).sort()).toEqual(['next', 'w']);
});

it('a crew that looks again is listed for longer', async () => {
  const worker = test.worker('w');
  await worker.listens();
  const listedUntil = async () => {
    await worker.turn({ limit: 1 });
    const [, until] = await admin.zrange(keys().sleeping, '0', '-1', 'WITHSCORES');
    return Number(until);
  };
  const first = await listedUntil();
  await until('the clock goes on', async () => (await listedUntil()) > first);
});

it('sessions that begin together do not go on looking together', async () => {
  const workers = Array.from({ length: 50 }, (_, i) => test.worker(`w${i}`));
  const answers = await Promise.all(workers.map((worker) => worker.turn({ limit: 1 })));
  const sleeps = answers.map(({ sleepMs }) => sleepMs!);
  expect(Math.max(...sleeps)).toBeLessThanOrEqual(5_000);
  expect(Math.min(...sleeps)).toBeGreaterThanOrEqual(4_000 - 1);
  expect(Math.max(...sleeps) - Math.min(...sleeps)).toBeGreaterThan(500);
});
