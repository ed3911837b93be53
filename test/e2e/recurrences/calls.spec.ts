import { afterEach, describe, expect, it } from '@jest/globals';
import { defineScheduledJob, type ScheduledQueueEvent } from '../../../lib/index.js';
import { Occurrences } from '../../support/occurrences.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

const tick = defineScheduledJob<{ of: string }>('tick');
const HOUR_MS = 3_600_000;
const HOURLY = { everyMs: HOUR_MS } as const;

afterEach(stopApps);

const start = (options = {}) => startApp([Occurrences], options);
/** The next full hour, at least a few seconds away from now as nobody may be that slow. */
const nextHour = () => new Date(Math.ceil((Date.now() + 1) / HOUR_MS) * HOUR_MS);

describe('a recurrence that was upserted', () => {
  it('has one job waiting, that of its next instant', async () => {
    const { producer, inspector } = await start();
    const nextAt = nextHour();
    const answer = await producer.upsertRecurrence('digest', tick, { of: 'a' }, HOURLY, { priority: 2, tags: ['t'] });
    expect(answer).toEqual({ id: 'digest', queue: 'default', created: true, nextAt });
    const [job, ...others] = await inspector.list('scheduled');
    expect(others).toEqual([]);
    expect(job).toMatchObject({
      id: `digest@${nextAt.getTime()}`,
      name: 'tick',
      payload: { of: 'a' },
      priority: 2,
      tags: ['t'],
      dueAt: nextAt,
      recurrence: { id: 'digest', at: nextAt, missed: false },
    });
  });

  it('is shown by recurrence and recurrences', async () => {
    const { producer } = await start();
    const { nextAt } = await producer.upsertRecurrence(
      'b',
      tick,
      { of: 'b' },
      { ...HOURLY, limit: 3, onMissed: 'once' },
    );
    await producer.upsertRecurrence('a', tick, { of: 'a' }, { cron: '0 8 * * MON', timeZone: 'Europe/Paris' });
    await producer.upsertRecurrence('c', 'tick', null, HOURLY, { queue: 'mail' });
    const b = {
      id: 'b',
      queue: 'default',
      name: 'tick',
      rule: { everyMs: HOUR_MS, limit: 3 },
      payload: { of: 'b' },
      state: 'active',
      nextAt,
      lastAt: null,
      count: 0,
      declared: false,
    };
    expect(await producer.recurrence('b')).toEqual(b);
    expect(await producer.recurrences()).toEqual([
      expect.objectContaining({ id: 'a', rule: { cron: '0 8 * * MON', timeZone: 'Europe/Paris' } }),
      b,
    ]);
    expect(await producer.recurrences({ offset: 1, limit: 1 })).toEqual([b]);
    expect(await producer.recurrences({ queue: 'mail' })).toMatchObject([{ id: 'c', queue: 'mail', payload: null }]);
    expect(await producer.recurrence('c')).toBeNull();
    expect(await producer.recurrence({ id: 'c', queue: 'mail' })).toMatchObject({ id: 'c' });
    expect(await producer.recurrence('c', { queue: 'mail' })).toMatchObject({ id: 'c' });
  });

  it('is changed by the same call: the job that waits has the new payload, and there is still one', async () => {
    const { producer, inspector } = await start();
    await producer.upsertRecurrence('digest', tick, { of: 'a' }, HOURLY);
    const again = await producer.upsertRecurrence('digest', tick, { of: 'b' }, HOURLY);
    expect(again).toMatchObject({ created: false });
    expect(await inspector.list('scheduled')).toMatchObject([{ payload: { of: 'b' }, dueAt: again.nextAt }]);
    const moved = await producer.upsertRecurrence('digest', tick, { of: 'b' }, { everyMs: HOUR_MS, offsetMs: '1m' });
    expect(moved.nextAt!.getTime() % HOUR_MS).toBe(60_000);
    expect(await inspector.list('scheduled')).toMatchObject([{ dueAt: moved.nextAt }]);
    expect(await producer.recurrences()).toHaveLength(1);
  });

  it('is gone once it is removed, with the job that waits', async () => {
    const { producer, inspector } = await start();
    const digest = await producer.upsertRecurrence('digest', tick, { of: 'a' }, HOURLY);
    expect(await producer.removeRecurrence(digest)).toBe(true);
    expect(await producer.removeRecurrence(digest)).toBe(false);
    expect(await producer.recurrence(digest)).toBeNull();
    expect(await inspector.counts()).toMatchObject({ scheduled: 0, due: 0 });
  });

  it('runs at each of its instants, and tells its handler which one it is', async () => {
    const { producer, get } = await start();
    await producer.upsertRecurrence('fast', tick, { of: 'a' }, { everyMs: 200, onMissed: 'all' });
    const handlers = get(Occurrences);
    await until('it has run three times', () => handlers.seen.length >= 3);
    const [first] = handlers.seen;
    expect(first).toEqual({
      id: `fast@${first!.dueAt.getTime()}`,
      payload: { of: 'a' },
      recurrence: { id: 'fast', at: first!.dueAt, missed: expect.any(Boolean) },
      dueAt: first!.dueAt,
    });
    const { instants } = handlers;
    expect(instants).toEqual(instants.map((_, i) => instants[0]! + i * 200));
    expect(instants[0]! % 200).toBe(0);
    const view = await producer.recurrence('fast');
    expect(view!.lastAt!.getTime()).toBeGreaterThanOrEqual(instants[2]!);
    expect(view!.count).toBeGreaterThanOrEqual(3);
  });

  it('by cron expressions runs at each wall time', async () => {
    const { producer, get } = await start();
    await producer.upsertRecurrence('seconds', tick, { of: 'a' }, { cron: '* * * * * *', onMissed: 'all' });
    const handlers = get(Occurrences);
    await until('it has run three times', () => handlers.seen.length >= 3);
    const { instants } = handlers;
    expect(instants).toEqual(instants.map((_, i) => instants[0]! + i * 1_000));
    expect(instants[0]! % 1_000).toBe(0);
  });

  it('can be pulled, and a popped job tells of it too', async () => {
    const { producer, consumer } = await start({ autoStart: false });
    await producer.upsertRecurrence('fast', tick, { of: 'a' }, { everyMs: 200 });
    for (let i = 0; i < 2; i++) {
      const [job] = await consumer.pop({ waitMs: '10s' });
      expect(job!.recurrence).toMatchObject({ id: 'fast', at: expect.any(Date) });
      expect(await job!.complete()).toBe(true);
    }
  });

  it('other jobs tell of no recurrence, even if their id looks like it', async () => {
    const { producer, inspector, get } = await start();
    await producer.dispatch(tick, { of: 'a' }, { id: 'nobody@1800000000000' });
    const handlers = get(Occurrences);
    await until('it has run', () => handlers.seen.length === 1);
    expect(handlers.seen[0]!.recurrence).toBeUndefined();
    const job = await producer.schedule(tick, { of: 'a' }, { delay: '1h' });
    expect(await inspector.job(job)).not.toHaveProperty('recurrence');
  });
});

describe('an id that an occurrence would have', () => {
  it('is refused where the recurrence exists, and nothing of the call is written', async () => {
    const { producer, inspector } = await start({ autoStart: false });
    await producer.upsertRecurrence('digest', tick, { of: 'a' }, HOURLY);
    const id = 'digest@1800000000000';
    const refusal = {
      code: 'INVALID_SCHEDULE',
      jobId: id,
      message: expect.stringContaining("an occurrence of the recurrence 'digest' of queue 'default'"),
    };
    await expect(producer.schedule(tick, { of: 'a' }, { id })).rejects.toMatchObject(refusal);
    await expect(producer.schedule(tick, { of: 'a' }, { id, onDuplicate: 'replace' })).rejects.toMatchObject(refusal);
    await expect(producer.dispatch(tick, { of: 'a' }, { id })).rejects.toMatchObject(refusal);
    const items = [
      { job: tick, payload: { of: 'a' } },
      { job: tick, payload: { of: 'a' }, options: { id } },
    ] as const;
    await expect(producer.scheduleMany(items)).rejects.toMatchObject({
      ...refusal,
      message: expect.stringContaining('scheduleMany: item 1: '),
    });
    expect(await inspector.counts()).toMatchObject({ scheduled: 1, due: 0 });
  });

  it("is anybody's in another queue, and after the recurrence is removed", async () => {
    const { producer } = await start({ autoStart: false });
    await producer.upsertRecurrence('digest', tick, { of: 'a' }, HOURLY);
    const id = 'digest@1800000000000';
    expect(await producer.schedule(tick, { of: 'a' }, { id, queue: 'mail' })).toMatchObject({ created: true });
    await producer.removeRecurrence('digest');
    expect(await producer.schedule(tick, { of: 'a' }, { id })).toMatchObject({ created: true });
  });
});

it('an occurrence that somebody cancels is skipped, and the next one waits', async () => {
  const { producer, inspector } = await start({ autoStart: false });
  const { nextAt } = await producer.upsertRecurrence('digest', tick, { of: 'a' }, HOURLY);
  expect(await producer.cancel(`digest@${nextAt!.getTime()}`)).toBe(true);
  const next = new Date(nextAt!.getTime() + HOUR_MS);
  await until('the next one waits', async () => (await inspector.nextDueAt())?.getTime() === next.getTime());
  expect(await producer.recurrence('digest')).toMatchObject({ nextAt: next, count: 0, lastAt: null });
});

it('an occurrence that somebody moves is moved alone', async () => {
  const { producer, get } = await start();
  const { nextAt } = await producer.upsertRecurrence('digest', tick, { of: 'a' }, HOURLY);
  const job = `digest@${nextAt!.getTime()}`;
  expect(await producer.runNow(job)).toBe(true);
  const handlers = get(Occurrences);
  await until('it has run', () => handlers.seen.length === 1);
  expect(handlers.seen[0]).toMatchObject({ id: job, recurrence: { at: nextAt, missed: false } });
  const next = new Date(nextAt!.getTime() + HOUR_MS);
  expect(await producer.recurrence('digest')).toMatchObject({ nextAt: next, lastAt: nextAt, count: 1 });
});

it('`scheduled` is told of a run that somebody asked for, in the process that asked', async () => {
  const { producer, events } = await start({ autoStart: false });
  const told: ScheduledQueueEvent[] = [];
  events.events$.subscribe((event) => told.push(event));
  await producer.upsertRecurrence('digest', tick, { of: 'a' }, HOURLY);
  const job = await producer.runRecurrenceNow('digest');
  expect(told).toEqual([{ type: 'scheduled', queue: 'default', id: job.id, name: 'tick', dueAt: job.dueAt }]);
});
