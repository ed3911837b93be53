// A worker process for tests: a Nest application that handles jobs named `work`, or as it is told, and notes each start and end in a file,
// with one write a line, so that what happened is known even after SIGKILL.
import 'reflect-metadata';
import { openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { IsBoolean, IsInt, IsOptional } from 'class-validator';
import {
  defineScheduledJob,
  OnScheduledJob,
  RedisScheduledQueueModule,
  ScheduledJob,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

const {
  REDIS,
  PREFIX,
  WORKER_ID,
  HISTORY,
  CONCURRENCY = '10',
  LEASE_MS = '2000',
  WORK_MS = '0',
  KEEP_COMPLETED = '0',
} = process.env;
const {
  JOB_NAME = 'work',
  SHUTDOWN_TIMEOUT_MS = '20000',
  QUEUE_OPTIONS = '{}',
  OBEY_SIGNAL,
  IGNORE_BLOCK,
  CHECK_PAYLOADS,
  BATCH_SIZE,
} = process.env;
const history = openSync(HISTORY!, 'a');

function note(event: string, job: ScheduledJob, version?: number): void {
  const line = {
    event,
    id: job.id,
    worker: WORKER_ID,
    pid: process.pid,
    version,
    group: job.group,
    attempt: job.attempt,
    fence: job.fence,
    dueAt: job.dueAt.getTime(),
    // By the clock that no test puts wrong.
    at: Math.round(performance.timeOrigin + performance.now()),
  };
  writeSync(history, `${JSON.stringify(line)}\n`);
}

/** What a job may ask of its handler. */
class Work {
  /** Blocks the event loop for so long. */
  @IsOptional() @IsInt() blockMs?: number;
  /** Kills the process after so long. */
  @IsOptional() @IsInt() killAfterMs?: number;
  /** Schedules one more job with this delay. */
  @IsOptional() @IsInt() thenInMs?: number;
  /** Stands in the history. */
  @IsOptional() @IsInt() version?: number;
  /** Works for so long, beyond what the process is told, unless its signal aborts. */
  @IsOptional() @IsInt() workMs?: number;
  /** Reports who runs it as its progress, again and again while it works. */
  @IsOptional() @IsBoolean() reports?: boolean;
  /** Fails after its work. */
  @IsOptional() @IsBoolean() fails?: boolean;
  /** Its first attempt fails. */
  @IsOptional() @IsBoolean() failsOnce?: boolean;
}

const work = defineScheduledJob<Work | null>(JOB_NAME, (CHECK_PAYLOADS ? { payload: Work } : {}) as object);

@Injectable()
class WorkHandlers {
  constructor(private readonly producer: ScheduledQueueProducer) {}

  @OnScheduledJob(work)
  async work(payload: Work | null, job: ScheduledJob): Promise<string> {
    note('start', job, payload?.version);
    if (payload?.blockMs && !IGNORE_BLOCK)
      for (const end = performance.now() + payload.blockMs; performance.now() < end; );
    if (payload?.killAfterMs !== undefined) {
      await sleep(payload.killAfterMs);
      process.kill(process.pid, 'SIGKILL');
    }
    if (payload?.thenInMs) await this.producer.schedule('work', null, { delay: payload.thenInMs });
    if (Number(WORK_MS) > 0) await sleep(Number(WORK_MS), undefined, { signal: OBEY_SIGNAL ? job.signal : undefined });
    const reporting = payload?.reports && setInterval(() => job.progress({ worker: WORKER_ID }), 20);
    if (reporting) job.signal.addEventListener('abort', () => clearInterval(reporting));
    if (payload?.workMs) await sleep(payload.workMs, undefined, { signal: job.signal });
    if (reporting) clearInterval(reporting);
    note('end', job, payload?.version);
    if (payload?.fails || (payload?.failsOnce && job.attempt === 1)) throw new Error('it was to fail');
    return WORKER_ID!;
  }
}

@Injectable()
class BatchHandlers {
  @OnScheduledJob(JOB_NAME, { batch: { size: Number(BATCH_SIZE || 2) }, backoff: { type: 'fixed', delayMs: 100 } })
  async work(payloads: (Work | null)[], jobs: ScheduledJob[]): Promise<void> {
    for (const [i, job] of jobs.entries()) note('start', job, payloads[i]?.version);
    for (const payload of payloads)
      if (payload?.killAfterMs !== undefined) {
        await sleep(payload.killAfterMs);
        process.kill(process.pid, 'SIGKILL');
      }
    if (Number(WORK_MS) > 0) await sleep(Number(WORK_MS));
    for (const [i, job] of jobs.entries()) note('end', job, payloads[i]?.version);
  }
}

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: REDIS!,
      prefix: PREFIX!,
      workerId: WORKER_ID!,
      shutdownTimeoutMs: Number(SHUTDOWN_TIMEOUT_MS),
      queues: {
        default: {
          concurrency: Number(CONCURRENCY),
          leaseMs: Number(LEASE_MS),
          keepCompleted: Number(KEEP_COMPLETED),
          ...JSON.parse(QUEUE_OPTIONS),
        },
      },
    }),
  ],
  providers: [BATCH_SIZE ? BatchHandlers : WorkHandlers],
})
class WorkerModule {}

Logger.overrideLogger(['error', 'warn']);
const app = await NestFactory.createApplicationContext(WorkerModule);
app.enableShutdownHooks();
process.send?.('ready');
