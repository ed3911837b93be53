import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { defineScheduledJob, OnScheduledJob, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';
import { ScheduledQueueTester, ScheduledQueueTestingModule } from 'nestjs-redis-scheduled-queue/testing';
import type { Benchmark } from '../benchmark.js';
import { payloadOf } from '../measure/payloads.js';

const sent = defineScheduledJob<object>('sent');

@Injectable()
class Handlers {
  @OnScheduledJob(sent)
  async send(): Promise<void> {}

  @OnScheduledJob('digest', { cron: '0 7 * * *', timeZone: 'Europe/Berlin' })
  async digest(): Promise<void> {}
}

@Module({ imports: [ScheduledQueueTestingModule.forRoot()], providers: [Handlers] })
class TestedModule {}

export const kit: Benchmark = {
  name: 'kit',
  about:
    'Under the test kit, without Redis: 10 000 jobs are scheduled and run, and a daily recurrence runs for 90 virtual days. Applications ' +
    'that have just started, as in a test.',
  contestants: ['ours'],
  cases: [
    { name: 'ran', size: { jobs: 10_000 }, quick: { jobs: 1_000 } },
    { name: 'days', size: { days: 90 }, quick: { days: 9 } },
  ],
  figures: [
    { key: 'ran', title: 'Schedule and run 10 000 jobs', unit: 'ms', better: 'less' },
    { key: 'days', title: '90 days of a daily recurrence', unit: 'ms', better: 'less' },
  ],
  bars: [
    { figure: 'ran', atMost: 2_000 },
    { figure: 'days', atMost: 150 },
  ],
  timeoutMs: 60_000,

  async run({ case: figure, size }) {
    const app = await NestFactory.createApplicationContext(TestedModule, { logger: ['error'] });
    const tester = app.get(ScheduledQueueTester);
    const payload = payloadOf();
    const startedAt = performance.now();
    if (figure === 'ran') {
      const items = Array.from({ length: size('jobs') }, () => ({ job: sent, payload }));
      await app.get(ScheduledQueueProducer).scheduleMany(items);
      await tester.drain();
    } else await tester.advance(`${size('days')} days`);
    const tookMs = performance.now() - startedAt;
    const ran = tester.runs().length;
    if (ran !== size(figure === 'ran' ? 'jobs' : 'days')) throw new Error(`${ran} jobs ran.`);
    await app.close();
    return { [figure]: tookMs };
  },
};
