import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  type DynamicModule,
  Global,
  type INestApplicationContext,
  Injectable,
  Module,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  Scope,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  InjectScheduledQueue,
  OnScheduledJob,
  RedisScheduledQueueModule,
  ScheduledQueueConsumer,
  ScheduledQueueProducer,
} from '../../../lib/index.js';
import { LogLines } from '../../support/log-lines.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

// At shutdown running handlers are waited for first, while all that they need is still there.

const opened: INestApplicationContext[] = [];

afterEach(async () => {
  await Promise.all([stopApps(), ...opened.splice(0).map((app) => app.close())]);
});

/** Like a PrismaService: connected from the start on, and no more once its hook was called. */
@Injectable()
class Database implements OnModuleDestroy {
  private connected = true;

  write(): void {
    if (!this.connected) throw new Error('the connection is closed');
  }

  onModuleDestroy(): void {
    this.connected = false;
  }
}

@Module({ providers: [Database], exports: [Database] })
class DatabaseModule {}

@Global()
@Module({ providers: [Database], exports: [Database] })
class GlobalDatabaseModule {}

/** As those of modules that end their connections in a hook of the module's class, as TypeORM's does. */
@Module({ providers: [Database], exports: [Database] })
class ClosingModule implements OnModuleDestroy {
  constructor(private readonly database: Database) {}

  async onModuleDestroy(): Promise<void> {
    this.database.onModuleDestroy();
  }
}

const queue = (more: { name?: string; isGlobal?: boolean } = {}) =>
  RedisScheduledQueueModule.forRoot({ connection: redisUrl(), prefix: newPrefix(), shutdownTimeoutMs: 5_000, ...more });

/** Runs until the test lets it go on, and then writes to the database. */
class Gate {
  readonly written: string[] = [];
  running = 0;
  open!: () => void;
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });

  async pass(name: string, database: Database): Promise<void> {
    this.running++;
    database.write();
    await this.opened;
    database.write();
    this.written.push(name);
  }
}

describe('a handler that runs as the application closes has its database until its end, with', () => {
  const QUEUE = Symbol('queue');
  const cases: [string, (typeof QUEUE | NonNullable<DynamicModule['imports']>[number])[], typeof DatabaseModule][] = [
    ['the database imported after the queue', [QUEUE, DatabaseModule], DatabaseModule],
    ['the database imported before the queue', [DatabaseModule, QUEUE], DatabaseModule],
    ['a global database after the queue', [QUEUE, GlobalDatabaseModule], GlobalDatabaseModule],
    ['a global database before the queue', [GlobalDatabaseModule, QUEUE], GlobalDatabaseModule],
    ['a database that a hook of its module closes', [QUEUE, ClosingModule], ClosingModule as never],
  ];

  it.each(cases.flatMap(([name, ...rest]) => [true, false].map((isGlobal) => [name, isGlobal, ...rest] as const)))(
    '%s (isGlobal: %s)',
    async (_, isGlobal, imports, Databases) => {
      const gate = new Gate();

      @Injectable()
      class Handlers {
        constructor(private readonly database: Database) {}

        @OnScheduledJob('work')
        async work(): Promise<void> {
          await gate.pass('work', this.database);
        }
      }

      @Injectable({ scope: Scope.REQUEST })
      class ScopedHandlers {
        constructor(private readonly database: Database) {}

        @OnScheduledJob('scoped')
        async work(): Promise<void> {
          await gate.pass('scoped', this.database);
        }
      }

      @Module({ imports: [Databases], providers: [Handlers, ScopedHandlers] })
      class Feature {}

      @Module({
        imports: [...imports.map((one) => (one === QUEUE ? queue({ isGlobal }) : one)), Feature] as never,
      })
      class App {}

      const log = new LogLines();
      const app = await NestFactory.createApplicationContext(App, { logger: log });
      opened.push(app);
      const producer = app.get(ScheduledQueueProducer);
      await producer.schedule('work', null);
      await producer.schedule('scoped', null);
      await until('both run', () => gate.running === 2);
      const closed = app.close();
      await until('they are waited for', () => log.starting('log Waiting').length === 1);
      // Whoever does not wait for the handlers closes the database now.
      await sleep(20);
      gate.open();
      await closed;
      expect(gate.written.sort()).toEqual(['scoped', 'work']);
      expect(log.starting('warn')).toEqual([]);
    },
  );

  it('the database in the root module itself, beside the handlers', async () => {
    const gate = new Gate();
    class Handlers {
      @OnScheduledJob('work')
      async work(): Promise<void> {
        await gate.pass('work', app.get(Database));
      }
    }
    const { app, producer } = await startApp([Handlers, Database]);
    await producer.schedule('work', null);
    await until('it runs', () => gate.running === 1);
    const closed = app.close();
    await sleep(20);
    gate.open();
    await closed;
    expect(gate.written).toEqual(['work']);
  });

  it('several instances of the module: all drain side by side, before anything closes', async () => {
    const gate = new Gate();

    @Injectable()
    class Handlers {
      constructor(
        readonly producer: ScheduledQueueProducer,
        @InjectScheduledQueue(ScheduledQueueProducer, 'reports') readonly reports: ScheduledQueueProducer,
        private readonly database: Database,
      ) {}

      @OnScheduledJob('work')
      @OnScheduledJob('work', { instance: 'reports' })
      async work(): Promise<void> {
        await gate.pass('work', this.database);
      }
    }

    @Module({ imports: [queue(), DatabaseModule, queue({ name: 'reports' })], providers: [Handlers] })
    class App {}

    const log = new LogLines();
    const app = await NestFactory.createApplicationContext(App, { logger: log });
    opened.push(app);
    const { producer, reports } = app.get(Handlers);
    await producer.schedule('work', null);
    await reports.schedule('work', null);
    await until('both run', () => gate.running === 2);
    const closed = app.close();
    await until('both are waited for', () => log.starting('log Waiting').length === 2);
    gate.open();
    await closed;
    expect(gate.written).toEqual(['work', 'work']);
  });
});

it('an application that is closed twice at once waits once, and both calls wait', async () => {
  const gate = new Gate();
  class Handlers {
    @OnScheduledJob('work')
    async work(): Promise<void> {
      await gate.pass('work', app.get(Database));
    }
  }
  const log = new LogLines();
  const { app, producer } = await startApp([Handlers, Database], {}, { log });
  await producer.schedule('work', null);
  await until('it runs', () => gate.running === 1);
  const closed = [app.close(), app.close()].map((close) => close.then(() => expect(gate.written).toEqual(['work'])));
  await sleep(20);
  gate.open();
  await Promise.all(closed);
  await app.close();
  expect(log.starting('log Waiting')).toHaveLength(1);
});

it('an application that is closed while it starts begins no work afterwards', async () => {
  let runs = 0;
  @Injectable()
  class Handlers implements OnApplicationBootstrap {
    @OnScheduledJob('work')
    work(): void {
      runs++;
    }

    onApplicationBootstrap = () => bootstrapping;
  }
  let bootstrapped!: () => void;
  const bootstrapping = new Promise<void>((resolve) => {
    bootstrapped = resolve;
  });
  @Module({ imports: [queue()], providers: [Handlers] })
  class App {}

  // An HTTP application does not wait for its start when it is closed.
  const app = await NestFactory.create(App, { logger: false });
  opened.push(app);
  const starting = app.init();
  await app.get(ScheduledQueueProducer).schedule('work', null);
  const consumer = app.get(ScheduledQueueConsumer);
  await app.close();
  bootstrapped();
  await starting;
  await expect(consumer.start()).rejects.toMatchObject({ code: 'QUEUE_CLOSED' });
  expect(runs).toBe(0);
});

it('other modules can use the producer in their hooks, up to the last one', async () => {
  const scheduled: string[] = [];
  @Injectable()
  class Feature {
    constructor(private readonly producer: ScheduledQueueProducer) {}

    private async schedule(hook: string): Promise<void> {
      scheduled.push(hook);
      await this.producer.schedule('later', null, { delay: '1h' });
    }

    onModuleDestroy = () => this.schedule('onModuleDestroy');
    beforeApplicationShutdown = () => this.schedule('beforeApplicationShutdown');
    onApplicationShutdown = () => this.schedule('onApplicationShutdown');
  }
  const { app } = await startApp([Feature]);
  await app.close();
  expect(scheduled).toEqual(['onModuleDestroy', 'beforeApplicationShutdown', 'onApplicationShutdown']);
});

it('nothing may start the workers again once the application is closing', async () => {
  const refusals: unknown[] = [];
  @Injectable()
  class Feature implements OnModuleDestroy {
    constructor(private readonly consumer: ScheduledQueueConsumer) {}

    async onModuleDestroy(): Promise<void> {
      await this.consumer.start().catch((error) => refusals.push(error));
    }
  }
  const { app } = await startApp([Feature]);
  await app.close();
  expect(refusals).toEqual([expect.objectContaining({ code: 'QUEUE_CLOSED' })]);
});
