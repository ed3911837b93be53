import { connect, createServer } from 'node:net';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import {
  Inject,
  Injectable,
  Module,
  type ModuleMetadata,
  type OnApplicationBootstrap,
  type Provider,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import {
  defineScheduledJob,
  type HandlerOptions,
  InvalidOptionsError,
  OnScheduledJob,
  RedisScheduledQueueModule,
  type RedisScheduledQueueModuleOptions,
  ScheduledJob,
  ScheduledQueueConsumer,
  ScheduledQueueInspector,
  type ScheduledQueueOptionsFactory,
  ScheduledQueueProducer,
} from '../../../lib/index.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { freePort } from '../../support/redis-server.js';
import { until } from '../../support/wait.js';

const closing: (() => unknown)[] = [];

afterEach(async () => {
  await stopApps();
  for (const close of closing.splice(0).reverse()) await close();
});

/** A class whose only method handles that job and remembers its runs. */
function handlerOf(name: string, options?: HandlerOptions) {
  @Injectable()
  class Handlers {
    readonly runs: ScheduledJob[] = [];

    @OnScheduledJob(name, options)
    run(_payload: unknown, job: ScheduledJob): void {
      this.runs.push(job);
    }
  }
  return Handlers;
}

async function start(metadata: ModuleMetadata) {
  const module = await Test.createTestingModule(metadata).compile();
  await module.init();
  closing.push(() => module.close());
  return module;
}

/** A job goes all its way in another app: by then anything that this process was about to claim has been. */
async function aJobElsewhereIsHandled(): Promise<void> {
  const Elsewhere = handlerOf('elsewhere');
  const { producer, get } = await startApp([Elsewhere]);
  await producer.dispatch('elsewhere', null);
  await until('the job elsewhere is handled', () => get(Elsewhere).runs.length === 1);
}

describe('every form of setting up runs jobs with the options it was given', () => {
  const CONFIG = 'CONFIG';

  @Module({ providers: [{ provide: CONFIG, useFactory: redisUrl }], exports: [CONFIG] })
  class ConfigModule {}

  @Injectable()
  class OptionsFactory implements ScheduledQueueOptionsFactory {
    static prefix = '';
    @Inject(CONFIG) readonly url!: string;

    async createScheduledQueueOptions(): Promise<RedisScheduledQueueModuleOptions> {
      return { connection: this.url, prefix: OptionsFactory.prefix };
    }
  }

  @Module({ imports: [ConfigModule], providers: [OptionsFactory], exports: [OptionsFactory] })
  class FactoryModule {}

  it.each([
    ['forRoot', (prefix: string) => RedisScheduledQueueModule.forRoot({ connection: redisUrl(), prefix })],
    [
      'useFactory with imports and inject',
      (prefix: string) =>
        RedisScheduledQueueModule.forRootAsync({
          imports: [ConfigModule],
          inject: [CONFIG],
          useFactory: async (connection: string) => ({ connection, prefix }),
        }),
    ],
    ['useClass', () => RedisScheduledQueueModule.forRootAsync({ imports: [ConfigModule], useClass: OptionsFactory })],
    [
      'useExisting',
      () => RedisScheduledQueueModule.forRootAsync({ imports: [FactoryModule], useExisting: OptionsFactory }),
    ],
  ])('%s', async (_, queueModule) => {
    const prefix = newPrefix();
    OptionsFactory.prefix = prefix;
    const Handlers = handlerOf('job');
    const module = await start({ imports: [queueModule(prefix)], providers: [Handlers] });
    await module.get(ScheduledQueueProducer).schedule('job', null);
    await until('the job is handled', () => module.get(Handlers).runs.length === 1);
    const redis = new Redis(redisUrl());
    closing.push(() => redis.disconnect());
    expect(await redis.hget(`${prefix}:{default}:stats`, 'scheduled')).toBe('1');
  });
});

it('lets every module inject the services, or with isGlobal: false only those that import it', async () => {
  @Injectable()
  class Reminders {
    constructor(readonly producer: ScheduledQueueProducer) {}
  }

  @Module({ providers: [Reminders] })
  class RemindersModule {}

  const options = { connection: redisUrl(), prefix: newPrefix() };
  const open = await start({ imports: [RedisScheduledQueueModule.forRoot(options), RemindersModule] });
  expect(open.get(Reminders, { strict: false }).producer).toBe(open.get(ScheduledQueueProducer));

  const closed = Test.createTestingModule({
    imports: [RedisScheduledQueueModule.forRoot({ ...options, isGlobal: false }), RemindersModule],
  });
  await expect(closed.compile()).rejects.toThrow(`can't resolve dependencies of the Reminders`);

  const imported = await start({
    imports: [RedisScheduledQueueModule.forRoot({ ...options, isGlobal: false })],
    providers: [Reminders],
  });
  expect(imported.get(Reminders).producer).toBeInstanceOf(ScheduledQueueProducer);
});

it('compiles without a Redis, and without trying to reach one', async () => {
  const connection = `redis://127.0.0.1:${await freePort()}`;
  const closedPort = await Test.createTestingModule({
    imports: [RedisScheduledQueueModule.forRoot({ connection })],
    providers: [handlerOf('job')],
  }).compile();
  closing.push(() => closedPort.close());

  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
  closing.push(() => server.close());
  const module = await Test.createTestingModule({
    imports: [RedisScheduledQueueModule.forRoot({ connection: `redis://127.0.0.1:${port}` })],
    providers: [handlerOf('job')],
  }).compile();
  closing.push(() => module.close());
  // A connection of our own arrives after any that the module had begun.
  await new Promise((resolve) => connect(port, '127.0.0.1').once('close', resolve).once('error', resolve));
  expect(connections).toBe(1);
});

it('duplicates a ready client for its own use and never closes it', async () => {
  const client = new Redis(redisUrl());
  closing.push(() => client.disconnect());
  const scripts = jest.spyOn(client, 'evalsha');
  const Handlers = handlerOf('job');
  const prefix = newPrefix();
  const module = await Test.createTestingModule({
    imports: [RedisScheduledQueueModule.forRoot({ connection: client, prefix })],
    providers: [Handlers],
  }).compile();
  await module.init();
  await module.get(ScheduledQueueProducer).schedule('job', null);
  await until('the job is handled', () => module.get(Handlers).runs.length === 1);
  await module.close();
  expect(scripts).not.toHaveBeenCalled();
  expect(client.status).toBe('ready');
  expect(await client.ping()).toBe('PONG');
  expect(client.listenerCount('error')).toBe(0);
});

it(`never claims with role 'producer', and refuses to start`, async () => {
  const Handlers = handlerOf('job');
  const web = await startApp([Handlers], { role: 'producer' });
  await expect(web.consumer.start()).rejects.toThrow(InvalidOptionsError);
  await expect(web.consumer.start()).rejects.toThrow(
    `this process has role 'producer', which never claims: expected 'both' or 'worker'`,
  );
  await Promise.all(Array.from({ length: 20 }, () => web.producer.schedule('job', null)));
  await aJobElsewhereIsHandled();
  expect(await web.inspector.counts()).toMatchObject({ due: 20, active: 0 });
  expect(web.get(Handlers).runs).toEqual([]);
  const worker = await startApp([Handlers], { prefix: web.prefix, role: 'worker' });
  await until('the worker has handled all', () => worker.get(Handlers).runs.length === 20);
});

it('claims nothing with autoStart: false until the consumer starts', async () => {
  const Handlers = handlerOf('job');
  const { producer, consumer, inspector, get } = await startApp([Handlers], { autoStart: false });
  await producer.schedule('job', null);
  await aJobElsewhereIsHandled();
  expect(await inspector.counts()).toMatchObject({ due: 1, active: 0 });
  await consumer.start();
  await until('the job is handled', () => get(Handlers).runs.length === 1);
});

it('claims nothing once the consumer has stopped, and goes on when it is started again', async () => {
  const Handlers = handlerOf('job');
  const { producer, consumer, inspector, get } = await startApp([Handlers]);
  const { runs } = get(Handlers);
  await producer.schedule('job', null);
  await until('the first job is settled', async () => (await inspector.stats()).completed === 1);
  await consumer.stop();
  await producer.schedule('job', null);
  await aJobElsewhereIsHandled();
  expect(await inspector.counts()).toMatchObject({ due: 1, active: 0 });
  await Promise.all([consumer.start(), consumer.start()]);
  await until('the second job is handled', () => runs.length === 2);
  await producer.schedule('job', null);
  await until('the third job is settled', async () => (await inspector.stats()).completed === 3);
  expect(runs).toHaveLength(3);
  expect(await inspector.stats()).toMatchObject({ scheduled: 3, started: 3, recovered: 0 });
});

describe('of several places that say how often and how soon a failed job is tried again', () => {
  const said = (maxAttempts: number, delayMs: number) => ({
    maxAttempts,
    backoff: { type: 'fixed' as const, delayMs },
  });
  const byDefinition = said(5, 500_000);
  const byHandler = said(4, 400_000);
  const byModule = said(3, 300_000);
  const byCall = said(2, 200_000);

  it.each([
    ['the definition wins over the default', byDefinition, undefined, undefined, undefined, byDefinition],
    ['the handler wins over the definition', byDefinition, byHandler, undefined, undefined, byHandler],
    ['the module wins over the handler', byDefinition, byHandler, byModule, undefined, byModule],
    ['the call wins over all', byDefinition, byHandler, byModule, byCall, byCall],
    [
      'without any there are 6 attempts, the second after a minute',
      undefined,
      undefined,
      undefined,
      undefined,
      said(6, 60_000),
    ],
  ])('%s', async (_, definition, handler, module, call, expected) => {
    const job = defineScheduledJob<null>('failing', definition);
    let maxAttempts = 0;
    class Failing {
      @OnScheduledJob(job, handler)
      run(_payload: unknown, run: ScheduledJob): void {
        maxAttempts = run.maxAttempts;
        throw new Error('no');
      }
    }
    const { producer, inspector } = await startApp([Failing], { jobs: module && { failing: module } });
    const ref = await producer.schedule(job, null, call);
    const failed = await until('the attempt has failed', async () => {
      const found = await inspector.job(ref);
      return found?.state === 'scheduled' ? found : undefined;
    });
    expect(maxAttempts).toBe(expected.maxAttempts);
    expect(failed.dueAt.getTime() - failed.failures[0]!.at.getTime()).toBe(expected.backoff.delayMs);
  });
});

it('claims only after the bootstrap hooks of all modules and providers have finished, the root module last', async () => {
  const prefix = newPrefix();
  const { producer } = await startApp([], { prefix, role: 'producer' });
  await producer.schedule('job', null);
  const finished: string[] = [];

  async function prepare(name: string): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 200));
    finished.push(name);
  }

  @Injectable()
  class Warmup implements OnApplicationBootstrap {
    onApplicationBootstrap = () => prepare('provider');
  }

  @Module({ providers: [Warmup] })
  class Feature implements OnApplicationBootstrap {
    onApplicationBootstrap(): Promise<void> {
      return prepare('feature');
    }
  }

  let finishedBefore: string[] | undefined;
  class Handlers {
    @OnScheduledJob('job')
    run(): void {
      finishedBefore = [...finished];
    }
  }

  @Module({
    imports: [RedisScheduledQueueModule.forRoot({ connection: redisUrl(), prefix }), Feature],
    providers: [Handlers],
  })
  class App implements OnApplicationBootstrap {
    onApplicationBootstrap(): Promise<void> {
      return prepare('root');
    }
  }

  const app = await NestFactory.createApplicationContext(App, { logger: false });
  closing.push(() => app.close());
  await until('the job is handled', () => finishedBefore);
  expect(finishedBefore).toEqual(['provider', 'feature', 'root']);
});

it('claims nothing when the bootstrap of the root module fails', async () => {
  const prefix = newPrefix();
  const watcher = await startApp([], { prefix, role: 'producer' });
  await watcher.producer.schedule('job', null);

  @Module({
    imports: [RedisScheduledQueueModule.forRoot({ connection: redisUrl(), prefix })],
    providers: [handlerOf('job')],
  })
  class App implements OnApplicationBootstrap {
    async onApplicationBootstrap(): Promise<void> {
      throw new Error('not ready');
    }
  }

  const starting = NestFactory.createApplicationContext(App, { logger: false, abortOnError: false });
  await expect(starting).rejects.toThrow('not ready');
  await aJobElsewhereIsHandled();
  expect(await watcher.inspector.counts()).toMatchObject({ due: 1, active: 0 });
});

it('lets a test put something else in the place of a service or a handler', async () => {
  @Injectable()
  class Reminders {
    constructor(readonly producer: ScheduledQueueProducer) {}
  }
  const Handlers = handlerOf('job');
  const schedule = jest.fn();
  const providers: Provider[] = [Reminders, Handlers];
  const module = await Test.createTestingModule({
    imports: [
      RedisScheduledQueueModule.forRoot({ connection: `redis://127.0.0.1:${await freePort()}`, role: 'producer' }),
    ],
    providers,
  })
    .overrideProvider(ScheduledQueueProducer)
    .useValue({ schedule })
    .overrideProvider(Handlers)
    .useValue({ run: () => {} })
    .compile();
  await module.init();
  closing.push(() => module.close());
  module.get(Reminders).producer.schedule('job', null);
  expect(schedule).toHaveBeenCalledWith('job', null);
  expect(module.get(ScheduledQueueConsumer)).toBeInstanceOf(ScheduledQueueConsumer);
  expect(module.get(ScheduledQueueInspector)).toBeInstanceOf(ScheduledQueueInspector);
});
