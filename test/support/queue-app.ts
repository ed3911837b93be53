import { randomBytes } from 'node:crypto';
import {
  ConsoleLogger,
  type INestApplicationContext,
  type LoggerService,
  type Provider,
  type Type,
} from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  RedisScheduledQueueModule,
  type RedisScheduledQueueModuleOptions,
  ScheduledQueueConsumer,
  ScheduledQueueEvents,
  ScheduledQueueInspector,
  ScheduledQueueProducer,
} from '../../lib/index.js';

export function redisUrl(): string {
  return process.env.TEST_REDIS_URL!;
}

/** How applications connect: as the documented user where the tests are run so, and as one that may do all where not. */
export function queueUrl(): string {
  return process.env.TEST_QUEUE_URL ?? redisUrl();
}

/** Keys of its own for every test. */
export function newPrefix(): string {
  return `t${randomBytes(6).toString('hex')}`;
}

const SILENT = { log() {}, warn() {}, error() {} };

export interface QueueApp {
  app: INestApplicationContext;
  prefix: string;
  producer: ScheduledQueueProducer;
  consumer: ScheduledQueueConsumer;
  inspector: ScheduledQueueInspector;
  events: ScheduledQueueEvents;
  get<T>(type: Type<T>): T;
}

const started: INestApplicationContext[] = [];

/** A Nest application with these providers, started; `stopApps` closes it after the test. */
export async function startApp(
  providers: Provider[] = [],
  options: RedisScheduledQueueModuleOptions = {},
  more: { imports?: never[] | unknown[]; controllers?: Type[]; log?: LoggerService } = {},
): Promise<QueueApp> {
  const log = more.log ?? (process.env.TEST_LOGS ? new ConsoleLogger() : SILENT);
  const prefix = options.prefix ?? newPrefix();
  const module = await Test.createTestingModule({
    imports: [
      RedisScheduledQueueModule.forRoot({ connection: queueUrl(), shutdownTimeoutMs: 2_000, ...options, prefix }),
      ...((more.imports ?? []) as never[]),
    ],
    providers,
    controllers: more.controllers,
  })
    .setLogger(log)
    .compile();
  await module.init();
  started.push(module);
  return {
    app: module,
    prefix,
    producer: module.get(ScheduledQueueProducer),
    consumer: module.get(ScheduledQueueConsumer),
    inspector: module.get(ScheduledQueueInspector),
    events: module.get(ScheduledQueueEvents),
    get: (type) => module.get(type),
  };
}

export async function stopApps(): Promise<void> {
  await Promise.all(started.splice(0).map((app) => app.close()));
}
