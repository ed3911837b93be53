import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  InvalidScheduleError,
  type JobChain,
  JobOutcome,
  type JobSetDone,
  OnScheduledJob,
  PayloadTooLargeError,
  ScheduledJob,
  type ScheduledQueueEvent,
} from '../../../lib/index.js';
import { type QueueApp, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

const importRow = defineScheduledJob<{ row: number }>('import.row');
const mailCounts = defineScheduledJob<{ to: string }>('mail.counts');
const audit = defineScheduledJob<{ file: string }>('file.audit');
const compress = defineScheduledJob<{ level: number }>('file.compress', { priority: 2 });
const publish = defineScheduledJob('file.publish');
const elsewhere = defineScheduledJob('file.elsewhere', { queue: 'other' });

/** What the handlers have seen. */
const rows: { row: number; set: string | undefined }[] = [];
const mails: { to: string; setDone: JobSetDone | undefined }[] = [];
const steps: { name: string; id: string; payload: unknown; chain: JobChain | undefined; job: ScheduledJob }[] = [];

@Injectable()
class Handlers {
  @OnScheduledJob(importRow)
  row({ row }: { row: number }, job: ScheduledJob) {
    rows.push({ row, set: job.set });
    if (row % 10 === 7) return JobOutcome.discard('empty');
    if (row % 10 === 8) return JobOutcome.deadLetter('spoilt');
  }

  @OnScheduledJob(mailCounts)
  mail({ to }: { to: string }, job: ScheduledJob) {
    mails.push({ to, setDone: job.setDone });
  }

  @OnScheduledJob(audit)
  audit(payload: { file: string }, job: ScheduledJob) {
    note(payload, job);
    return { findings: 3 };
  }

  @OnScheduledJob(compress)
  compress(payload: { level: number }, job: ScheduledJob) {
    note(payload, job);
    return 10n;
  }

  @OnScheduledJob(publish)
  publish(_: undefined, job: ScheduledJob) {
    note(undefined, job);
  }
}

function note(payload: unknown, job: ScheduledJob): void {
  const { id, name, chain } = job;
  steps.push({ name, id, payload, chain, job });
}

describe('sets and chains in an application', () => {
  afterEach(async () => {
    await stopApps();
    for (const list of [rows, mails, steps]) list.length = 0;
  });

  it('mail once, with the counts, when all rows are imported', async () => {
    const { producer, inspector } = await startApp([Handlers]);
    const set = await producer.openSet('import/7', { done: { job: mailCounts, payload: { to: 'ada@example.com' } } });
    expect(set).toEqual({ id: 'import/7', queue: 'default', created: true, state: 'open' });
    const items = Array.from({ length: 40 }, (_, row) => ({
      job: importRow,
      payload: { row },
      options: { set: set.id },
    }));
    await producer.scheduleMany(items);
    expect(await producer.closeSet(set.id)).toBe(true);
    expect(await producer.closeSet(set.id)).toBe(false);
    await until('it has happened', () => mails.length > 0);
    const counts = { total: 40, completed: 32, dead: 4, discarded: 4, cancelled: 0 };
    expect(mails).toEqual([{ to: 'ada@example.com', setDone: { id: 'import/7', ...counts } }]);
    expect(rows).toHaveLength(40);
    expect(rows[0]!.set).toBe('import/7');
    const known = { id: 'import/7', state: 'done', pending: 0, ...counts, openedAt: expect.any(Date) };
    expect(await inspector.set('import/7')).toEqual(known);
    expect(await inspector.sets()).toEqual([known]);
    expect(await inspector.sets({ state: 'open' })).toEqual([]);
    expect(await inspector.set('nowhere')).toBeNull();
    const { jobs } = await inspector.find({ set: 'import/7', states: ['dead'] });
    expect(jobs.map(({ set, tags }) => ({ set, tags }))).toEqual(Array(4).fill({ set: 'import/7', tags: [] }));
  });

  it('run one job after the other, with what the one before has returned', async () => {
    const app = await startApp([Handlers]);
    const events: ScheduledQueueEvent[] = [];
    app.events.events$.subscribe((event) => events.push(event));
    const first = await app.producer.schedule(
      audit,
      { file: 'a.csv' },
      { group: 'tenant', headers: { by: 'ada' }, then: [{ job: compress, payload: { level: 9 } }, { job: publish }] },
    );
    await until('it has happened', () => steps.length === 3);
    expect(steps.map(({ name, payload, chain }) => ({ name, payload, chain }))).toEqual([
      { name: 'file.audit', payload: { file: 'a.csv' }, chain: { id: first.id, step: 1, of: 3, result: undefined } },
      {
        name: 'file.compress',
        payload: { level: 9 },
        chain: { id: first.id, step: 2, of: 3, result: { findings: 3 } },
      },
      // JSON cannot hold what the second one has returned.
      { name: 'file.publish', payload: undefined, chain: { id: first.id, step: 3, of: 3, result: undefined } },
    ]);
    expect(new Set(steps.map(({ id }) => id)).size).toBe(3);
    expect(steps.map(({ job }) => [job.priority, job.group, job.headers])).toEqual([
      [5, 'tenant', { by: 'ada' }],
      [2, 'tenant', { by: 'ada' }],
      [2, 'tenant', { by: 'ada' }],
    ]);
    await until('it has happened', () => events.filter(({ type }) => type === 'completed').length === 3);
    expect(events.filter(({ type }) => type === 'scheduled').map((event) => 'name' in event && event.name)).toEqual([
      'file.audit',
      'file.compress',
      'file.publish',
    ]);
    expect(await app.inspector.stats()).toMatchObject({ scheduled: 3, completed: 3 });
  });

  it('show a chain that waits, and run it when its job is replayed', async () => {
    const { producer, inspector } = await startApp();
    const { id } = await producer.schedule(
      audit,
      { file: 'a' },
      { delay: '1h', then: { job: compress, payload: { level: 1 } } },
    );
    expect(await inspector.job(id)).toMatchObject({ chain: { id, step: 1, of: 2, next: ['file.compress'] } });
  });

  it('complete a popped job, and its chain goes on', async () => {
    const { producer, consumer } = await startApp();
    await producer.openSet('s', { done: { job: publish } });
    await producer.schedule(audit, { file: 'a' }, { set: 's', then: { job: compress, payload: { level: 1 } } });
    await producer.closeSet('s');
    const [first] = await consumer.pop();
    expect(first).toMatchObject({ set: 's', chain: { step: 1, of: 2 } });
    expect(await first!.complete({ n: 1 })).toBe(true);
    const [second] = await consumer.pop();
    expect(second).toMatchObject({
      name: 'file.compress',
      set: 's',
      chain: { id: first!.id, step: 2, result: { n: 1 } },
    });
    await second!.complete();
    const [done] = await consumer.pop();
    expect(done).toMatchObject({ name: 'file.publish', setDone: { id: 's', total: 2, completed: 2 } });
  });

  it('go with prepared jobs', async () => {
    const { producer, consumer, inspector } = await startApp();
    const then = [{ job: compress, payload: { level: 1 }, options: { delay: 5 } }];
    const prepared = JSON.parse(JSON.stringify(await producer.prepare(audit, { file: 'a' }, { set: 's', then })));
    await expect(producer.schedulePrepared(prepared)).rejects.toMatchObject({ reason: 'set-over' });
    await producer.openSet('s');
    await producer.schedulePrepared(prepared);
    expect(await inspector.set('s')).toMatchObject({ pending: 1 });
    const [first] = await consumer.pop();
    await first!.complete('r');
    const [second] = await consumer.pop({ waitMs: 5_000 });
    expect(second).toMatchObject({
      name: 'file.compress',
      payload: { level: 1 },
      chain: { step: 2, of: 2, result: 'r' },
    });
    prepared.steps[0].name = 'two\nlines';
    await expect(producer.schedulePrepared(prepared)).rejects.toThrow(/steps: step 1: name: got/);
  });

  it('tell of a completion job that a call has scheduled', async () => {
    const { producer, events, inspector } = await startApp();
    const told: string[] = [];
    events.events$.subscribe((event) => told.push(event.type));
    await producer.openSet('s', { done: { job: publish } });
    const { id } = await producer.schedule(audit, { file: 'a' }, { set: 's', delay: '1h' });
    await producer.closeSet('s');
    await producer.cancel(id);
    expect(told.sort()).toEqual(['cancelled', 'scheduled', 'scheduled']);
    expect(await inspector.counts()).toMatchObject({ due: 1 });
  });

  const refused: [string, (app: QueueApp) => Promise<unknown>, RegExp][] = [
    ['an id of a set', ({ producer }) => producer.openSet('two\nlines'), /openSet: id: got/],
    ['a set of no id', ({ producer }) => producer.schedule(publish, undefined, { set: '' }), /set: got/],
    [
      'a member of a set that is not there',
      ({ producer }) => producer.schedule(publish, undefined, { set: 'nowhere' }),
      /nowhere/,
    ],
    [
      'an unknown option of openSet',
      ({ producer }) => producer.openSet('s', { donne: 1 } as never),
      /openSet\('s'\): unknown option 'donne'|did you mean 'done'/,
    ],
    [
      'a completion job of another queue',
      ({ producer }) => producer.openSet('s', { queue: 'default', done: { job: elsewhere } }),
      /done: got a job of queue 'other', expected one of the queue of the set, 'default'/,
    ],
    [
      'a completion job with an id',
      ({ producer }) => producer.openSet('s', { done: { job: publish, options: { id: 'x' } as never } }),
      /done: got id, expected none/,
    ],
    [
      'a step of another queue',
      ({ producer }) => producer.schedule(publish, undefined, { then: { job: elsewhere } }),
      /then: step 1: got a job of queue 'other', expected one of queue 'default'/,
    ],
    [
      'a step with an instant',
      ({ producer }) =>
        producer.schedule(publish, undefined, { then: [{ job: publish, options: { at: new Date() } as never }] }),
      /then: step 1: got at, expected none/,
    ],
    [
      'too many steps',
      ({ producer }) => producer.schedule(publish, undefined, { then: Array(101).fill({ job: publish }) }),
      /then: got 101 steps, expected at most 100/,
    ],
    [
      'what is no step',
      ({ producer }) => producer.schedule(publish, undefined, { then: ['x'] as never }),
      /then: step 1: got "x", expected \{ job, payload, options \}/,
    ],
    [
      'a set of a recurrence',
      ({ producer }) =>
        producer.upsertRecurrence('r', audit, { file: 'a' }, { everyMs: 60_000 }, { set: 's' } as never),
      /got the option set, expected none: occurrences cannot be members/,
    ],
  ];
  it.each(refused)('refuse %s before anything is written', async (_, call, message) => {
    const app = await startApp();
    const error = await call(app).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(InvalidScheduleError);
    expect((error as Error).message).toMatch(message);
    expect(await app.inspector.counts()).toMatchObject({ scheduled: 0, due: 0 });
    expect(await app.inspector.sets()).toEqual([]);
  });

  it('refuse payloads that are too large together', async () => {
    const { producer, inspector } = await startApp([], { maxPayloadBytes: 1_000 });
    const file = 'x'.repeat(600);
    const then = { job: audit, payload: { file } };
    await expect(producer.schedule(audit, { file }, { then })).rejects.toBeInstanceOf(PayloadTooLargeError);
    await expect(producer.scheduleMany([{ job: audit, payload: { file }, options: { then } }])).rejects.toBeInstanceOf(
      PayloadTooLargeError,
    );
    expect(await inspector.counts()).toMatchObject({ due: 0 });
  });

  it('let each job of a recurrence begin a chain', async () => {
    const { producer, consumer } = await startApp();
    const then = { job: compress, payload: { level: 1 } };
    await producer.upsertRecurrence('r', audit, { file: 'a' }, { everyMs: 3_600_000 }, { then });
    await producer.runRecurrenceNow('r');
    const [first] = await consumer.pop();
    await first!.complete();
    const [second] = await consumer.pop();
    expect(second).toMatchObject({ name: 'file.compress', chain: { id: first!.id, step: 2, of: 2 } });
  });
});
