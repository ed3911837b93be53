import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { IsInt } from 'class-validator';
import { Redis } from 'ioredis';
import { defineScheduledJob, type ScheduledQueueProducer } from '../../../lib/index.js';
import { type QueueApp, redisUrl, startApp, stopApps } from '../../support/queue-app.js';

class Digest {
  @IsInt() userId!: number;
}
const digest = defineScheduledJob('digest', { payload: Digest });
const PAYLOAD = { userId: 7 };

let app: QueueApp;
let redis: Redis;

beforeAll(async () => {
  app = await startApp([], { autoStart: false, maxPayloadBytes: 100 });
  redis = new Redis(redisUrl());
});

afterAll(async () => {
  await redis.quit();
  await stopApps();
});

async function refused(call: (producer: ScheduledQueueProducer) => Promise<unknown>, code: string, parts: string[]) {
  const error = await call(app.producer).then(
    () => undefined,
    (thrown) => thrown,
  );
  expect(error).toMatchObject({ code });
  for (const part of parts) expect(error.message).toContain(part);
  expect(await redis.keys(`${app.prefix}:*`)).toEqual([]);
}

describe('a rule is refused, and nothing is written, where', () => {
  it.each<[string, unknown, ...parts: string[]]>([
    ['there is none', undefined, 'got undefined'],
    ['it is a text', '* * * * *', 'got "* * * * *"'],
    ['it has neither cron nor everyMs', {}, 'got neither cron nor everyMs'],
    ['it has both', { cron: '* * * * *', everyMs: 1_000 }, 'got both cron'],
    [
      'a field is unknown',
      { everyMs: 1_000, timezone: 'UTC' },
      'unknown option "timezone", did you mean \'timeZone\'?',
    ],
    ['the cron expression is malformed', { cron: 'every day' }, 'cron: ', 'every day'],
    ['an hour is too large', { cron: '0 25 * * *' }, 'cron: ', '25'],
    ['a step begins with a number', { cron: '0/5 * * * *' }, 'cron: ', '*/5'],
    ['it never fires', { cron: '0 0 30 2 *' }, 'cron: ', '0 0 30 2 *'],
    ['the zone is unknown', { cron: '* * * * *', timeZone: 'Europe/Pariss' }, 'timeZone: ', "'Europe/Paris'"],
    ['the zone is an offset', { cron: '* * * * *', timeZone: '+02:00' }, 'timeZone: got "+02:00"', 'IANA'],
    ['everyMs is NaN', { everyMs: Number.NaN }, 'everyMs: got NaN'],
    ['everyMs is too short', { everyMs: 99 }, 'everyMs: got 99', '100'],
    ['everyMs has no unit', { everyMs: '10' }, 'everyMs: got "10"'],
    ['an interval has a zone', { everyMs: 1_000, timeZone: 'Europe/Paris' }, 'timeZone', 'everyMs'],
    ['startAt is after endAt', { everyMs: 1_000, startAt: 2e12, endAt: 1e12 }, 'endAt', 'startAt'],
    ['startAt looks like seconds', { everyMs: 1_000, startAt: 1_800_000_000 }, 'startAt: ', 'looks like seconds'],
    [
      'no instant lies before endAt',
      { cron: '0 0 1 1 *', startAt: '2027-02-01T00:00:00Z', endAt: '2027-03-01T00:00:00Z' },
      'cron: ',
    ],
    ['limit is 0', { everyMs: 1_000, limit: 0 }, 'limit: got 0'],
    ['onMissed is unknown', { everyMs: 1_000, onMissed: 'twice' }, 'onMissed: got "twice"', "'all'"],
    ['overlap is unknown', { everyMs: 1_000, overlap: true }, 'overlap: got true'],
    ['jitterMs is negative', { everyMs: 1_000, jitterMs: -1 }, 'jitterMs: got -1'],
    ['missedWithin is no duration', { everyMs: 1_000, missedWithin: 'long' }, 'missedWithin: got "long"'],
    ['exclude is no list', { everyMs: 1_000, exclude: '2027-12-25' }, 'exclude: '],
    ['an excluded day does not exist', { everyMs: 1_000, exclude: ['2027-02-30'] }, 'exclude: ', '2027-02-30'],
  ])('%s', async (_what, rule, ...parts) => {
    await refused(
      (producer) => producer.upsertRecurrence('daily', digest, PAYLOAD, rule as never),
      'INVALID_SCHEDULE',
      ["upsertRecurrence('daily'): ", ...parts],
    );
  });
});

describe('the job of a recurrence is refused where', () => {
  const rule = { everyMs: 1_000 };
  it.each<[string, (producer: ScheduledQueueProducer) => Promise<unknown>, string, ...parts: string[]]>([
    [
      'its payload does not fit its class',
      (p) => p.upsertRecurrence('a', digest, { userId: 'x' } as never, rule),
      'INVALID_PAYLOAD',
      'userId must be an integer',
    ],
    [
      'its payload is missing',
      (p) => p.upsertRecurrence('a', digest, undefined as never, rule),
      'INVALID_PAYLOAD',
      'undefined',
    ],
    [
      'its payload is too large',
      (p) => p.upsertRecurrence('a', 'plain', 'x'.repeat(200), rule),
      'PAYLOAD_TOO_LARGE',
      '202 bytes',
    ],
    [
      'an option is unknown',
      (p) => p.upsertRecurrence('a', digest, PAYLOAD, rule, { prio: 1 } as never),
      'INVALID_SCHEDULE',
      'unknown option "prio"',
    ],
    [
      'an option is for the rule to say',
      (p) => p.upsertRecurrence('a', digest, PAYLOAD, rule, { at: 1e12 } as never),
      'INVALID_SCHEDULE',
      'got the option at',
    ],
    [
      'the id is too long',
      (p) => p.upsertRecurrence('x'.repeat(201), digest, PAYLOAD, rule),
      'INVALID_SCHEDULE',
      '1 to 200 printable characters',
    ],
    [
      'the id is none',
      (p) => p.upsertRecurrence(7 as never, digest, PAYLOAD, rule),
      'INVALID_SCHEDULE',
      'expected the id of a recurrence',
    ],
    [
      'the queue is none',
      (p) => p.upsertRecurrence({ id: 'a', queue: 'a b' }, digest, PAYLOAD, rule),
      'INVALID_SCHEDULE',
      'queue: got "a b"',
    ],
  ])('%s', async (_what, call, code, ...parts) => {
    await refused(call, code, parts);
  });
});

describe('a call about a recurrence is refused where', () => {
  it.each<[string, (producer: ScheduledQueueProducer) => Promise<unknown>, ...parts: string[]]>([
    ['it names none', (p) => p.recurrence({} as never), 'expected the id of a recurrence or { id, queue }'],
    ['an option is unknown', (p) => p.resumeRecurrence('a', { reason: 'x' } as never), 'unknown option "reason"'],
    ['a reason is none', (p) => p.pauseRecurrence('a', { reason: 7 } as never), 'reason: got 7'],
    ['a page is too large', (p) => p.recurrences({ limit: 10_001 }), 'limit: got 10001'],
    ['a range has no end', (p) => p.backfillRecurrence('a', { from: 1e12 } as never), 'got no to'],
    ['a range ends before it begins', (p) => p.backfillRecurrence('a', { from: 2e12, to: 1e12 }), 'not later than to'],
  ])('%s', async (_what, call, ...parts) => {
    await refused(call, 'INVALID_SCHEDULE', parts);
  });
});

it('a backfill of more than 10 000 instants is refused, and says so', async () => {
  const other = await startApp([], { autoStart: false });
  await other.producer.upsertRecurrence('minutes', 'tick', null, { everyMs: 60_000 });
  const range = { from: Date.UTC(2020, 0, 1), to: Date.UTC(2021, 0, 1) };
  await expect(other.producer.backfillRecurrence('minutes', range)).rejects.toThrow(
    "backfillRecurrence('minutes'): got a range of more than 10000 instants of the rule, expected at most 10000: backfill it in parts.",
  );
  expect(await other.inspector.counts()).toMatchObject({ due: 0 });
});
