import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob, UnrecoverableJobError } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

@Injectable()
class Handlers {
  private release = () => {};
  readonly held = new Promise<void>((resolve) => {
    this.release = resolve;
  });

  @OnScheduledJob('hold')
  async hold(): Promise<void> {
    await this.held;
  }

  @OnScheduledJob('die')
  die(): void {
    throw new UnrecoverableJobError('the account is closed');
  }

  letGo(): void {
    this.release();
  }
}

@Injectable()
class NewHandlers {
  runs = 0;

  @OnScheduledJob('new')
  handle(): void {
    this.runs++;
  }
}

afterEach(stopApps);

const queues = { default: { concurrency: 1, keepCompleted: 10, leaseMs: 1_000 } };

it('explain follows a job from its schedule to its end', async () => {
  const { producer, inspector, get, consumer } = await startApp([Handlers], { queues, workerId: 'w1' });
  const code = async (ref: Parameters<typeof inspector.explain>[0]) => (await inspector.explain(ref)).code;
  expect(await inspector.explain('nobody')).toEqual({
    code: 'unknown',
    message: `Queue 'default' has no job 'nobody'. It may have completed (keepCompleted keeps the last 10 completed jobs); it may have been discarded or cancelled (discarded and cancelled jobs are not kept, as keepEnded is 0); or it was removed or purged, or was never scheduled in this queue.`,
  });

  const job = await producer.schedule('hold', null, { id: 'r7', at: new Date('2099-01-01T00:00:00Z') });
  expect(await inspector.explain(job)).toEqual({
    code: 'not-due',
    message: `Job 'hold' (r7) of queue 'default' is due at 2099-01-01T00:00:00.000Z.`,
  });

  await producer.runNow(job);
  await until('it runs', async () => (await code(job)) === 'active');
  expect((await inspector.explain(job)).message).toMatch(
    /is active in worker 'w1' \(last heard of at 20\S+Z\), in attempt 1/,
  );

  const behind = await producer.dispatch('hold', null);
  expect(await inspector.explain(behind)).toEqual({
    code: 'behind',
    message: `Job 'hold' (${behind.id}) of queue 'default' is due and waits for room in worker 'w1'; in the queue, 1 due and 1 active.`,
  });

  get(Handlers).letGo();
  await until('it completes', async () => (await code(job)) === 'completed');
  const dead = await producer.dispatch('die', null);
  await until('it dies', async () => (await code(dead)) === 'dead');
  expect((await inspector.explain(dead)).message).toContain('(unrecoverable): the account is closed');

  await consumer.stop();
  const orphan = await producer.dispatch('hold', null);
  expect(await code(orphan)).toBe('no-handler');
});

it('a job that no worker handles waits and holds up nobody, until a process that handles it comes', async () => {
  const old = await startApp([Handlers], { queues });
  const unknown = await old.producer.dispatch('new', null);
  old.get(Handlers).letGo();
  const known = await old.producer.dispatch('hold', null);
  await until('the other runs', async () => (await old.inspector.job(known))?.state === 'completed');
  expect(await old.inspector.explain(unknown)).toEqual({
    code: 'no-handler',
    message: `Job 'new' (${unknown.id}) of queue 'default' is due, but no worker that runs at present handles that name: it waits for one that does.`,
  });
  expect(await old.inspector.job(unknown)).toMatchObject({ state: 'due', attempts: 0 });

  const newer = await startApp([NewHandlers], { queues, prefix: old.prefix });
  await until('it has run', () => newer.get(NewHandlers).runs === 1);
  expect(await old.inspector.explain(unknown)).toMatchObject({ code: 'completed' });
});

it('a job that its preferred worker, or a limit over all processes, keeps waiting says so', async () => {
  const start = (workerId: string, options: object) =>
    startApp([Handlers], {
      workerId,
      prefix,
      queues: { default: { concurrency: 1, stealAfterMs: 600_000, ...options } },
    });
  const { prefix, producer, inspector, get } = await startApp([Handlers], { queues, workerId: 'w1' });
  const running = await producer.dispatch('hold', null, { worker: 'w1' });
  await until('it runs', async () => (await inspector.job(running))?.state === 'active');
  const preferring = await producer.schedule('hold', null, { worker: 'w1' });
  const other = await start('w2', { globalConcurrency: 1, rateLimit: { max: 1, perMs: '1h' } });
  const leftUntil = new Date(preferring.dueAt!.getTime() + 600_000).toISOString();
  expect(await other.inspector.explain(preferring)).toEqual({
    code: 'waiting-for-worker',
    message: `Job 'hold' (${preferring.id}) of queue 'default' is due and left to worker 'w1', which it prefers, until ${leftUntil}; then any may take it.`,
  });
  const common = await producer.dispatch('hold', null);
  expect(await other.inspector.explain(common)).toEqual({
    code: 'concurrency',
    message: `Job 'hold' (${common.id}) of queue 'default' is due, but as many jobs run as the queue's globalConcurrency lets, 1.`,
  });
  get(Handlers).letGo();
  other.get(Handlers).letGo();
  await until('all that may have run', async () => (await inspector.counts()).active === 0);
});

it('a job that the rate keeps waiting says so', async () => {
  const options = { queues: { default: { rateLimit: { max: 1, perMs: '1h' } } } } as const;
  const { producer, inspector } = await startApp([NewHandlers], options);
  const first = await producer.dispatch('new', null);
  await until('it has run', async () => (await inspector.job(first)) === null);
  const second = await producer.dispatch('new', null);
  const { code, message } = await inspector.explain(second);
  expect(code).toBe('rate-limited');
  expect(message).toContain("is due, but the queue's rateLimit of 1 in 1 h is used up; the next job may start at 20");
});
