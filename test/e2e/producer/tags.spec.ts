import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import {
  type Duration,
  defineScheduledJob,
  InvalidScheduleError,
  OnScheduledJob,
  ScheduledJob,
} from '../../../lib/index.js';
import { audit } from '../../support/audit.js';
import { type QueueApp, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { BEFORE_NEXT_LOOK_MS, until } from '../../support/wait.js';

const remind = defineScheduledJob<string>('remind', { queue: 'mail', tags: ['reminder'] });
const TRIP = 'trip 7: Paris';

class Handlers {
  readonly ran: string[] = [];
  readonly waiting: (() => void)[] = [];

  @OnScheduledJob(remind)
  remind(payload: string): void {
    this.ran.push(payload);
  }

  @OnScheduledJob('long')
  async long(payload: string, job: ScheduledJob): Promise<void> {
    this.ran.push(payload);
    if (job.attempt > 1) return;
    await new Promise<void>((resolve) => this.waiting.push(resolve));
    throw new Error('no');
  }
}

let app: QueueApp;
let handlers: Handlers;

beforeEach(async () => {
  app = await startApp([Handlers]);
  handlers = app.get(Handlers);
});

afterEach(async () => {
  const redis = new Redis(redisUrl());
  const problems = [await audit(redis, app.prefix), await audit(redis, app.prefix, 'mail')].flat();
  redis.disconnect();
  await stopApps();
  expect(problems).toEqual([]);
});

it('a job shows the tags of its call and of its definition, each once, while it waits and when it has completed', async () => {
  await stopApps();
  app = await startApp([Handlers], { queues: { mail: { keepCompleted: 1 } } });
  const ref = await app.producer.schedule(remind, 'soon', { tags: [TRIP, 'reminder', TRIP], delay: '1h' });
  expect(await app.inspector.job(ref)).toMatchObject({ state: 'scheduled', tags: ['reminder', TRIP] });
  await app.producer.runNow(ref);
  await until('it has completed', async () => (await app.inspector.job(ref))?.state === 'completed');
  expect(await app.inspector.job(ref)).toMatchObject({ tags: ['reminder', TRIP] });
  expect(await app.inspector.job(await app.producer.schedule('work', 1))).toMatchObject({ tags: [] });
});

it('cancelTagged cancels the waiting jobs of a tag in one queue, counts them, and tells of each', async () => {
  const cancelled: string[] = [];
  app.events.events$.subscribe((event) => {
    if (event.type === 'cancelled') cancelled.push(`${event.queue} ${event.id}`);
  });
  const trip = { tags: [TRIP], delay: '1h' } as const;
  const refs = await app.producer.scheduleMany([
    { job: remind, payload: 'a', options: trip },
    { job: remind, payload: 'b', options: { ...trip, id: 'mine' } },
    { job: remind, payload: 'c', options: { ...trip, tags: ['trip 7'] } },
    { job: 'work', payload: 'elsewhere', options: trip },
  ]);
  expect(await app.inspector.cancelTagged(TRIP, { queue: 'mail' })).toBe(2);
  expect(cancelled.sort()).toEqual([`mail ${refs[0]!.id}`, 'mail mine'].sort());
  expect(await app.inspector.stats({ queue: 'mail' })).toMatchObject({ scheduled: 3, cancelled: 2 });
  expect(await app.inspector.job(refs[0]!)).toBeNull();
  expect(await app.producer.schedule(remind, 'b', { id: 'mine', delay: '1h' })).toMatchObject({ created: true });
  expect(await app.inspector.cancelTagged(TRIP)).toBe(1);
  expect(await app.inspector.cancelTagged('reminder', { queue: 'mail' })).toBe(2);
  expect(await app.inspector.cancelTagged('nobody has it')).toBe(0);
});

it('a job that runs is left alone by both, and so is its next attempt', async () => {
  const ref = await app.producer.schedule('long', 'x', {
    tags: [TRIP],
    maxAttempts: 2,
    backoff: { type: 'fixed', delayMs: 1 },
  });
  await until('it runs', () => handlers.waiting.length === 1);
  const { dueAt } = (await app.inspector.job(ref))!;
  expect(await app.inspector.shiftTagged(TRIP, '1h')).toBe(0);
  expect(await app.inspector.cancelTagged(TRIP)).toBe(0);
  expect(await app.inspector.job(ref)).toMatchObject({ state: 'active', dueAt });
  handlers.waiting[0]!();
  await until('it has run again', () => handlers.ran.length === 2);
});

describe('shiftTagged', () => {
  it.each<[Duration, number]>([
    [90_000, 90_000],
    ['2h', 7_200_000],
    ['-10m', -600_000],
    [-0.5, 0],
  ])('moves due times by %p', async (ms, expected) => {
    const ref = await app.producer.schedule('work', 1, { tags: [TRIP], delay: '1h' });
    expect(await app.inspector.shiftTagged(TRIP, ms)).toBe(expected === 0 ? 0 : 1);
    expect((await app.inspector.job(ref))!.dueAt.getTime()).toBe(ref.dueAt!.getTime() + expected);
  });

  it('wakes a worker that sleeps, where jobs become due', async () => {
    await app.producer.schedule(remind, 'a', { tags: [TRIP], delay: '3h' });
    await app.producer.schedule(remind, 'b', { tags: [TRIP], delay: '5h' });
    expect(await app.inspector.shiftTagged(TRIP, '-4h', { queue: 'mail' })).toBe(2);
    await until('the one has run', () => handlers.ran.length === 1, BEFORE_NEXT_LOOK_MS);
    expect(await app.inspector.shiftTagged(TRIP, '-4h', { queue: 'mail' })).toBe(1);
    await until('the other has run', () => handlers.ran.length === 2, BEFORE_NEXT_LOOK_MS);
    expect(handlers.ran).toEqual(['a', 'b']);
  });
});

it.each<[string, () => Promise<unknown>, string]>([
  ['a tag that is none', () => app.inspector.cancelTagged(''), 'cancelTagged: tag: got "", expected 1 to 256'],
  ['a tag of two lines', () => app.inspector.shiftTagged('a\nb', 5), 'shiftTagged: tag: got'],
  ['no time', () => app.inspector.shiftTagged('a', undefined as never), 'shiftTagged: ms: got undefined, expected'],
  ['a time that is none', () => app.inspector.shiftTagged('a', Number.NaN), 'shiftTagged: ms: got NaN, expected'],
  ['a time without a unit', () => app.inspector.shiftTagged('a', '-5' as never), 'shiftTagged: ms: got "-5", expected'],
  ['a time beyond all dates', () => app.inspector.shiftTagged('a', -1e17), 'shiftTagged: ms: got -100000000000000000'],
  [
    'an unknown option',
    () => app.inspector.cancelTagged('a', { queues: 'b' } as never),
    'cancelTagged: unknown option',
  ],
])('%s is refused', async (_, call, message) => {
  await expect(call()).rejects.toThrow(InvalidScheduleError);
  await expect(call()).rejects.toThrow(message);
});
