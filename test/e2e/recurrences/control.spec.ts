import { afterEach, describe, expect, it } from '@jest/globals';
import { Occurrences } from '../../support/occurrences.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

const HOUR_MS = 3_600_000;
const HOURLY = { everyMs: HOUR_MS } as const;

afterEach(stopApps);

const start = (options = {}) => startApp([Occurrences], options);

describe('a paused recurrence', () => {
  it('says why, has no job waiting, and none comes', async () => {
    const { producer, inspector, get } = await start();
    const fast = await producer.upsertRecurrence('fast', 'tick', null, { everyMs: 200 });
    const handlers = get(Occurrences);
    await until('it runs', () => handlers.seen.length > 0);
    expect(await producer.pauseRecurrence(fast, { reason: 'on holiday' })).toBe(true);
    expect(await producer.pauseRecurrence(fast)).toBe(false);
    const view = await producer.recurrence('fast');
    expect(view).toMatchObject({ state: 'paused', reason: 'on holiday', nextAt: null });
    expect(await inspector.counts()).toMatchObject({ scheduled: 0, due: 0 });
    const before = (await inspector.stats()).scheduled;
    // A job that waits, as many instants of the rule pass meanwhile.
    await producer.schedule('tick', null, { delay: 800 });
    await until('that one has run', () => handlers.seen.at(-1)?.recurrence === undefined);
    expect((await inspector.stats()).scheduled).toBe(before + 1);
  });

  it('goes on with the first instant after now once it is resumed, and makes up for nothing', async () => {
    const { producer, get } = await start();
    await producer.upsertRecurrence('fast', 'tick', null, { everyMs: 200, onMissed: 'all' });
    const handlers = get(Occurrences);
    await until('it runs', () => handlers.seen.length > 0);
    await producer.pauseRecurrence('fast');
    const { lastAt } = (await producer.recurrence('fast'))!;
    await until('instants have passed', () => Date.now() > lastAt!.getTime() + 1_000);
    expect(await producer.resumeRecurrence('fast')).toBe(true);
    expect(await producer.resumeRecurrence('fast')).toBe(false);
    await until('it runs again', () => handlers.instants.at(-1)! > lastAt!.getTime());
    const after = handlers.instants.filter((at) => at > lastAt!.getTime());
    expect(after[0]).toBeGreaterThan(lastAt!.getTime() + 800);
    expect(await producer.recurrence('fast')).not.toHaveProperty('reason');
  });

  it('stays paused when it is upserted again', async () => {
    const { producer, inspector } = await start();
    await producer.upsertRecurrence('digest', 'tick', null, HOURLY);
    await producer.pauseRecurrence('digest', { reason: 'no' });
    expect(await producer.upsertRecurrence('digest', 'tick', 1, HOURLY)).toMatchObject({
      created: false,
      nextAt: null,
    });
    expect(await producer.recurrence('digest')).toMatchObject({ state: 'paused', reason: 'no', payload: 1 });
    expect(await inspector.counts()).toMatchObject({ scheduled: 0 });
  });

  it('lets what runs go on', async () => {
    const { producer, inspector, get } = await start();
    await producer.upsertRecurrence('slow', 'slow', null, { everyMs: 200 });
    const handlers = get(Occurrences);
    await until('it runs', () => handlers.running > 0);
    await producer.pauseRecurrence('slow');
    expect((await inspector.counts()).active).toBeGreaterThan(0);
    handlers.release();
    await until('it has completed', async () => (await inspector.counts()).active === 0);
    expect((await inspector.stats()).completed).toBeGreaterThan(0);
  });
});

it('a recurrence that does not exist cannot be paused, resumed or run', async () => {
  const { producer } = await start({ autoStart: false });
  expect(await producer.pauseRecurrence('none')).toBe(false);
  expect(await producer.resumeRecurrence('none')).toBe(false);
  await expect(producer.runRecurrenceNow('none')).rejects.toMatchObject({ code: 'INVALID_SCHEDULE' });
  await expect(producer.backfillRecurrence('none', { from: 1e12, to: 1e12 })).rejects.toMatchObject({
    code: 'INVALID_SCHEDULE',
  });
});

describe('run now', () => {
  it('runs beside the rule: the next occurrence stays as it was, and is not counted', async () => {
    const { producer, get } = await start();
    const { nextAt } = await producer.upsertRecurrence('digest', 'tick', { of: 'a' }, HOURLY);
    const job = await producer.runRecurrenceNow('digest');
    expect(job).toEqual({
      id: expect.stringMatching(/^digest@\d+$/),
      queue: 'default',
      name: 'tick',
      dueAt: expect.any(Date),
      created: true,
      status: 'created',
    });
    const handlers = get(Occurrences);
    await until('it has run', () => handlers.seen.length === 1);
    expect(handlers.seen[0]).toMatchObject({
      id: job.id,
      payload: { of: 'a' },
      recurrence: { id: 'digest', missed: false },
    });
    expect(await producer.recurrence('digest')).toMatchObject({ nextAt, count: 0, lastAt: null });
  });

  it('runs while the recurrence is paused, and leaves it so', async () => {
    const { producer, get } = await start();
    await producer.upsertRecurrence('digest', 'tick', null, HOURLY);
    await producer.pauseRecurrence('digest');
    await producer.runRecurrenceNow('digest');
    await until('it has run', () => get(Occurrences).seen.length === 1);
    expect(await producer.recurrence('digest')).toMatchObject({ state: 'paused' });
  });

  it('twice at once makes two jobs', async () => {
    const { producer, get } = await start();
    await producer.upsertRecurrence('digest', 'tick', null, HOURLY);
    const jobs = await Promise.all([producer.runRecurrenceNow('digest'), producer.runRecurrenceNow('digest')]);
    await until('both have run', () => get(Occurrences).seen.length === 2);
    expect(get(Occurrences).ids.sort()).toEqual(jobs.map(({ id }) => id).sort());
  });
});

describe('a backfill', () => {
  const from = new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 10 * HOUR_MS);
  const to = new Date(from.getTime() + 3 * HOUR_MS);
  const expected = [0, 1, 2].map((i) => from.getTime() + i * HOUR_MS);

  it('runs each instant of the range, in order and at once, though the recurrence is paused', async () => {
    const { producer, get } = await start({ queues: { default: { concurrency: 1 } } });
    await producer.upsertRecurrence('digest', 'tick', { of: 'a' }, { ...HOURLY, overlap: 'skip', limit: 1 });
    await producer.pauseRecurrence('digest');
    expect(await producer.backfillRecurrence('digest', { from, to })).toBe(3);
    const handlers = get(Occurrences);
    await until('all have run', () => handlers.seen.length === 3);
    expect(handlers.instants).toEqual(expected);
    expect(handlers.ids).toEqual(expected.map((at) => `digest@${at}`));
    expect(await producer.recurrence('digest')).toMatchObject({ state: 'paused', count: 0 });
  });

  it('runs each instant once, however often it is asked for', async () => {
    const { producer, inspector, get } = await start();
    await producer.upsertRecurrence('digest', 'tick', null, HOURLY);
    await producer.backfillRecurrence('digest', { from, to });
    await until('all have run', async () => (await inspector.stats()).completed === 3);
    expect(await producer.backfillRecurrence('digest', { from, to })).toBe(0);
    const later = new Date(to.getTime() + HOUR_MS);
    expect(await producer.backfillRecurrence('digest', { from, to: later })).toBe(1);
    await until('the one more has run', () => get(Occurrences).seen.length === 4);
  });

  it('of thousands is scheduled whole', async () => {
    const { producer, inspector } = await start({ autoStart: false });
    await producer.upsertRecurrence('minutes', 'tick', null, { cron: '* * * * *' });
    // Paused, so that no occurrence of its own becomes due beside the backfill.
    await producer.pauseRecurrence('minutes');
    const begin = Date.UTC(2020, 0, 1);
    const range = { from: begin, to: begin + 10_000 * 60_000 };
    expect(await producer.backfillRecurrence('minutes', range)).toBe(10_000);
    expect((await inspector.counts()).due).toBe(10_000);
    const [first] = await inspector.peek();
    expect(first!.id).toBe(`minutes@${begin}`);
  });
});
