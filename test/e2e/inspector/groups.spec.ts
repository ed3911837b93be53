import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { defineScheduledJob, OnScheduledJob, type ScheduledJob } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

class Mail {
  tenant!: string;
}

const mail = defineScheduledJob('mail', { payload: Mail, group: ({ tenant }) => tenant });
const nightly = defineScheduledJob<{ of: string }>('nightly', { group: ({ of }) => of });

/** As they ran: group, and what told it. */
@Injectable()
class Handlers {
  readonly ran: string[] = [];

  @OnScheduledJob(mail)
  mail(_: Mail, job: ScheduledJob) {
    this.ran.push(`mail ${job.group}`);
  }

  @OnScheduledJob('batch', { batch: { size: 2, waitMs: '10s' } })
  batch(_: unknown[], jobs: ScheduledJob[]) {
    for (const job of jobs) this.ran.push(`batch ${job.group}`);
  }
}

/** The same, and jobs of a declared recurrence, of which one may be due at any time. */
@Injectable()
class HandlersAndRecurrence extends Handlers {
  @OnScheduledJob(nightly, { everyMs: 200, recurrenceId: 'declared', recurrencePayload: { of: 'd:1' } })
  nightly(_: unknown, job: ScheduledJob) {
    this.ran.push(`${job.recurrence?.id} ${job.group}`);
  }
}

afterEach(stopApps);

it('a group reaches handlers, batches and recurrences, declared and upserted', async () => {
  const { producer, get } = await startApp([HandlersAndRecurrence]);
  const { ran } = get(HandlersAndRecurrence);
  await producer.schedule(mail, { tenant: 'a;1' });
  await producer.dispatch(mail, { tenant: 'a' }, { group: null });
  await producer.scheduleMany([
    { job: 'batch', payload: 1, options: { group: 'b' } },
    { job: 'batch', payload: 2, options: { group: 'c' } },
  ]);
  await producer.upsertRecurrence('said', nightly, { of: 'x' }, { everyMs: 200 }, { group: 'said' });
  await producer.upsertRecurrence('asked', nightly, { of: 'asked' }, { everyMs: 200 });
  const expected = ['mail a;1', 'mail undefined', 'batch b', 'batch c', 'declared d:1', 'said said', 'asked asked'];
  await until('all have run', () => expected.every((each) => ran.includes(each)));
  expect([...new Set(ran)].sort()).toEqual([...expected].sort());
});

it('a group reaches pops and all that is inspected of a job, from its schedule to its end', async () => {
  const queues = { default: { keepCompleted: 10, groups: { order: 'fifo' as const } } };
  const { producer, consumer, inspector } = await startApp([], { queues });
  await producer.schedule(mail, { tenant: 'a' }, { id: 'x', delay: '1h' });
  const later = { id: 'x', onDuplicate: 'replace', group: 'b:1' } as const;
  expect(await producer.schedule(mail, { tenant: 'a' }, later)).toMatchObject({ status: 'replaced' });
  await producer.schedule(mail, { tenant: 'a' }, { id: 'none', group: null, delay: '1h' });
  expect(await inspector.job('none')).not.toHaveProperty('group');
  expect(await inspector.job('x')).toMatchObject({ group: 'b:1' });
  expect(await inspector.peek()).toMatchObject([{ id: 'x', group: 'b:1' }]);
  expect(await inspector.list('due')).toMatchObject([{ group: 'b:1' }]);
  const found = async (group: string) => (await inspector.find({ group })).jobs.map(({ id }) => id);
  expect(await found('b:1')).toEqual(['x']);
  expect(await found('a')).toEqual([]);

  const [job] = await consumer.pop({ waitMs: '5s' });
  expect(job).toMatchObject({ id: 'x', group: 'b:1' });
  expect(await inspector.group('b:1')).toMatchObject({ active: 1, waiting: 0, heldBy: 'order' });
  await job!.complete();
  expect(await inspector.list('completed')).toMatchObject([{ id: 'x', group: 'b:1' }]);
  expect(await inspector.groups()).toEqual([]);
});

it('what is set for a group holds over processes, is shown as it was set, and is forgotten by {}', async () => {
  const { prefix, inspector } = await startApp();
  const other = await startApp([], { prefix, role: 'producer' });
  const NONE = {
    group: 'a',
    waiting: 0,
    due: 0,
    active: 0,
    weight: 1,
    isPaused: false,
    pausedUntil: null,
    heldBy: null,
  };
  expect(await inspector.group('a')).toEqual(NONE);
  await inspector.setGroup('a', { weight: 2.5, rateLimit: { max: 5, perMs: '1m' } });
  const rateLimit = { max: 5, perMs: 60_000 };
  expect(await other.inspector.group('a')).toEqual({ ...NONE, weight: 2.5, rateLimit });
  await other.inspector.setGroup('a', { concurrency: 'unlimited' });
  expect(await inspector.groups()).toEqual([{ ...NONE, concurrency: 'unlimited' }]);
  await inspector.setGroup('a', {});
  expect(await other.inspector.groups()).toEqual([]);
});

it('a paused group waits in all processes, and explain says until when', async () => {
  const { producer, inspector, get } = await startApp([Handlers]);
  await inspector.pauseGroup('a');
  expect(await inspector.group('a')).toMatchObject({ isPaused: true, pausedUntil: null, heldBy: 'paused' });
  const job = await producer.schedule(mail, { tenant: 'a' });
  await producer.schedule(mail, { tenant: 'b' });
  const { ran } = get(Handlers);
  await until('the other has run', () => ran.includes('mail b'));
  const what = `Job 'mail' (${job.id}) of queue 'default' is due, but its group 'a' is paused until`;
  expect(await inspector.explain(job)).toEqual({ code: 'group-paused', message: `${what} somebody resumes it.` });
  expect(await inspector.load()).toMatchObject({ due: 0, latenessMs: 0 });
  const before = Date.now();
  await inspector.pauseGroup('a', { forMs: '1h' });
  const { pausedUntil } = await inspector.group('a');
  expect(Math.abs(pausedUntil!.getTime() - before - 3_600_000)).toBeLessThan(60_000);
  expect((await inspector.explain(job)).message).toBe(`${what} ${pausedUntil!.toISOString()}.`);
  await inspector.resumeGroup('a');
  await until('it has run', () => ran.includes('mail a'));
  expect(await inspector.group('a')).toMatchObject({ isPaused: false, waiting: 0, heldBy: null });
});

it('groups lists those with the most waiting jobs first, then by name', async () => {
  const { producer, inspector } = await startApp();
  const options = (group: string) => ({ group, delay: '1h' }) as const;
  const groups = ['b', 'c', 'b', 'a', 'c', 'b', 'aa', 'x'];
  await producer.scheduleMany(groups.map((group) => ({ job: 'work', payload: 1, options: options(group) })));
  expect((await inspector.groups()).map(({ group, waiting }) => `${group} ${waiting}`)).toEqual([
    'b 3',
    'c 2',
    'a 1',
    'aa 1',
    'x 1',
  ]);
  expect((await inspector.groups({ limit: 2 })).map(({ group }) => group)).toEqual(['b', 'c']);
  expect(await inspector.groups({ queue: 'other' })).toEqual([]);
});
