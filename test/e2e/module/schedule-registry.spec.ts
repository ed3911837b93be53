import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Cron, CronExpression, Interval, ScheduleModule, SchedulerRegistry, Timeout } from '@nestjs/schedule';
import { OnScheduledJob } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

afterEach(stopApps);

class Handlers {
  runs = 0;

  @OnScheduledJob('job')
  run(): void {
    this.runs++;
  }
}

@Injectable()
class AppTimers {
  readonly seconds: number[] = [];
  ticks = 0;
  timeouts = 0;

  @Cron(CronExpression.EVERY_SECOND)
  everySecond(): void {
    this.seconds.push(Math.round(Date.now() / 1_000));
  }

  @Interval('ticker', 50)
  tick(): void {
    this.ticks++;
  }

  @Timeout('once', 10)
  once(): void {
    this.timeouts++;
  }
}

it(`the timers of the queue stand in the app's SchedulerRegistry, beside the app's own`, async () => {
  const { app, producer, get } = await startApp([Handlers, AppTimers], {}, { imports: [ScheduleModule.forRoot()] });
  const registry = app.get(SchedulerRegistry, { strict: false });
  const ours = () => registry.getTimeouts().filter((name) => name.startsWith('scheduled-queue'));
  await until('the poller sleeps', () => ours().includes('scheduled-queue:default'));
  expect(registry.getIntervals()).toEqual(['ticker']);
  expect(registry.getCronJobs().size).toBe(1);
  for (let i = 1; i <= 5; i++) {
    await producer.schedule('job', null, { delay: 5 });
    await until('the job is handled', () => get(Handlers).runs === i);
    await until('the poller sleeps again', () => ours().includes('scheduled-queue:default'));
  }
  expect(ours().sort()).toEqual(['scheduled-queue:default', 'scheduled-queue:default:timeouts']);
});

it(`the app's own cron jobs, intervals and timeouts each fire once`, async () => {
  const { get } = await startApp([Handlers, AppTimers], {}, { imports: [ScheduleModule.forRoot()] });
  const timers = get(AppTimers);
  await until('two seconds have been told', () => timers.seconds.length >= 2);
  expect(new Set(timers.seconds).size).toBe(timers.seconds.length);
  expect(timers.timeouts).toBe(1);
  expect(timers.ticks).toBeLessThanOrEqual(60);
});

it('a stopped worker leaves no timer behind in the registry', async () => {
  const { app, consumer } = await startApp([Handlers], {}, { imports: [ScheduleModule.forRoot()] });
  const registry = app.get(SchedulerRegistry, { strict: false });
  await until('the poller sleeps', () => registry.getTimeouts().length === 1);
  await consumer.stop();
  expect(registry.getTimeouts()).toEqual([]);
});

it('without @nestjs/schedule in the app, jobs run at their time all the same', async () => {
  const { app, producer, get } = await startApp([Handlers]);
  expect(() => app.get(SchedulerRegistry, { strict: false })).toThrow();
  await producer.schedule('job', null, { delay: 20 });
  await until('the job is handled', () => get(Handlers).runs === 1);
});
