import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { RecurrenceRule, ScheduledQueueEvent } from '../../../lib/index.js';
import { LogLines } from '../../support/log-lines.js';
import { Occurrences } from '../../support/occurrences.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { type ShiftedRedis, startShiftedRedis } from '../../support/shifted-redis.js';
import { until } from '../../support/wait.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

let redis: ShiftedRedis | undefined;

beforeAll(async () => {
  const started = await startShiftedRedis();
  if ('missing' in started) process.stdout.write(`The tests of missed occurrences are left out: ${started.missing}\n`);
  else redis = started;
});

afterEach(async () => {
  await stopApps();
  await redis?.shift(0);
});

afterAll(() => redis?.stop());

/** An instant half an hour from now, so that no test runs while an hourly rule comes to one. */
const inHalfAnHour = () => Math.floor((Date.now() + HOUR_MS / 2) / MINUTE_MS) * MINUTE_MS;

/** An app whose workers are down from when it has upserted the rule until `downMs` later by Redis' clock. */
async function down(downMs: number, rule: RecurrenceRule) {
  const log = new LogLines();
  // One at a time, so that the order of runs is that of claims.
  const queues = { default: { concurrency: 1 } };
  const app = await startApp([Occurrences], { connection: redis!.url, autoStart: false, queues }, { log });
  const events: ScheduledQueueEvent[] = [];
  app.events.events$.subscribe((event) => events.push(event));
  const { nextAt } = await app.producer.upsertRecurrence('digest', 'tick', null, rule);
  await redis!.shift(downMs / 1_000);
  await app.consumer.start();
  const handlers = app.get(Occurrences);
  const leftOut = () => events.flatMap((event) => (event.type === 'discarded' ? [event.id] : []));
  /** Resolves once nothing is left to begin before the first occurrence after the outage. */
  const caughtUp = () =>
    until('it has caught up', async () => {
      const view = await app.producer.recurrence('digest');
      const { due, active } = await app.inspector.counts();
      const ahead = view!.nextAt === null || view!.nextAt.getTime() > Date.now() + downMs;
      return due === 0 && active === 0 && ahead && view;
    });
  return { ...app, log, events, leftOut, handlers, caughtUp, first: nextAt!.getTime() };
}

const hourly = (policy: Partial<RecurrenceRule> = {}): RecurrenceRule =>
  ({ everyMs: HOUR_MS, offsetMs: inHalfAnHour() % HOUR_MS, ...policy }) as RecurrenceRule;
const cronHourly = (policy: Partial<RecurrenceRule> = {}): RecurrenceRule =>
  ({ cron: `${new Date(inHalfAnHour()).getUTCMinutes()} * * * *`, ...policy }) as RecurrenceRule;

describe.each([
  ['an interval', hourly],
  ['a cron expression', cronHourly],
])('workers down over 10 occurrences of %s', (_kind, rule) => {
  it("with onMissed 'skip' make up for none, and go on with the next", async () => {
    if (!redis) return;
    const { caughtUp, handlers, first, inspector, leftOut, log } = await down(10 * HOUR_MS, rule({ onMissed: 'skip' }));
    const view = await caughtUp();
    expect(handlers.seen).toEqual([]);
    expect(view).toMatchObject({ nextAt: new Date(first + 10 * HOUR_MS), count: 0, lastAt: null });
    expect(await inspector.stats()).toMatchObject({ discarded: 10, started: 0, scheduled: 11 });
    expect(leftOut()).toContain(`digest@${first}`);
    expect(log.lines.join('\n')).toContain('too late to begin');
  });

  it.each([{}, { onMissed: 'once' } as const])('with %j make up for the latest', async (policy) => {
    if (!redis) return;
    const { caughtUp, handlers, first, inspector } = await down(10 * HOUR_MS, rule(policy));
    const view = await caughtUp();
    const latest = new Date(first + 9 * HOUR_MS);
    expect(handlers.seen).toMatchObject([
      { id: `digest@${latest.getTime()}`, recurrence: { at: latest, missed: true }, dueAt: latest },
    ]);
    expect(view).toMatchObject({ nextAt: new Date(first + 10 * HOUR_MS), count: 1, lastAt: latest });
    expect(await inspector.stats()).toMatchObject({ discarded: 9, completed: 1, scheduled: 11 });
  });

  it("with onMissed 'all' make up for all, in order", async () => {
    if (!redis) return;
    const { caughtUp, handlers, first, inspector } = await down(10 * HOUR_MS, rule({ onMissed: 'all' }));
    const view = await caughtUp();
    expect(handlers.instants).toEqual(Array.from({ length: 10 }, (_, i) => first + i * HOUR_MS));
    expect(handlers.seen.every(({ recurrence }) => recurrence!.missed)).toBe(true);
    expect(view).toMatchObject({ nextAt: new Date(first + 10 * HOUR_MS), count: 10 });
    expect(await inspector.stats()).toMatchObject({ discarded: 0, completed: 10, scheduled: 11 });
  });

  it('with a shorter missedWithin make up for those that are not older', async () => {
    if (!redis) return;
    // The latest are half an hour, one and a half, and two and a half hours old.
    const policy = { onMissed: 'all', missedWithin: '3h' } as const;
    const { caughtUp, handlers, first } = await down(10 * HOUR_MS, rule(policy));
    await caughtUp();
    expect(handlers.instants).toEqual([7, 8, 9].map((i) => first + i * HOUR_MS));
  });

  it('with a missedWithin that the latest is older than make up for none', async () => {
    if (!redis) return;
    const { caughtUp, handlers } = await down(10 * HOUR_MS, rule({ onMissed: 'once', missedWithin: '10m' }));
    await caughtUp();
    expect(handlers.seen).toEqual([]);
  });
});

it('a weekly rule after a weekend of outage runs', async () => {
  if (!redis) return;
  const at = new Date(inHalfAnHour());
  const cron = `${at.getUTCMinutes()} ${at.getUTCHours()} * * ${at.getUTCDay()}`;
  const { caughtUp, handlers, first } = await down(2.5 * DAY_MS, { cron });
  expect(first).toBe(at.getTime());
  const view = await caughtUp();
  expect(handlers.seen).toMatchObject([{ recurrence: { at, missed: true } }]);
  expect(view.nextAt).toEqual(new Date(first + 7 * DAY_MS));
});

it('a daily rule after two days of outage makes up for yesterday at most', async () => {
  if (!redis) return;
  const { caughtUp, handlers, first } = await down(2 * DAY_MS, {
    everyMs: DAY_MS,
    offsetMs: inHalfAnHour() % DAY_MS,
    onMissed: 'all',
  });
  await caughtUp();
  expect(handlers.instants).toEqual([first + DAY_MS]);
});

it('what begins within a minute, before the next is due, is not missed', async () => {
  if (!redis) return;
  const rule = hourly({ onMissed: 'skip' });
  const lateMs = 40_000;
  const downMs = inHalfAnHour() - Date.now() + lateMs;
  const { handlers, first, leftOut } = await down(Math.ceil(downMs / 1_000) * 1_000, rule);
  await until('it has run', () => handlers.seen.length === 1);
  expect(handlers.seen).toMatchObject([{ recurrence: { at: new Date(first), missed: false } }]);
  expect(leftOut()).toEqual([]);
});

it('a made-up occurrence is never too late by maxLatenessMs', async () => {
  if (!redis) return;
  const app = await startApp([Occurrences], { connection: redis.url, autoStart: false });
  const options = { maxLatenessMs: 1_000, onLate: 'discard' } as const;
  await app.producer.upsertRecurrence('digest', 'tick', null, hourly(), options);
  await redis.shift((10 * HOUR_MS) / 1_000);
  await app.consumer.start();
  await until('it has run', () => app.get(Occurrences).seen.length === 1);
  expect(app.get(Occurrences).seen[0]!.recurrence!.missed).toBe(true);
});

it('a queue that was paused over its occurrences judges them once it is resumed', async () => {
  if (!redis) return;
  const { producer, inspector, get } = await startApp([Occurrences], { connection: redis.url });
  const { nextAt } = await producer.upsertRecurrence('digest', 'tick', null, hourly({ onMissed: 'all' }));
  await inspector.pause();
  await redis.shift((3 * HOUR_MS) / 1_000);
  await inspector.resume();
  const handlers = get(Occurrences);
  await until('all have run', () => handlers.seen.length === 3);
  expect(handlers.instants).toEqual([0, 1, 2].map((i) => nextAt!.getTime() + i * HOUR_MS));
});

it('time for which the recurrence was paused is not missed', async () => {
  if (!redis) return;
  const { producer, inspector } = await startApp([Occurrences], { connection: redis.url });
  const { nextAt } = await producer.upsertRecurrence('digest', 'tick', null, hourly({ onMissed: 'all' }));
  await producer.pauseRecurrence('digest');
  await redis.shift((3 * HOUR_MS) / 1_000);
  await producer.resumeRecurrence('digest');
  expect(await producer.recurrence('digest')).toMatchObject({ nextAt: new Date(nextAt!.getTime() + 3 * HOUR_MS) });
  expect(await inspector.stats()).toMatchObject({ started: 0, discarded: 0 });
});
