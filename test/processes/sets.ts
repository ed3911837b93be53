// A worker process for tests of sets and chains: its members end in every way, as their row says, and each run stands in a file, with one write a
// line, so that what happened is known even after SIGKILL.
import 'reflect-metadata';
import { openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  JobOutcome,
  OnScheduledJob,
  RedisScheduledQueueModule,
  ScheduledJob,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

const { REDIS, PREFIX, HISTORY, WORK_MS, LEASE_MS } = process.env;
const history = openSync(HISTORY!, 'a');

function note(job: ScheduledJob, more: object): void {
  const { id, name, attempt, set, setDone } = job;
  writeSync(history, `${JSON.stringify({ name, id, attempt, pid: process.pid, set, setDone, ...more })}\n`);
}

const ONCE_MORE = { maxAttempts: 2, backoff: { type: 'fixed', delayMs: 1 } } as const;

@Injectable()
class Handlers {
  constructor(private readonly producer: ScheduledQueueProducer) {}

  @OnScheduledJob('member', ONCE_MORE)
  async member({ row }: { row: number }, job: ScheduledJob): Promise<JobOutcome | undefined> {
    note(job, { row });
    await sleep(Number(WORK_MS));
    if (row % 5 === 0) {
      const options = { set: job.set!, id: `${job.set}/${row + 1}` };
      await this.producer.schedule('member', { row: row + 1 }, options);
    }
    // After all that it does, and just before its end.
    note(job, { row });
    if (row % 5 === 2) throw new Error('as it should');
    if (row % 5 === 3) return row % 2 ? JobOutcome.discard('as it should') : JobOutcome.deadLetter('as it should');
  }

  @OnScheduledJob('step')
  async step({ chain, step }: { chain: number; step: number }, job: ScheduledJob): Promise<number> {
    note(job, { chain, step, of: job.chain!.of, before: job.chain!.result });
    await sleep(Number(WORK_MS));
    note(job, { chain, step, of: job.chain!.of, before: job.chain!.result });
    return chain * 10 + step;
  }

  @OnScheduledJob('done')
  done(_: unknown, job: ScheduledJob): void {
    note(job, {});
  }
}

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: REDIS!,
      prefix: PREFIX!,
      commandTimeoutMs: 30_000,
      // No job that is killed again and again is to die of it.
      queues: { default: { leaseMs: Number(LEASE_MS), maxCrashes: 1_000 } },
    }),
  ],
  providers: [Handlers],
})
class SetsModule {}

Logger.overrideLogger(['error', 'warn']);
const app = await NestFactory.createApplicationContext(SetsModule);
app.enableShutdownHooks();
process.send?.('ready');
