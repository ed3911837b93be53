import { beforeEach, describe, expect, it } from '@jest/globals';
import { IsInt } from 'class-validator';
import { PayloadWriter } from '../../../../lib/api/payload-writer.js';
import { ScheduledQueueProducer } from '../../../../lib/api/scheduled-queue.producer.js';
import type { RecurrenceRule } from '../../../../lib/core/calendar/rule.js';
import { SystemClock } from '../../../../lib/core/clock.js';
import { InvalidPayloadError, InvalidScheduleError, PayloadTooLargeError } from '../../../../lib/core/errors.js';
import { defineScheduledJob } from '../../../../lib/core/job/definition.js';
import { Observers } from '../../../../lib/core/observe/observers.js';
import { Codecs } from '../../../../lib/core/payload/codecs.js';
import { PayloadChecker } from '../../../../lib/core/payload/payload-class.js';
import type { JobStore, StoredRecurrence } from '../../../../lib/store/job-store.js';
import { EVENTS, LOG } from '../../../support/session-by-hand.js';

class Digest {
  @IsInt() userId!: number;
}
const digest = defineScheduledJob('digest', { payload: Digest, queue: 'mail' });
const HOURLY: RecurrenceRule = { everyMs: '1h' };

/** What the store was asked for. */
let asked: unknown[];
let stored: StoredRecurrence | undefined;
let producer: ScheduledQueueProducer;

beforeEach(() => {
  asked = [];
  stored = undefined;
  const note =
    (call: string, answer: () => unknown) =>
    async (...given: unknown[]) => {
      asked.push([call, ...given]);
      return answer();
    };
  const queue = (name: string) => ({
    recurrences: {
      upsert: note(`${name}.upsert`, () => ({ status: stored ? 'declared' : 'created', nextAtMs: 1e12 })),
      remove: note(`${name}.remove`, () => (stored ? 'declared' : 'unknown')),
      runNow: note(`${name}.runNow`, () => undefined),
      backfill: note(`${name}.backfill`, () => 1),
      get: async () => stored,
    },
  });
  const codecs = new Codecs();
  const payloads = new PayloadWriter(codecs, new PayloadChecker({}), 100);
  producer = new ScheduledQueueProducer(
    { queue } as unknown as JobStore,
    payloads,
    EVENTS,
    codecs,
    LOG,
    new Observers(),
    new SystemClock(),
  );
});

/** A recurrence that a handler declares. */
const declared = (): StoredRecurrence => ({
  id: 'digest',
  rule: {
    timing: { everyMs: 60_000, offsetMs: 0, timeZone: 'UTC', exclude: [] },
    onMissed: 'once',
    overlap: 'allow',
    jitterMs: 0,
  },
  template: {
    name: 'digest',
    priority: 5,
    createdAtMs: 1e12,
    idWasChosen: true,
    tags: [],
    settings: {},
    payload: '{"userId":7}',
  },
  state: 'active',
  nextAtMs: 1e12,
  lastAtMs: null,
  count: 0,
  declaredBy: { app: 'shop', revision: 3 },
});

it('an upsert hands over the rule and the job, and nothing of the call besides', async () => {
  const answer = await producer.upsertRecurrence('digest/7', digest, { userId: 7 }, HOURLY, { tags: ['a'] });
  expect(answer).toEqual({ id: 'digest/7', queue: 'mail', created: true, nextAt: new Date(1e12) });
  expect(asked).toEqual([
    [
      'mail.upsert',
      {
        id: 'digest/7',
        rule: expect.objectContaining({ timing: expect.objectContaining({ everyMs: 3_600_000 }) }),
        job: { name: 'digest', priority: 5, tags: ['a'], settings: expect.any(Object), payload: '{"userId":7}' },
      },
    ],
  ]);
});

describe('nothing is asked of the store for', () => {
  it.each<[string, () => Promise<unknown>, unknown, string]>([
    [
      'a payload that does not fit its class',
      () => producer.upsertRecurrence('a', digest, { userId: 'x' as never }, HOURLY),
      InvalidPayloadError,
      'userId must be an integer',
    ],
    [
      'a payload that is too large',
      () => producer.upsertRecurrence('a', 'plain', 'x'.repeat(200), HOURLY),
      PayloadTooLargeError,
      '202 bytes',
    ],
    [
      'a rule without an instant',
      () => producer.upsertRecurrence('a', digest, { userId: 7 }, { cron: '0 0 30 2 *' }),
      InvalidScheduleError,
      "upsertRecurrence('a'): cron: got '0 0 30 2 *'",
    ],
    [
      'a rule that is none',
      () => producer.upsertRecurrence('a', digest, { userId: 7 }, undefined as never),
      InvalidScheduleError,
      "upsertRecurrence('a'): got undefined",
    ],
    [
      'an option that the rule decides',
      () => producer.upsertRecurrence('a', digest, { userId: 7 }, HOURLY, { delay: 1 } as object),
      InvalidScheduleError,
      'got the option delay',
    ],
    ['an id that is none', () => producer.runRecurrenceNow(''), InvalidScheduleError, 'runRecurrenceNow: id: got ""'],
  ])('%s', async (_what, call, type, message) => {
    const error: Error = await call().then(fail, (thrown) => thrown);
    expect(error).toBeInstanceOf(type);
    expect(error.message).toContain(message);
    expect(asked).toEqual([]);
  });
});

const fail = (): never => {
  throw new Error('It was not refused.');
};

it('who may change a declared one, and how it is stopped, is said by the error', async () => {
  stored = declared();
  const remedy =
    "call pauseRecurrence, or switch it off with the module option jobs: { 'digest': { recurrence: false } }.";
  await expect(producer.upsertRecurrence('digest', digest, { userId: 7 }, HOURLY)).rejects.toThrow(remedy);
  await expect(producer.removeRecurrence('digest')).rejects.toThrow(
    `removeRecurrence('digest'): this recurrence of queue 'default' is declared by @OnScheduledJob or by the module's jobs`,
  );
});

it('a recurrence that is not there cannot be run or backfilled', async () => {
  const missing = "queue 'mail' has no such recurrence";
  await expect(producer.runRecurrenceNow('a', { queue: 'mail' })).rejects.toThrow(`runRecurrenceNow('a'): ${missing}`);
  await expect(producer.backfillRecurrence({ id: 'a', queue: 'mail' }, { from: 1e12, to: 1e12 })).rejects.toThrow(
    missing,
  );
});

describe('a backfill', () => {
  const minute = 60_000;
  const from = Math.ceil(1e12 / minute) * minute;

  it('is of the instants from `from` on and before `to`', async () => {
    stored = declared();
    await producer.backfillRecurrence('digest', { from, to: from + 2 * minute });
    await producer.backfillRecurrence('digest', { from: from + 1, to: from + 2 * minute + 1 });
    expect(asked).toEqual([
      ['default.backfill', 'digest', [from, from + minute]],
      ['default.backfill', 'digest', [from + minute, from + 2 * minute]],
    ]);
  });

  it('without an instant asks for nothing', async () => {
    stored = declared();
    expect(await producer.backfillRecurrence('digest', { from: from + 1, to: from + minute })).toBe(0);
    expect(asked).toEqual([]);
  });

  it('has at most 10 000 instants, however large the range is', async () => {
    stored = declared();
    await producer.backfillRecurrence('digest', { from, to: from + 10_000 * minute });
    const [[, , instants]] = asked as [[string, string, number[]]];
    expect(instants).toHaveLength(10_000);
    await expect(producer.backfillRecurrence('digest', { from, to: '9999-01-01T00:00:00Z' })).rejects.toThrow(
      "backfillRecurrence('digest'): got a range of more than 10000 instants of the rule, expected at most 10000: backfill it in parts.",
    );
  });
});

it('a view shows who declares it, and what cannot be read is left out', async () => {
  stored = declared();
  expect(await producer.recurrence('digest')).toEqual({
    id: 'digest',
    queue: 'default',
    name: 'digest',
    rule: { everyMs: 60_000 },
    payload: { userId: 7 },
    state: 'active',
    nextAt: new Date(1e12),
    lastAt: null,
    count: 0,
    declared: true,
    app: 'shop',
    revision: 3,
  });
  stored = { ...declared(), template: { unreadable: 'gone' }, declaredBy: undefined, state: 'paused', reason: 'tired' };
  expect(await producer.recurrence('digest')).toMatchObject({
    name: '',
    payload: undefined,
    declared: false,
    reason: 'tired',
  });
  stored = { ...declared(), template: { ...(declared().template as object), codec: 'other' } as never };
  expect(await producer.recurrence('digest')).toMatchObject({ name: 'digest', payload: undefined });
});
