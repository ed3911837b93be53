import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { ScheduledQueueAdapter } from '../../../lib/bull-board/index.js';
import {
  defineScheduledJob,
  InvalidOptionsError,
  OnScheduledJob,
  type ScheduledJob,
  UnrecoverableJobError,
} from '../../../lib/index.js';
import { TestBoard } from '../../support/board.js';
import { type QueueApp, startApp, stopApps } from '../../support/queue-app.js';
import { stopTestedApps, testedApp } from '../../support/tested-app.js';
import { until } from '../../support/wait.js';

/** Whatever is stored, it answers values that JSON does not have. */
const rich = {
  id: 'rich',
  encode: () => 'stored',
  decode: () => ({ big: 2n ** 60n, map: new Map([['a', 1]]), at: new Date('2027-01-01T00:00:00Z') }),
};
const round = {
  id: 'round',
  encode: () => 'stored',
  decode: () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    return circle;
  },
};
const SECRET = { user: 7, password: 'hunter2' };

@Injectable()
class Handlers {
  @OnScheduledJob('login', { queue: 'secret' })
  async login(_: unknown, job: ScheduledJob): Promise<object> {
    await job.progress({ step: 1, ...SECRET });
    return { cards: [SECRET] };
  }

  @OnScheduledJob('dies', { queue: 'secret' })
  dies(): void {
    throw new UnrecoverableJobError('no use');
  }

  @OnScheduledJob('nightly', { queue: 'secret', cron: '0 3 * * *', recurrencePayload: SECRET })
  nightly(): void {}
}

let app: QueueApp;
let board: TestBoard;
const stored = (queue: string) => ({ queue, id: 'one' });

beforeAll(async () => {
  app = await startApp([Handlers], {
    redact: ['password'],
    codecs: [rich, round],
    queues: { secret: { keepCompleted: 10 } },
  });
  board = await TestBoard.start(app);
  const { producer } = app;
  for (const queue of ['secret', 'many', 'encoded']) board.addQueue({ queue, producer });
  board.addQueue({ queue: 'many', prefix: 'read-only/', readOnlyMode: true, producer });
});

afterAll(async () => {
  await board?.stop();
  await stopApps();
});
afterEach(() => stopTestedApps());

describe('a redacted property', () => {
  const hidden = { user: 7, password: '[redacted]' };

  it('of payload, headers, result and progress does not reach the board', async () => {
    const headers = { password: 'hunter2', trace: 'a1' };
    const job = await app.producer.dispatch('login', SECRET, { ...stored('secret'), headers });
    await until('it has completed', async () => (await app.inspector.job(job))!.state === 'completed');
    const { body } = await board.get('/queues/secret/one');
    expect(body.job).toMatchObject({
      data: hidden,
      returnValue: { cards: [hidden] },
      progress: { step: 1, ...hidden },
      opts: { headers: { password: '[redacted]', trace: 'a1' } },
    });
    const { body: list } = await board.get('/queues?activeQueue=secret');
    expect(JSON.stringify([body, list])).not.toContain('hunter2');
    expect(list.queues[0].jobs).toContainEqual(body.job);
    // The inspector answers whole.
    expect((await app.inspector.job(job))!.payload).toEqual(SECRET);
  });

  it('of a scheduler does not reach it either', async () => {
    const { body } = await board.get('/job-schedulers?queueName=secret');
    expect(body.schedulers).toEqual([expect.objectContaining({ id: 'nightly', template: { data: hidden } })]);
  });

  it('is not scheduled as what stands for it, when its job is duplicated', async () => {
    const { started } = await app.inspector.stats({ queue: 'secret' });
    const answer = await board.ask('POST', '/queues/secret/add', { name: 'login', data: hidden, options: {} });
    expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining("'[redacted]'") } });
    expect(await app.inspector.stats({ queue: 'secret' })).toMatchObject({ started });
  });
});

it('a job that is duplicated keeps the version of its payload', async () => {
  const order = defineScheduledJob<{ cents: number }>('order', { queue: 'many', version: 3 });
  await app.producer.schedule(order, { cents: 7 }, { id: 'versioned', delay: '1h' });
  const { name, data, opts } = (await board.get('/queues/many/versioned')).body.job;
  expect(opts).toMatchObject({ version: 3 });
  const { body } = await board.ask('POST', '/queues/many/add', { name, data, options: opts });
  const copy = await app.inspector.job(body.job.id, { queue: 'many' });
  expect(copy).toMatchObject({ name: 'order', version: 3, payload: { cents: 7 } });
  for (const id of ['versioned', body.job.id]) await app.producer.cancel({ id, queue: 'many' });
});

it('a scheduler that a handler declares is refused with 405 when it is removed', async () => {
  const answer = await board.put('/queues/secret/job-schedulers/nightly/remove');
  expect(answer).toMatchObject({ status: 405, body: { message: expect.stringContaining('is declared by') } });
  expect(await app.producer.recurrence({ id: 'nightly', queue: 'secret' })).toMatchObject({ state: 'active' });
});

it('cleaning failed jobs deletes those that died before the grace time, and no others', async () => {
  const adapter = new ScheduledQueueAdapter(app.inspector, { queue: 'secret' });
  const dead = async () => (await app.inspector.counts({ queue: 'secret' })).dead;
  await app.producer.dispatch('dies', null, { queue: 'secret' });
  await until('it is dead', async () => (await dead()) === 1);
  await adapter.clean('failed', 600_000);
  expect(await dead()).toBe(1);
  // It is dead for at least so long: bull-board tells the time, Redis when a job has died.
  await adapter.clean('failed', -1_000);
  expect(await dead()).toBe(0);
});

it('a failed job is not retried where the board allows no retries, whatever its API is asked', async () => {
  board.addQueue({ queue: 'secret', prefix: 'no-retries/', allowRetries: false });
  const job = await app.producer.dispatch('dies', null, { queue: 'secret' });
  await until('it is dead', async () => (await app.inspector.job(job))?.state === 'dead');
  const path = `/queues/${encodeURIComponent('no-retries/secret')}`;
  for (const answer of [await board.put(`${path}/${job.id}/retry`), await board.put(`${path}/retry/failed`)])
    expect(answer).toMatchObject({ status: 405, body: { message: expect.stringContaining('allowRetries: false') } });
  expect((await app.inspector.job(job))?.state).toBe('dead');
});

it('the schedulers of a queue are counted once a minute, and anew when one is removed', async () => {
  const { producer } = app;
  const queue = 'counted';
  board.addQueue({ queue, producer });
  await producer.upsertRecurrence({ id: 'hourly', queue }, 'mail', null, { everyMs: '1h' });
  const lists = jest.spyOn(producer, 'recurrences');
  const counted = async () => (await board.queue(queue)).jobSchedulerCount;
  expect([await counted(), await counted()]).toEqual([1, 1]);
  expect(lists.mock.calls.filter(([options]) => options?.queue === queue)).toHaveLength(1);
  expect(await board.put(`/queues/${queue}/job-schedulers/hourly/remove`)).toMatchObject({ status: 204 });
  expect(await counted()).toBe(0);
  lists.mockRestore();
});

describe('a queue of 10 000 due jobs', () => {
  beforeAll(async () => {
    const items = Array.from({ length: 10_000 }, (_, i) => ({
      job: 'mail',
      payload: { i },
      options: { queue: 'many' },
    }));
    await app.producer.scheduleMany(items);
  });

  it('is shown page by page, in the order of claims', async () => {
    const ids = (jobs: { id: string }[]) => jobs.map(({ id }) => id);
    const { counts, pagination, jobs } = await board.queue('many', 'status=waiting&page=334&jobsPerPage=30');
    expect(counts.waiting).toBe(10_000);
    expect(pagination).toEqual({ pageCount: 334, range: { start: 9_990, end: 10_019 } });
    expect(ids(jobs)).toEqual(ids(await app.inspector.list('due', { queue: 'many', offset: 9_990, limit: 30 })));
    expect(jobs).toHaveLength(10);
    const latest = await board.queue('many', 'jobsPerPage=300');
    expect(ids(latest.jobs)).toEqual(ids(await app.inspector.list('due', { queue: 'many', limit: 300 })));
  });

  it('is not shown beyond the first 100 000 jobs of a state, nor in pages of more than 1 000', async () => {
    const beyond = await board.get('/queues?activeQueue=many&status=waiting&page=10002');
    expect(beyond).toMatchObject({ status: 400, body: { message: expect.stringContaining('inspector.find') } });
    const wide = await board.get('/queues?activeQueue=many&status=waiting&jobsPerPage=1001');
    expect(wide).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('expected a whole number from 1 to 1000') },
    });
  });

  it('is changed by nobody where the board may only look', async () => {
    const name = encodeURIComponent('read-only/many');
    for (const path of ['empty', 'pause', 'promote', 'clean/failed'])
      expect(await board.put(`/queues/${name}/${path}`)).toMatchObject({
        status: 405,
        body: { error: { key: 'ERRORS.QUEUE_READ_ONLY' } },
      });
    expect(await app.inspector.counts({ queue: 'many' })).toMatchObject({ due: 10_000 });
  });

  it('is emptied in one call', async () => {
    expect(await board.put('/queues/many/empty')).toMatchObject({ status: 200 });
    expect(await app.inspector.counts({ queue: 'many' })).toMatchObject({ due: 0 });
  });
});

it('a payload that JSON does not have is shown as far as JSON goes, and hides no other job of the page', async () => {
  for (const [codec, id] of [
    [rich, 'one'],
    [round, 'two'],
  ] as const) {
    const encoder = await startApp([], { prefix: app.prefix, role: 'producer', codec });
    await encoder.producer.schedule('pack', {}, { queue: 'encoded', id });
  }
  await app.producer.schedule('plain', { a: 1 }, { queue: 'encoded' });
  const { jobs } = await board.queue('encoded', 'status=waiting');
  expect(jobs).toHaveLength(3);
  expect((await board.get('/queues/encoded/two')).body.job).not.toHaveProperty('data');
  expect((await board.get('/queues/encoded/one')).body.job.data).toEqual({
    big: '1152921504606846976',
    map: { a: 1 },
    at: '2027-01-01T00:00:00.000Z',
  });
});

it('the board works on the test kit as in production', async () => {
  const { inspector, producer } = await testedApp([], { redact: ['password'] });
  const ofTest = await TestBoard.start({ inspector });
  ofTest.addQueue({ queue: 'default', producer });
  const job = await producer.schedule('login', SECRET, { delay: '1h' });
  expect((await ofTest.get(`/queues/default/${job.id}`)).body).toMatchObject({
    status: 'delayed',
    job: { data: { password: '[redacted]' }, delay: 3_600_000 },
  });
  expect(await ofTest.put(`/queues/default/${job.id}/promote`)).toMatchObject({ status: 204 });
  expect(await ofTest.queue('default')).toMatchObject({ counts: { waiting: 1, delayed: 0 } });
  await ofTest.stop();
});

it.each([
  ['no options', undefined, 'queue: got undefined, expected the name'],
  ['no queue', {}, 'queue: got undefined, expected the name'],
  ['a queue that cannot be one', { queue: 'a b' }, 'queue: got "a b"'],
  ['a misspelt option', { queue: 'a', readonlyMode: true }, "did you mean 'readOnlyMode'?"],
  ['a word in place of a flag', { queue: 'a', readOnlyMode: 'yes' }, 'readOnlyMode: got "yes", expected true or false'],
  ['what is no producer', { queue: 'a', producer: {} }, 'producer: got an object, expected the ScheduledQueueProducer'],
])('an adapter with %s is refused', (_, options, message) => {
  const make = () => new ScheduledQueueAdapter(app.inspector, options as never);
  expect(make).toThrow(InvalidOptionsError);
  expect(make).toThrow(message);
});

it('an adapter without an inspector is refused', () => {
  const make = () => new ScheduledQueueAdapter(app.producer as never, { queue: 'a' });
  expect(make).toThrow(
    'ScheduledQueueAdapter: inspector: got a ScheduledQueueProducer, expected the ScheduledQueueInspector',
  );
});
