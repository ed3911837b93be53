import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob, ScheduledJob } from '../../../lib/index.js';
import { SCRIPTS, type ScriptName } from '../../../lib/store/redis/scripts/embedded.js';
import { type QueueApp, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { takesTurn } from '../../support/takes-turn.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/wait.js';

@Injectable()
class Handlers {
  readonly runs: { id: string; attempt: number }[] = [];

  @OnScheduledJob('work')
  work(_payload: unknown, { id, attempt }: ScheduledJob): void {
    this.runs.push({ id, attempt });
  }
}

let proxy: TcpProxy;

beforeEach(async () => {
  proxy = await TcpProxy.start(redisUrl());
});

afterEach(async () => {
  await stopApps();
  await proxy.stop();
});

const calls = (script: ScriptName) => (request: string) => request.includes(SCRIPTS[script].sha);

/** The script is in Redis' cache by then, and the connections stand. */
async function warmedUp(app: QueueApp): Promise<void> {
  await app.producer.schedule('warm-up', null, { delay: '1h', id: 'warm-up' });
  await app.producer.cancel('warm-up');
}

it('a schedule whose reply is lost is there once, and is answered as if nothing had happened', async () => {
  const app = await startApp([], { connection: proxy.url });
  await warmedUp(app);
  const cut = proxy.cutOnce(calls('schedule'));
  const ref = await app.producer.schedule('work', 1, { delay: '1h' });
  await cut;
  expect(ref.created).toBe(true);
  expect(await app.inspector.counts()).toEqual({ scheduled: 1, due: 0, active: 0, completed: 0, dead: 0 });
  expect((await app.inspector.list('scheduled')).map(({ id }) => id)).toEqual([ref.id]);
  expect(await app.inspector.stats()).toMatchObject({ scheduled: 2 });
});

it('a schedule whose reply is lost runs once, even when its job has ended before the call is sent again', async () => {
  const worker = await startApp([Handlers]);
  const app = await startApp([], { connection: proxy.url, prefix: worker.prefix, role: 'producer' });
  await warmedUp(app);
  // The proxy stays closed until the job has run and is gone.
  const cut = proxy.cutOnce((request, reply) => {
    const hit = calls('schedule')(request) && reply !== '';
    if (hit) proxy.refuse();
    return hit;
  });
  const scheduling = app.producer.schedule('work', 1);
  await cut;
  const { runs } = worker.get(Handlers);
  await until('the job has run', async () => (await worker.inspector.stats()).completed === 1);
  proxy.accept();
  const ref = await scheduling;
  expect(ref.created).toBe(true);
  expect(runs).toEqual([{ id: ref.id, attempt: 1 }]);
  expect(await worker.inspector.stats()).toMatchObject({ scheduled: 2, started: 1, completed: 1 });
});

it('a claim whose reply is lost hands its jobs out again at once, not after their lease', async () => {
  const app = await startApp([Handlers], { connection: proxy.url, queues: { default: { leaseMs: 60_000 } } });
  const { runs } = app.get(Handlers);
  await app.producer.schedule('work', 0);
  await until('the first job has run', () => runs.length === 1);
  const cut = proxy.cutOnce((request, reply) => takesTurn(request) && reply.includes('::work'));
  const refs = await app.producer.scheduleMany(
    [1, 2, 3].map((payload) => ({ job: 'work', payload, options: { delay: 50 } })),
  );
  await cut;
  await until('the others have run', () => runs.length === 4);
  await until('they are settled', async () => (await app.inspector.stats()).completed === 4);
  expect(
    runs
      .slice(1)
      .map(({ id, attempt }) => `${id} ${attempt}`)
      .sort(),
  ).toEqual(refs.map(({ id }) => `${id} 1`).sort());
  expect(await app.inspector.stats()).toMatchObject({ scheduled: 4, started: 4, completed: 4, recovered: 0 });
  expect(await app.inspector.counts()).toEqual({ scheduled: 0, due: 0, active: 0, completed: 0, dead: 0 });
});

it('a settlement whose reply is lost counts once', async () => {
  const app = await startApp([Handlers], { connection: proxy.url });
  const ended: string[] = [];
  app.events.events$.subscribe((event) => ended.push(event.type));
  const { runs } = app.get(Handlers);
  await app.producer.schedule('work', 0);
  await until('the first job has run', () => ended.includes('completed'));
  const cut = proxy.cutOnce((request) => takesTurn(request) && runs.length === 2);
  await app.producer.schedule('work', 1);
  await cut;
  await until('the second is told as completed', () => ended.filter((type) => type === 'completed').length === 2);
  expect(ended).not.toContain('leaseLost');
  expect(await app.inspector.stats()).toMatchObject({ scheduled: 2, started: 2, completed: 2, recovered: 0 });
  expect(await app.inspector.counts()).toEqual({ scheduled: 0, due: 0, active: 0, completed: 0, dead: 0 });
});

it('a cancel whose reply is lost answers true, and counts once', async () => {
  const app = await startApp([], { connection: proxy.url });
  await warmedUp(app);
  const ref = await app.producer.schedule('work', 1, { delay: '1h' });
  const cut = proxy.cutOnce(calls('cancel'));
  const cancelled = await app.producer.cancel(ref);
  await cut;
  expect(cancelled).toBe(true);
  expect(await app.producer.cancel(ref)).toBe(false);
  expect(await app.inspector.stats()).toMatchObject({ scheduled: 2, cancelled: 2 });
});

it('a runNow whose reply is lost answers true, even when the job has run before the call is sent again', async () => {
  const worker = await startApp([Handlers]);
  const app = await startApp([], { connection: proxy.url, prefix: worker.prefix, role: 'producer' });
  await warmedUp(app);
  const ref = await app.producer.schedule('work', 1, { delay: '1h' });
  await app.producer.reschedule(ref, { delay: '2h' });
  const cut = proxy.cutOnce((request) => {
    const hit = calls('reschedule')(request);
    if (hit) proxy.refuse();
    return hit;
  });
  const running = app.producer.runNow(ref);
  await cut;
  await until('the job has run', async () => (await worker.inspector.stats()).completed === 1);
  proxy.accept();
  expect(await running).toBe(true);
  expect(worker.get(Handlers).runs).toEqual([{ id: ref.id, attempt: 1 }]);
});

it('a pop whose reply is lost hands its jobs out all the same, and what is then said of one counts once', async () => {
  const app = await startApp([], { connection: proxy.url, queues: { default: { leaseMs: 60_000 } } });
  await warmedUp(app);
  expect(await app.consumer.pop()).toEqual([]);
  const refs = await app.producer.scheduleMany([1, 2, 3].map((payload) => ({ job: 'work', payload })));
  const cut = proxy.cutOnce((request, reply) => takesTurn(request) && reply.includes('::work'));
  const jobs = await app.consumer.pop({ count: 3 });
  await cut;
  expect(jobs.map(({ id, attempt }) => `${id} ${attempt}`)).toEqual(refs.map(({ id }) => `${id} 1`));
  for (const say of [
    () => jobs[0]!.extend('1h'),
    () => jobs[0]!.complete(),
    () => jobs[1]!.fail(new Error('no')),
    () => jobs[2]!.snooze('1h'),
  ]) {
    const lost = proxy.cutOnce(takesTurn);
    expect(await say()).toBe(true);
    await lost;
  }
  const stats = { started: 3, completed: 1, failed: 1, retried: 1, snoozed: 1, recovered: 0 };
  expect(await app.inspector.stats()).toMatchObject(stats);
});
