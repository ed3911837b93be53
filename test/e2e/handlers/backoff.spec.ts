import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { defineScheduledJob, InvalidScheduleError, OnScheduledJob } from '../../../lib/index.js';
import { redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

const asked: unknown[] = [];
const charge = defineScheduledJob<{ amount: number }>('charge', {
  maxAttempts: 3,
  backoff: (attempt, error, job) => {
    asked.push([attempt, (error as Error).message, job.payload, job.id]);
    return attempt === 1 ? '20ms' : 30;
  },
});

@Injectable()
class Handlers {
  @OnScheduledJob(charge)
  charge(): void {
    throw new Error('declined');
  }

  @OnScheduledJob('handler-wins', { maxAttempts: 2, backoff: () => 10 })
  handlerWins(): void {
    throw new Error('no');
  }

  @OnScheduledJob('useless', { backoff: () => Number.NaN })
  useless(): void {
    throw new Error('no');
  }
}

afterEach(async () => {
  asked.length = 0;
  await stopApps();
});

describe('a backoff function', () => {
  it('of a definition is asked where the handler runs, with the attempt, its error and the job', async () => {
    const { producer, inspector } = await startApp([Handlers]);
    const { id } = await producer.dispatch(charge, { amount: 7 });
    const dead = await until('it is dead', async () => (await inspector.list('dead'))[0]);
    expect(asked).toEqual([
      [1, 'declined', { amount: 7 }, id],
      [2, 'declined', { amount: 7 }, id],
    ]);
    const [first, second, third] = dead.failures.map(({ at }) => at.getTime());
    expect(second! - first!).toBeGreaterThanOrEqual(20);
    expect(third! - second!).toBeGreaterThanOrEqual(30);
  });

  it('loses to the options of the call, and to the jobs option', async () => {
    const { producer, inspector } = await startApp([Handlers], {
      jobs: { charge: { backoff: { type: 'fixed', delayMs: '1h' } } },
    });
    const job = await producer.dispatch(charge, { amount: 7 });
    await until('it waits again', async () => (await inspector.job(job))?.state === 'scheduled');
    const other = await producer.dispatch('handler-wins', null, { backoff: { type: 'fixed', delayMs: '2h' } });
    await until('it waits again', async () => (await inspector.job(other))?.state === 'scheduled');
    expect(asked).toEqual([]);
    const waits = [];
    for (const ref of [job, other]) {
      const { dueAt, failures } = (await inspector.job(ref))!;
      waits.push(dueAt.getTime() - failures[0]!.at.getTime());
    }
    expect(waits).toEqual([3_600_000, 7_200_000]);
  });

  it('whose answer is no duration falls back to the default, and that is logged', async () => {
    const { Test } = await import('@nestjs/testing');
    const { RedisScheduledQueueModule, ScheduledQueueInspector, ScheduledQueueProducer } = await import(
      '../../../lib/index.js'
    );
    const warn = jest.fn();
    const module = await Test.createTestingModule({
      imports: [RedisScheduledQueueModule.forRoot({ connection: redisUrl(), prefix: `b${Date.now()}` })],
      providers: [Handlers],
    })
      .setLogger({ log() {}, error() {}, warn })
      .compile();
    await module.init();
    const job = await module.get(ScheduledQueueProducer).dispatch('useless', null);
    const inspector = module.get(ScheduledQueueInspector);
    const waiting = await until('it waits again', async () => {
      const found = await inspector.job(job);
      return found?.state === 'scheduled' && found;
    });
    await module.close();
    expect(waiting.dueAt.getTime() - waiting.failures[0]!.at.getTime()).toBe(60_000);
    expect(warn.mock.calls.map(([message]) => message)).toContain(
      `The backoff function of job 'useless' in queue 'default' cannot be used, so the default is: got NaN, expected a finite number of milliseconds.`,
    );
  });
});

it('a call takes no backoff function: it is decided where the handler runs', async () => {
  const { producer } = await startApp([Handlers]);
  const refused = producer.dispatch(charge, { amount: 7 }, { backoff: (() => 5) as never });
  await expect(refused).rejects.toThrow(InvalidScheduleError);
  await expect(refused).rejects.toThrow('backoff');
});
