import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  InvalidScheduleError,
  JobCancelledError,
  OnScheduledJob,
  ScheduledJob,
  type ScheduledQueueEvent,
} from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

@Injectable()
class Handlers {
  readonly running: string[] = [];
  readonly reasons: unknown[] = [];
  private release = () => {};
  readonly held = new Promise<void>((resolve) => {
    this.release = resolve;
  });

  @OnScheduledJob('obedient')
  async obey(_: unknown, { id, signal }: ScheduledJob): Promise<void> {
    this.running.push(id);
    signal.addEventListener('abort', () => this.reasons.push(signal.reason));
    await sleep(60_000, undefined, { signal });
  }

  @OnScheduledJob('stubborn')
  async ignore(_: unknown, { id }: ScheduledJob): Promise<void> {
    this.running.push(id);
    await this.held;
  }

  letGo(): void {
    this.release();
  }
}

afterEach(stopApps);

/** A worker, and another process's application that only schedules and looks. */
async function start() {
  const worker = await startApp([Handlers], { queues: { default: { keepCompleted: 10 } } });
  const other = await startApp([], { prefix: worker.prefix, role: 'producer' });
  const events: ScheduledQueueEvent[] = [];
  worker.events.events$.subscribe((event) => events.push(event));
  const told = (type: string) => events.filter((event) => event.type === type);
  return { ...other, told, handlers: worker.get(Handlers) };
}

describe('cancelRunning', () => {
  it('aborts the signal in the process that runs the job, which ends as cancelled and is not retried', async () => {
    const { producer, inspector, handlers, told } = await start();
    const job = await producer.schedule('obedient', null, { id: 'r7' });
    await until('it runs', () => handlers.running.length === 1);
    const askedAt = performance.now();
    expect(await inspector.cancelRunning(job)).toBe(true);
    await until('its signal aborts', () => handlers.reasons.length === 1);
    // By message: the next renewal of a lease of 15 s comes after 5 s.
    expect(performance.now() - askedAt).toBeLessThan(2_000);
    expect(handlers.reasons[0]).toBeInstanceOf(JobCancelledError);
    expect(handlers.reasons[0]).toMatchObject({ code: 'JOB_CANCELLED', jobId: 'r7', jobName: 'obedient' });
    await until('it is told', () => told('cancelled').length === 1);
    expect(told('cancelled')).toEqual([{ type: 'cancelled', queue: 'default', id: 'r7' }]);
    expect(await inspector.job(job)).toBeNull();
    expect(await inspector.stats()).toMatchObject({ cancelled: 1, failed: 0, retried: 0, completed: 0, dead: 0 });
    expect(await inspector.counts()).toEqual({ scheduled: 0, due: 0, active: 0, completed: 0, dead: 0 });
    expect(await producer.schedule('obedient', null, { id: 'r7', delay: '1h' })).toMatchObject({ created: true });
  });

  it('drops what a handler answers that ignores its signal', async () => {
    const { producer, inspector, handlers, told } = await start();
    const job = await producer.dispatch('stubborn', null);
    await until('it runs', () => handlers.running.length === 1);
    expect(await inspector.cancelRunning(job.id)).toBe(true);
    await until('it is cancelled', () => told('cancelled').length === 1);
    handlers.letGo();
    await producer.dispatch('stubborn', null);
    await until('the next one completes', () => told('completed').length === 1);
    expect(await inspector.stats()).toMatchObject({ started: 2, cancelled: 1, completed: 1 });
    expect(await inspector.job(job)).toBeNull();
  });

  it('answers false for a job that waits, has ended or was never there', async () => {
    const { producer, inspector, handlers, told } = await start();
    const waiting = await producer.schedule('obedient', null, { delay: '1h' });
    expect(await inspector.cancelRunning(waiting)).toBe(false);
    handlers.letGo();
    const done = await producer.dispatch('stubborn', null);
    await until('it completes', () => told('completed').length === 1);
    expect(await inspector.cancelRunning(done)).toBe(false);
    expect(await inspector.cancelRunning('nobody', { queue: 'other' })).toBe(false);
    expect(await inspector.job(waiting)).toMatchObject({ state: 'scheduled' });
  });

  it('refuses what is no reference', async () => {
    const { inspector } = await start();
    await expect(inspector.cancelRunning(7 as never)).rejects.toThrow(InvalidScheduleError);
    await expect(inspector.cancelRunning('r7', { queu: 'a' } as never)).rejects.toThrow('queue');
  });
});
