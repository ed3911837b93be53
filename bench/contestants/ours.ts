import 'reflect-metadata';
import { type DynamicModule, Injectable, Logger, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { IsEmail, IsInt, IsString } from 'class-validator';
import {
  defineScheduledJob,
  OnScheduledJob,
  RedisScheduledQueueModule,
  type ScheduledJob,
  type ScheduledJobDefinition,
  ScheduledQueueConsumer,
  ScheduledQueueEvents,
  ScheduledQueueInspector,
  ScheduledQueueProducer,
  type ScheduleOptions,
} from 'nestjs-redis-scheduled-queue';
import type { Contestant, Job, OpenOptions, Session } from './contestant.js';

/** What `validatedPayload` of measure/payloads.ts is checked against, when it is scheduled and again before it is handled. */
class Reminder {
  @IsInt() userId!: number;
  @IsEmail() email!: string;
  @IsString() text!: string;
}

const plain = defineScheduledJob<object>('bench.job');
/** The next version of `plain`, for its handler alone. */
const next = defineScheduledJob<object>(plain.name, {
  version: 2,
  upgrade: { 1: (payload: object) => ({ ...payload, isUpgraded: true }) },
});
const validated = defineScheduledJob('bench.validated', { payload: Reminder });

export const ours: Contestant = {
  configured:
    'a Nest application context with a decorated handler and a listener on events$; every option at its default ' +
    '(leases of 15 s, 6 attempts), but the concurrency',

  async open(options) {
    Logger.overrideLogger(['error', 'warn']);
    const { concurrency, streamEvents, groups } = options;
    const queues = options.queues ?? ['default'];
    const module = RedisScheduledQueueModule.forRoot({
      connection: options.nodes ? { cluster: { nodes: [...options.nodes] } } : options.redis,
      autoStart: false,
      ...(options.trackCurrentJob !== undefined && { trackCurrentJob: options.trackCurrentJob }),
      queues: Object.fromEntries(queues.map((queue) => [queue, { concurrency, streamEvents, groups }])),
    });
    const observers = await observing(options);
    const byHand = options.traced === 'by hand' ? await tracedByHand() : undefined;
    const handle: Run = byHand
      ? (payload, job) => byHand.around(job, async () => options.handle(payload as never))
      : (payload) => options.handle(payload as never);
    @Module({ imports: [module, ...observers], providers: [handlersFor(options, handle)] })
    class BenchModule {}

    const app = await NestFactory.createApplicationContext(BenchModule);
    const { settled } = options;
    if (settled) app.get(ScheduledQueueEvents).events$.subscribe(({ type }) => type === 'completed' && settled());
    return sessionOf(
      app.get(ScheduledQueueProducer),
      app.get(ScheduledQueueConsumer),
      app.get(ScheduledQueueInspector),
      (options.validated ? validated : plain) as ScheduledJobDefinition<object>,
      byHand?.headers,
    );
  },
};

/** Loaded where they are used alone, as an application would. */
async function observing({ metered, traced }: OpenOptions): Promise<DynamicModule[]> {
  const modules: DynamicModule[] = [];
  if (metered) {
    const { ScheduledQueueMetricsModule } = await import('nestjs-redis-scheduled-queue/prometheus');
    modules.push(ScheduledQueueMetricsModule.forRoot());
  }
  if (traced === 'by the module') {
    const { traceIntoNothing } = await import('./traces.js');
    const { ScheduledQueueTracingModule } = await import('nestjs-redis-scheduled-queue/opentelemetry');
    traceIntoNothing();
    modules.push(ScheduledQueueTracingModule.forRoot());
  }
  return modules;
}

async function tracedByHand() {
  const { spansByHand, traceIntoNothing } = await import('./traces.js');
  traceIntoNothing();
  return spansByHand();
}

function sessionOf(
  producer: ScheduledQueueProducer,
  consumer: ScheduledQueueConsumer,
  inspector: ScheduledQueueInspector,
  definition: ScheduledJobDefinition<object>,
  headers: Record<string, string> | undefined,
): Session {
  const toItem = ({ payload, name, dueAt, queue, priority, worker, group, id, tags, set, steps }: Job) => {
    const options: ScheduleOptions = {};
    if (dueAt !== undefined) options.at = dueAt;
    if (queue !== undefined) options.queue = queue;
    if (priority !== undefined) options.priority = priority;
    if (worker !== undefined) options.worker = worker;
    if (group !== undefined) options.group = group;
    if (id !== undefined) options.id = id;
    if (tags !== undefined) options.tags = [...tags];
    if (set !== undefined) options.set = set;
    if (steps !== undefined) options.then = Array.from({ length: steps }, () => ({ job: definition, payload }));
    if (headers !== undefined) options.headers = headers;
    return { job: name ?? definition, payload, options };
  };
  return {
    schedule(job) {
      const item = toItem(job);
      return producer.schedule(item.job as ScheduledJobDefinition<object>, item.payload, item.options);
    },
    scheduleMany: (jobs) => producer.scheduleMany(jobs.map(toItem)),
    upsertRecurrence: ({ id, payload, rule, queue }) =>
      producer.upsertRecurrence(id, definition, payload, rule, queue === undefined ? {} : { queue }),
    openSet: (id) => producer.openSet(id),
    inspector,
    start: () => consumer.start(),
    stop: () => consumer.stop(),
  };
}

type Run = (payload: object, job: ScheduledJob) => unknown;

function handlersFor({ batch, validated: isValidated, upgrades, names, queues }: OpenOptions, handle: Run): Type {
  if (batch) return batchHandler(batch, handle);
  if (names || queues || upgrades !== undefined)
    return manyHandlers(handle, names ?? [upgrades ? next : plain.name], queues ?? ['default']);
  @Injectable()
  class PlainHandlers {
    @OnScheduledJob(plain)
    async run(payload: object, job: ScheduledJob): Promise<unknown> {
      return handle(payload, job);
    }
  }
  @Injectable()
  class ValidatedHandlers {
    @OnScheduledJob(validated)
    async run(payload: Reminder, job: ScheduledJob): Promise<unknown> {
      return handle(payload, job);
    }
  }
  return isValidated ? ValidatedHandlers : PlainHandlers;
}

function batchHandler(batch: { size: number }, handle: Run): Type {
  @Injectable()
  class BatchHandlers {
    @OnScheduledJob(plain, { batch })
    async run(payloads: object[], jobs: ScheduledJob[]): Promise<unknown> {
      return handle(payloads[0]!, jobs[0]!);
    }
  }
  return BatchHandlers;
}

/** One method for each name in each queue, as somebody would write them by hand. */
function manyHandlers(
  handle: Run,
  names: readonly (string | ScheduledJobDefinition<object>)[],
  queues: readonly string[],
): Type {
  class ManyHandlers {}
  for (const [i, queue] of queues.entries()) {
    for (const [j, name] of names.entries()) {
      const key = `run${i}of${j}`;
      const value = async (payload: object, job: ScheduledJob): Promise<unknown> => handle(payload, job);
      const descriptor = { value, writable: true, configurable: true };
      Object.defineProperty(ManyHandlers.prototype, key, descriptor);
      OnScheduledJob(name as string, { queue })(ManyHandlers.prototype, key, descriptor);
    }
  }
  Injectable()(ManyHandlers);
  return ManyHandlers;
}
