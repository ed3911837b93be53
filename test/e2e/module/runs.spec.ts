import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable, type ModuleMetadata } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { Registry } from 'prom-client';
import {
  DuplicateHandlerError,
  defineScheduledJob,
  InvalidOptionsError,
  OnScheduledJob,
  RedisScheduledQueueModule,
  type RedisScheduledQueueModuleOptions,
  relayKey,
} from '../../../lib/index.js';
import { ScheduledQueueMetricsModule } from '../../../lib/prometheus/index.js';
import { ScheduledQueueHealthIndicator } from '../../../lib/terminus/index.js';
import { LogLines } from '../../support/log-lines.js';
import { newPrefix, queueUrl, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { Scrape } from '../../support/scrape.js';
import { until } from '../../support/wait.js';

const encode = defineScheduledJob<string>('video.encode', { queue: 'video' });
const send = defineScheduledJob<string>('mail.send', { queue: 'mail' });

// The handlers of `video` stand first, so that what this process did wrongly for them would be done before the rest.
@Injectable()
class Handlers {
  readonly ran: string[] = [];

  @OnScheduledJob(encode, { weight: 5, cron: '0 0 1 1 *', recurrencePayload: 'all' })
  encode(film: string): void {
    this.ran.push(`encode ${film}`);
  }

  @OnScheduledJob(send, { cron: '0 0 1 1 *', recurrencePayload: 'all' })
  send(to: string): void {
    this.ran.push(`send ${to}`);
  }

  @OnScheduledJob('tidy')
  tidy(): void {
    this.ran.push('tidy');
  }
}

const closing: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await stopApps();
  await Promise.all(closing.splice(0).map((app) => app.close()));
});

describe('a process with the option runs', () => {
  it('runs the jobs of these queues alone, and schedules into all', async () => {
    const prefix = newPrefix();
    const mails = await startApp([Handlers], { prefix, workerId: 'mails', runs: ['mail', 'default'] });
    await mails.producer.dispatch(encode, 'a');
    await mails.producer.dispatch(send, 'b');
    await mails.producer.dispatch('tidy', null);
    await until('its own have run', () => mails.get(Handlers).ran.length === 2);
    expect(await mails.inspector.counts({ queue: 'video' })).toMatchObject({ due: 1, active: 0 });

    const videos = await startApp([Handlers], { prefix, workerId: 'videos', runs: ['video'] });
    await until('the other one has run', () => videos.get(Handlers).ran.length === 1);
    await videos.producer.dispatch(send, 'c');
    await until('the mail has run', () => mails.get(Handlers).ran.length === 3);
    expect(mails.get(Handlers).ran.toSorted()).toEqual(['send b', 'send c', 'tidy']);
    expect(videos.get(Handlers).ran).toEqual(['encode a']);
  });

  it('is a worker of these queues alone', async () => {
    const prefix = newPrefix();
    const queues = { video: { concurrency: 5 } };
    const { inspector } = await startApp([Handlers], { prefix, queues, workerId: 'mails', runs: ['mail'] });
    await startApp([Handlers], { prefix, queues, workerId: 'videos', runs: ['video'] });
    await startApp([Handlers], { prefix, queues, workerId: 'both', runs: ['video', 'mail', 'video'] });
    const workersOf = async (queue: string) => (await inspector.workers({ queue })).map(({ id }) => id).sort();
    await until('all work', async () => (await workersOf('video')).length + (await workersOf('mail')).length === 4);
    expect(await workersOf('mail')).toEqual(['both', 'mails']);
    expect(await workersOf('video')).toEqual(['both', 'videos']);
    expect(await workersOf('default')).toEqual([]);
    expect(await inspector.load({ queue: 'video' })).toMatchObject({ capacity: 10 });
  });

  it('declares the recurrences of these queues alone, those of the option jobs too', async () => {
    const prefix = newPrefix();
    const recurrence = { cron: '0 0 2 1 *' };
    const jobs = { 'video.encode': { recurrence }, tidy: { recurrence } };
    const { producer } = await startApp([Handlers], { prefix, jobs, runs: ['mail'] });
    const declared = async (queue: string) => (await producer.recurrences({ queue })).map(({ id }) => id);
    await until('its own is declared', async () => (await declared('mail')).length > 0);
    expect(await Promise.all(['video', 'default', 'mail'].map(declared))).toEqual([[], [], ['mail.send']]);
    await startApp([Handlers], { prefix, jobs, runs: ['video'] });
    await until('the other one is declared', async () => (await declared('video')).length > 0);
    expect(await declared('default')).toEqual([]);
  });

  it('tells events and counts runs of these queues, and reads the state of all', async () => {
    const prefix = newPrefix();
    const registry = new Registry();
    const imports = [TerminusModule, ScheduledQueueMetricsModule.forRoot({ registry })];
    const providers = [Handlers, ScheduledQueueHealthIndicator];
    const mails = await startApp(providers, { prefix, runs: ['mail'] }, { imports });
    const told: string[] = [];
    mails.events.events$.subscribe(({ type, queue }) => told.push(`${queue} ${type}`));
    await mails.producer.dispatch(encode, 'a');
    await mails.producer.dispatch(send, 'b');
    await until('its own has completed', () => told.includes('mail completed'));
    expect(told.filter((line) => line.startsWith('video'))).toEqual(['video scheduled']);

    const scrape = await Scrape.of(registry);
    expect(scrape.sum('scheduled_queue_run_seconds_count', { queue: 'mail' })).toBe(1);
    expect(scrape.sum('scheduled_queue_run_seconds_count', { queue: 'video' })).toBe(0);
    expect(scrape.value('scheduled_queue_jobs', { queue: 'video', state: 'due' })).toBe(1);
    const health = mails.get(ScheduledQueueHealthIndicator);
    expect(await health.isLive('process')).toEqual({ process: { status: 'up' } });
    const isRun = async () => (await health.isHealthy('films', { queue: 'video', minWorkers: 1 })).films;
    expect(await isRun()).toMatchObject({
      status: 'down',
      message: "Queue 'video': workers is 0, below minWorkers 1.",
    });
    await startApp([Handlers], { prefix, runs: ['video'] });
    await until('somebody runs it', async () => (await isRun()).status === 'up');
  });

  it('starts its own alone where it is started by a call', async () => {
    const { consumer, producer, inspector, get } = await startApp([Handlers], { autoStart: false, runs: ['mail'] });
    await producer.dispatch(encode, 'a');
    await producer.dispatch(send, 'b');
    await consumer.start();
    await until('its own has run', () => get(Handlers).ran.length === 1);
    expect(get(Handlers).ran).toEqual(['send b']);
    expect(await inspector.explain((await inspector.list('due', { queue: 'video' }))[0]!)).toMatchObject({
      code: 'no-handler',
    });
  });

  it('pops and relays jobs of any queue', async () => {
    const { consumer, producer, prefix } = await startApp([Handlers], { runs: ['mail'] });
    await producer.dispatch(encode, 'a');
    const [popped] = await consumer.pop({ queue: 'video', waitMs: '10s' });
    expect(popped).toMatchObject({ name: 'video.encode', payload: 'a' });
    await popped!.complete();
    const list = relayKey('video', prefix);
    const relay = consumer.relay({ queue: 'video', to: { list } });
    await producer.dispatch(encode, 'b');
    const redis = new Redis(redisUrl());
    closing.push({ close: async () => void redis.disconnect() });
    await until('it is moved', () => redis.llen(list));
    expect(await redis.del(list)).toBe(1);
    await relay.stop();
  });
});

describe('at the start', () => {
  it('the log says what is run and what is not', async () => {
    const log = new LogLines();
    const { prefix } = await startApp([Handlers], { runs: ['mail', 'default'] }, { log });
    await until('it is connected', () => log.atStart.some((line) => line.includes('Connected')));
    expect(log.atStart.filter((line) => !line.includes('Connected'))).toEqual([
      expect.stringMatching(/^log Mapped \{mail\.send, queue mail\} to Handlers\.send .*, cron /),
      'log Mapped {tidy, queue default} to Handlers.tidy (RootTestModule) (concurrency 10)',
      "log Not run here {video.encode, queue video} of Handlers.encode (RootTestModule) (runs 'mail', 'default')",
    ]);
    expect(log.atStart).toContainEqual(
      expect.stringContaining(`(prefix '${prefix}', role 'both', runs 'mail', 'default').`),
    );
    expect(log.lines).toEqual([]);
  });

  it('options of queues and jobs that run elsewhere are not warned of, and weigh nothing here', async () => {
    const log = new LogLines();
    const queues = { video: { concurrency: 2 } };
    await startApp([Handlers], { queues, jobs: { 'video.encode': { timeoutMs: 30 } }, runs: ['mail'] }, { log });
    expect([...log.atStart, ...log.lines].filter((line) => !line.startsWith('log '))).toEqual([]);
  });

  it('a mistake of a handler that runs elsewhere is told here, too', async () => {
    class Twice extends Handlers {
      @OnScheduledJob(encode)
      encodeToo(): void {}
    }
    await expect(startApp([Twice], { runs: ['mail'] })).rejects.toThrow(DuplicateHandlerError);
  });

  it.each<[unknown, string]>([
    [
      ['mail', 'vidoe'],
      "runs: got 'vidoe', expected queues that handlers of this application name. There is: 'video', 'mail', 'default'. Did you mean 'video'?",
    ],
    [['reports'], "runs: got 'reports', expected queues that handlers of this application name. There is: "],
    [[], 'runs: got none, expected an array of names of queues; leave it out for all queues'],
    [[''], 'runs: name 0: got "", expected 1 to 64 of the characters'],
    ['video', 'runs: got "video", expected an array of names of queues; leave it out for all queues'],
  ])('refuses %j', async (runs, message) => {
    const start = startApp([Handlers], { runs } as never);
    await expect(start).rejects.toThrow(InvalidOptionsError);
    await expect(start).rejects.toThrow(`RedisScheduledQueueModule: ${message}`);
  });

  it('refuses a name where the application has no handlers', async () => {
    await expect(startApp([], { runs: ['mail'] })).rejects.toThrow(
      "runs: got 'mail', expected queues that handlers of this application name. No provider or controller of it has a method with @OnScheduledJob.",
    );
  });

  it('refuses runs beside the role of a producer', async () => {
    await expect(startApp([Handlers], { role: 'producer', runs: ['mail'] })).rejects.toThrow(
      "RedisScheduledQueueModule: runs: got an array of 1 beside role: 'producer', which runs no jobs, expected one of the two. Leave out runs, or give role: 'worker'.",
    );
  });

  it('undefined means all queues, from a factory as well', async () => {
    const options = { connection: queueUrl(), prefix: newPrefix(), runs: process.env.NO_SUCH_VARIABLE?.split(',') };
    const { log } = await started([RedisScheduledQueueModule.forRootAsync({ useFactory: () => options })]);
    expect(log.atStart.filter((line) => /Mapped|Not run/.test(line))).toHaveLength(3);
    expect(log.atStart.join()).not.toContain('Not run');
  });
});

describe('several instances', () => {
  @Injectable()
  class Reports {
    @OnScheduledJob('report.make', { instance: 'reports', queue: 'reports' })
    make(): void {}
  }

  const both = (runs: string[], runsOfReports: string[] | undefined) => {
    const options = { connection: queueUrl(), prefix: newPrefix() } satisfies RedisScheduledQueueModuleOptions;
    return started(
      [
        RedisScheduledQueueModule.forRoot({ ...options, runs }),
        RedisScheduledQueueModule.forRoot({ ...options, name: 'reports', runs: runsOfReports }),
      ],
      [Handlers, Reports],
    );
  };

  it('have an option each, and say of which the log speaks', async () => {
    const { log } = await both(['mail'], undefined);
    expect(log.atStart.filter((line) => line.includes("instance 'reports'"))).toContainEqual(
      expect.stringContaining('Mapped {report.make'),
    );
    expect(log.atStart.filter((line) => line.includes('Not run'))).toHaveLength(2);
  });

  it('may share a list that names the queues of all', async () => {
    const runs = ['mail', 'reports'];
    const { log } = await both(runs, runs);
    expect(log.atStart.filter((line) => line.includes('Mapped'))).toHaveLength(2);
    const others = await both(['mail'], ['mail']);
    expect(others.log.atStart).toContain(
      "log Not run here {report.make, queue reports} of Reports.make (RootTestModule) (instance 'reports', runs 'mail')",
    );
    expect(others.log.atStart.join()).not.toContain('No method with');
    await expect(both(['mail'], ['reprots'])).rejects.toThrow("got 'reprots', expected queues");
  });
});

async function started(imports: ModuleMetadata['imports'], providers: ModuleMetadata['providers'] = [Handlers]) {
  const log = new LogLines();
  const app = await Test.createTestingModule({ imports, providers }).setLogger(log).compile();
  await app.init();
  closing.push(app);
  return { log };
}
