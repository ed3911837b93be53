// A process for tests that pulls: it pops jobs named `work`, one loop or several, and notes each start and end in a file, with
// one write a line, so that what happened is known even after SIGKILL. It holds a job for as long as its payload says.
import 'reflect-metadata';
import { openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  type PoppedJob,
  QueueClosedError,
  RedisScheduledQueueModule,
  ScheduledQueueConsumer,
} from 'nestjs-redis-scheduled-queue';

const { REDIS, PREFIX, WORKER_ID, HISTORY, CONCURRENCY = '1', LEASE_MS = '2000' } = process.env;
const history = openSync(HISTORY!, 'a');

function note(event: string, job: PoppedJob): void {
  const line = {
    event,
    id: job.id,
    worker: WORKER_ID,
    attempt: job.attempt,
    dueAt: job.dueAt.getTime(),
    at: Math.round(performance.timeOrigin + performance.now()),
  };
  writeSync(history, `${JSON.stringify(line)}\n`);
}

@Injectable()
class Loops implements BeforeApplicationShutdown {
  private loops: Promise<void>[] = [];

  constructor(private readonly consumer: ScheduledQueueConsumer) {}

  start(count: number): void {
    this.loops = Array.from({ length: count }, () => this.loop());
  }

  /** Waiting pops have ended by now, and popped jobs can still be settled. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.loops);
  }

  private async loop(): Promise<void> {
    try {
      for (;;) {
        for (const job of await this.consumer.pop<number | null>({ names: ['work'], waitMs: '30s' })) {
          note('start', job);
          if (job.payload) await sleep(job.payload);
          if (await job.complete()) note('end', job);
        }
      }
    } catch (error) {
      if (!(error instanceof QueueClosedError)) throw error;
    }
  }
}

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: REDIS!,
      prefix: PREFIX!,
      workerId: WORKER_ID!,
      queues: { default: { leaseMs: Number(LEASE_MS) } },
    }),
  ],
  providers: [Loops],
})
class PullerModule {}

Logger.overrideLogger(['error', 'warn']);
const app = await NestFactory.createApplicationContext(PullerModule);
app.enableShutdownHooks();
app.get(Loops).start(Number(CONCURRENCY));
process.send?.('ready');
