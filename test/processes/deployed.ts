// A process of one build of an application, for tests of deploys: it schedules and handles jobs named `order` in the version of its build, and
// notes each run in a file, with one write a line. Told a number by its parent it schedules so many jobs, and answers their ids.
import 'reflect-metadata';
import { openSync, writeSync } from 'node:fs';
import { Injectable, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { IsInt, IsObject } from 'class-validator';
import {
  defineScheduledJob,
  OnScheduledJob,
  RedisScheduledQueueModule,
  ScheduledJob,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

const { REDIS, PREFIX, WORKER_ID, HISTORY, BUILD } = process.env;
const history = openSync(HISTORY!, 'a');

/** The payload of the first build. Each class refuses a payload of the other one. */
class Order {
  @IsInt() total!: number;
}

/** Of the third build, after two changes. */
class OrderInCents {
  @IsObject() amount!: { cents: number };
}

const first = defineScheduledJob('order', { payload: Order });
const third = defineScheduledJob('order', {
  payload: OrderInCents,
  version: 3,
  upgrade: {
    1: ({ total }: Order) => ({ cents: total * 100 }),
    2: ({ cents }: { cents: number }) => ({ amount: { cents } }),
  },
});

function note(job: ScheduledJob, cents: number): void {
  const line = { id: job.id, name: job.name, version: job.version, build: Number(BUILD), attempt: job.attempt, cents };
  writeSync(history, `${JSON.stringify(line)}\n`);
}

@Injectable()
class FirstHandlers {
  @OnScheduledJob(first)
  handle({ total }: Order, job: ScheduledJob): void {
    note(job, total * 100);
  }
}

@Injectable()
class ThirdHandlers {
  @OnScheduledJob(third)
  handle({ amount }: OrderInCents, job: ScheduledJob): void {
    note(job, amount.cents);
  }
}

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: REDIS!,
      prefix: PREFIX!,
      workerId: WORKER_ID!,
      queues: { default: { leaseMs: 2_000, concurrency: 5 } },
    }),
  ],
  providers: [BUILD === '1' ? FirstHandlers : ThirdHandlers],
})
class DeployedModule {}

Logger.overrideLogger(['error', 'warn']);
const app = await NestFactory.createApplicationContext(DeployedModule);
app.enableShutdownHooks();
const producer = app.get(ScheduledQueueProducer);

/** Each job says by its total, in its own form, which one it is. */
function scheduleMany(from: number, count: number, delayMs: number) {
  const totals = Array.from({ length: count }, (_, i) => from + i);
  const options = { delay: delayMs };
  return BUILD === '1'
    ? producer.scheduleMany(totals.map((total) => ({ job: first, payload: { total }, options })))
    : producer.scheduleMany(
        totals.map((total) => ({ job: third, payload: { amount: { cents: total * 100 } }, options })),
      );
}

process.on('message', async ({ from, count, delayMs }: { from: number; count: number; delayMs: number }) => {
  const refs = await scheduleMany(from, count, delayMs);
  process.send?.({ scheduled: refs.filter(({ created }) => created).length });
});
process.send?.('ready');
