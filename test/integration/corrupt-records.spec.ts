import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { OnScheduledJob, type ScheduledJobRef } from '../../lib/index.js';
import { type QueueApp, redisUrl, startApp, stopApps } from '../support/queue-app.js';
import { until } from '../support/wait.js';

const ran: string[] = [];

class Handlers {
  @OnScheduledJob('work')
  work(payload: string): void {
    if (payload === 'fail') throw new Error('no');
    ran.push(payload);
  }
}

let redis: Redis;
let app: QueueApp;
let base: string;

beforeEach(async () => {
  ran.length = 0;
  redis = new Redis(redisUrl());
  app = await startApp([Handlers], { autoStart: false, queues: { default: { leaseMs: 1_000 } } });
  base = `${app.prefix}:{default}:`;
});

afterEach(async () => {
  await stopApps();
  redis.disconnect();
});

/** Jobs that are due before, at and after the damaged one, in another lane too. */
async function scheduleAround(payload = 'damaged', options: object = {}): Promise<ScheduledJobRef> {
  await app.producer.schedule('work', 'before');
  const ref = await app.producer.schedule('work', payload, { maxAttempts: 1, ...options });
  await app.producer.schedule('work', 'after');
  await app.producer.schedule('work', 'less urgent', { priority: 9 });
  return ref;
}

async function othersRun(): Promise<void> {
  await app.consumer.start();
  await until('the others have run', () => ran.length >= 3);
  expect(ran.filter((payload) => payload !== 'damaged').sort()).toEqual(['after', 'before', 'less urgent']);
  // And whatever comes later.
  await app.producer.schedule('work', 'later');
  await until('a later one has run', () => ran.includes('later'));
}

describe('a damaged job dies alone, with a reason, when', () => {
  const envelope = (lane: string, second: string, settings: string, payload: string) =>
    [lane, second, settings, payload].join('\n');
  const LANE = '5::work';

  it.each([
    ['its envelope is gone', undefined, 'envelope-missing'],
    ['its envelope is empty', '', 'unreadable'],
    ['its envelope is one line', 'rubbish', 'unreadable'],
    ['its settings are no JSON', envelope(LANE, '1700000000000 ', '{"maxAttempts":', '"x"'), 'unreadable'],
    ['its payload is no JSON', envelope(LANE, '1700000000000 ', '', '{"half":'), 'invalid-payload'],
    ['its payload is bytes of another world', envelope(LANE, '1700000000000 ', '', '\u0000\u0001ÿ'), 'invalid-payload'],
  ])('%s', async (_, text, reason) => {
    const ref = await scheduleAround();
    if (text === undefined) await redis.hdel(`${base}jobs`, ref.id);
    else await redis.hset(`${base}jobs`, ref.id, text);
    await othersRun();
    const dead = await until('it is dead', async () => {
      const job = await app.inspector.job(ref);
      return job?.state === 'dead' ? job : undefined;
    });
    expect(dead).toMatchObject({ reason });
    expect(ran).not.toContain('damaged');
    await until('all is settled', async () => (await app.inspector.counts()).active === 0);
    expect(await app.inspector.counts()).toMatchObject({ dead: 1, due: 0 });
  });
});

it('a job that stands in no lane any more harms nobody, and is shown as waiting', async () => {
  const ref = await scheduleAround('damaged', { id: 'mine' });
  await redis.zrem(`${base}lane:5::work`, ref.id);
  await othersRun();
  expect(ran).not.toContain('damaged');
  expect(await app.inspector.job(ref)).toMatchObject({ id: 'mine' });
  await until('all is settled', async () => (await app.inspector.counts()).active === 0);
  expect(await app.inspector.counts()).toMatchObject({ scheduled: 1, dead: 0, due: 0 });
});

it('an index that names a lane which is not there holds up nobody', async () => {
  await scheduleAround();
  await redis.zadd(`${base}heads:3`, 1, 'ghost\t3::work');
  await redis.zadd(`${base}levels`, 1, '3');
  await redis.zadd(`${base}levels`, 1, '4');
  await othersRun();
  expect(ran).toContain('damaged');
});

it('an entry of the active ones without record and envelope is cleared away, and told', async () => {
  const recovered: string[] = [];
  app.events.events$.subscribe((event) => {
    if (event.type === 'recovered') recovered.push(event.id);
  });
  await scheduleAround();
  await redis.zadd(`${base}active`, 1, 'ghost');
  await othersRun();
  await until('it is told', () => recovered.includes('ghost'));
  expect(await redis.zscore(`${base}active`, 'ghost')).toBeNull();
});

it('while a key has another type than it should, the queue waits; once that is mended it goes on, with nothing lost', async () => {
  await scheduleAround();
  await redis.rename(`${base}claims`, `${base}elsewhere`).catch(() => {});
  await redis.set(`${base}claims`, 'text');
  await app.consumer.start();
  await expect(app.producer.cancel('unknown')).resolves.toBe(false);
  expect(ran).toEqual([]);
  await redis.del(`${base}claims`);
  await until('all are settled', async () => (await app.inspector.stats()).completed === 4);
  expect(await app.inspector.stats()).toMatchObject({ scheduled: 4, completed: 4, failed: 0, recovered: 0 });
});

/** A worker may have claimed the job since, and the claim is a good one then. */
const REMOVE_RUBBISH = `if redis.call('HGET', KEYS[1], ARGV[1]) == 'rubbish' then return redis.call('HDEL', KEYS[1], ARGV[1]) end`;

it.each<[string, (id: string) => Promise<unknown>, (id: string) => Promise<unknown>]>([
  [
    'claim record',
    (id) => redis.hset(`${base}claims`, id, 'rubbish'),
    (id) => redis.eval(REMOVE_RUBBISH, 1, `${base}claims`, id),
  ],
  ['note of when it was last served', () => redis.set(`${base}served`, 'rubbish'), () => redis.del(`${base}served`)],
  ['counter of fences', () => redis.set(`${base}fence`, 'rubbish'), () => redis.del(`${base}fence`)],
])('once a damaged %s is removed, every job runs', async (_, damage, mend) => {
  const ref = await scheduleAround();
  await damage(ref.id);
  await app.consumer.start();
  await until('the worker has been there', async () => (await redis.keys(`${base}handles:*`)).length > 0);
  await mend(ref.id);
  await until('all have completed', async () => (await app.inspector.stats()).completed === 4);
  expect(ran).toHaveLength(4);
  expect(await app.inspector.stats()).toMatchObject({ started: 4, failed: 0, recovered: 0 });
});
