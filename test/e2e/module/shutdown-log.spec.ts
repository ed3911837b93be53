import { afterEach, expect, it } from '@jest/globals';
import { OnScheduledJob, type RedisScheduledQueueModuleOptions, ScheduledJob } from '../../../lib/index.js';
import { LogLines } from '../../support/log-lines.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { startOwnServer } from '../../support/redis-server.js';
import { until } from '../../support/wait.js';

// What a shutdown says of the jobs that run.

const JOBS = ['mail.send', 'mail.send', 'mail.send', 'report', 'a', 'b', 'c', 'd', 'e'];

let running: ScheduledJob[] = [];
let open: () => void;
let opened: Promise<void>;

/** Each kind of job waits until the test lets all go on, but for `stuck`. */
class Handlers {
  @OnScheduledJob('mail.send')
  @OnScheduledJob('report')
  @OnScheduledJob('a')
  @OnScheduledJob('b')
  @OnScheduledJob('c')
  @OnScheduledJob('d')
  @OnScheduledJob('e')
  @OnScheduledJob('stuck')
  async run(_payload: unknown, job: ScheduledJob): Promise<void> {
    running.push(job);
    await opened;
    if (job.name === 'stuck') await new Promise(() => {});
  }
}

afterEach(stopApps);

async function startBusy(names: string[], options: RedisScheduledQueueModuleOptions = {}) {
  running = [];
  opened = new Promise((resolve) => {
    open = resolve;
  });
  const log = new LogLines();
  const app = await startApp([Handlers], options, { log });
  await app.producer.scheduleMany(names.map((job) => ({ job, payload: null })));
  await until('all run', () => running.length === names.length);
  return { ...app, log, said: () => log.lines.filter((line) => /waiting/i.test(line)) };
}

it('how many jobs are waited for, the commonest names first, how long at most, and that all have ended', async () => {
  const { app, said } = await startBusy(JOBS);
  const closed = app.close();
  await until('they are waited for', () => said().length === 1);
  open();
  await closed;
  expect(said()).toEqual([
    'log Waiting up to 2 s for 9 running jobs: mail.send (3), report, a, b, c, and 2 other names.',
    'log Done waiting for 9 running jobs: 9 ended.',
  ]);
});

it('how many have ended and how many went back', async () => {
  const { app, said, inspector } = await startBusy(['stuck', 'report', 'stuck'], { shutdownTimeoutMs: 300 });
  expect((await inspector.counts()).active).toBe(3);
  const closed = app.close();
  await until('they are waited for', () => said().length === 1);
  open();
  await closed;
  expect(said()).toEqual([
    'log Waiting up to 300 ms for 3 running jobs: stuck (2), report.',
    'log Done waiting for 3 running jobs: 1 ended, 2 went back to the queue.',
  ]);
});

it('that jobs went back, where nothing is to be waited for', async () => {
  const { app, said } = await startBusy(['stuck'], { shutdownTimeoutMs: 0 });
  await app.close();
  expect(said()).toEqual(['log Done waiting for 1 running job: 1 went back to the queue.']);
});

it('that jobs are left to their leases, where Redis does not answer', async () => {
  const server = await startOwnServer();
  try {
    const { app, said } = await startBusy(['stuck', 'stuck'], { connection: server.url, shutdownTimeoutMs: 200 });
    server.freeze();
    await app.close();
    expect(said()).toEqual([
      'log Waiting up to 200 ms for 2 running jobs: stuck (2).',
      'warn Done waiting for 2 running jobs: 2 could not be settled, as Redis did not answer, and may run again when their leases end.',
    ]);
  } finally {
    server.thaw();
    await server.stop();
  }
});

/** Its time is over at once; then it cleans up for as long as the test lets it. */
class CleansUp {
  static cleaning = 0;
  static cleaned = 0;
  static done: Promise<void>;

  @OnScheduledJob('cleans', { timeoutMs: 100, maxAttempts: 1 })
  async run(_payload: unknown, { signal }: ScheduledJob): Promise<void> {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    CleansUp.cleaning++;
    await CleansUp.done;
    CleansUp.cleaned++;
  }
}

async function startCleaning(options: RedisScheduledQueueModuleOptions = {}) {
  Object.assign(CleansUp, { cleaning: 0, cleaned: 0, done: new Promise<void>((resolve) => (open = resolve)) });
  const log = new LogLines();
  const { app, producer } = await startApp([CleansUp], options, { log });
  await producer.dispatch('cleans', null);
  await until('its time is over', () => CleansUp.cleaning === 1);
  return { app, said: () => log.lines.filter((line) => /waiting/i.test(line)) };
}

it('that handlers which clean up after their time was over are waited for', async () => {
  const { app, said } = await startCleaning();
  const closed = app.close();
  await until('it is waited for', () => said().length === 1);
  open();
  await closed;
  expect(CleansUp.cleaned).toBe(1);
  expect(said()).toEqual([
    'log Waiting up to 2 s for 1 stuck handler: cleans.',
    'log Done waiting for 1 stuck handler: 1 returned.',
  ]);
});

it('that of two handlers whose time is over one returned, and that the time of another was over during the wait', async () => {
  let cleaned = () => {};
  class Two {
    @OnScheduledJob('forever', { timeoutMs: 100, maxAttempts: 1 })
    forever(): Promise<void> {
      return new Promise(() => {});
    }

    @OnScheduledJob('later', { timeoutMs: 1_000, maxAttempts: 1 })
    later(): Promise<void> {
      return new Promise(() => {});
    }

    @OnScheduledJob('cleans', { timeoutMs: 100, maxAttempts: 1 })
    cleans(): Promise<void> {
      return new Promise((resolve) => (cleaned = resolve));
    }
  }
  const log = new LogLines();
  const { app, producer, inspector } = await startApp([Two], {}, { log });
  await producer.dispatch('later', null);
  await producer.scheduleMany(['forever', 'cleans'].map((job) => ({ job, payload: null })));
  await until('the time of both is over', async () => (await inspector.counts()).dead === 2);
  expect((await inspector.counts()).active).toBe(1);
  const said = () => log.lines.filter((line) => /waiting/i.test(line));
  const closed = app.close();
  await until('they are waited for', () => said().length === 1);
  cleaned();
  await closed;
  expect(said()).toEqual([
    'log Waiting up to 2 s for 1 running job: later; and for 2 stuck handlers: forever, cleans.',
    'warn Done waiting for 1 running job and 2 stuck handlers: 1 ended, 1 returned, 2 stuck handlers did not return: forever, later.',
  ]);
});

it('that handlers were cut off which went on after their time was over', async () => {
  const { app, said } = await startCleaning({ shutdownTimeoutMs: 200 });
  await app.close();
  expect(said()).toEqual([
    'log Waiting up to 200 ms for 1 stuck handler: cleans.',
    'warn Done waiting for 1 stuck handler: 1 stuck handler did not return: cleans.',
  ]);
  open();
});

it('nothing, where nothing runs', async () => {
  const { app, said, log } = await startBusy([]);
  await app.close();
  expect(said()).toEqual([]);
  expect(log.starting('warn')).toEqual([]);
});

it('the same where only the consumer stops, and is started again', async () => {
  const { consumer, producer, said } = await startBusy(['report']);
  open();
  await consumer.stop();
  await consumer.start();
  await producer.schedule('report', null);
  await until('it runs', () => running.length === 2);
  await consumer.stop();
  expect(said().filter((line) => line.startsWith('log Done waiting for 1 running job: 1 ended'))).toHaveLength(
    said().length / 2,
  );
});
