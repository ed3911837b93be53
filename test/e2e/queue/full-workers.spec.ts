import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob, ScheduledJob } from '../../../lib/index.js';
import { newPrefix, startApp, stopApps } from '../../support/queue-app.js';
import { BEFORE_NEXT_LOOK_MS, until } from '../../support/wait.js';

/** Idle workers look by themselves after 20 s. */
const SELDOM = { maxSleepMs: 20_000, leaseMs: 60_000 };

@Injectable()
class Long {
  static lateness: number[] = [];
  static release: () => void;
  static released: Promise<void>;

  @OnScheduledJob('work')
  async work(_payload: unknown, { dueAt }: ScheduledJob): Promise<void> {
    Long.lateness.push(Date.now() - dueAt.getTime());
    await Long.released;
  }
}

beforeEach(() => {
  Long.lateness = [];
  Long.released = new Promise((resolve) => {
    Long.release = resolve;
  });
});

afterEach(async () => {
  Long.release();
  await stopApps();
});

/** Starts so many workers, and waits until all of them sleep. */
async function startWorkers(count: number, queue: object) {
  const prefix = newPrefix();
  const producer = await startApp([], { prefix, role: 'producer', queues: { default: queue } });
  for (let i = 0; i < count; i++) await startApp([Long], { prefix, queues: { default: queue } });
  const { inspector } = producer;
  await until('all workers are listed', async () => (await inspector.workers()).length === count);
  return producer;
}

it('a worker without a free place leaves what is due next to one that is idle', async () => {
  const { producer } = await startWorkers(3, { ...SELDOM, concurrency: 1 });
  await producer.scheduleMany([800, 1_300, 1_900].map((delay) => ({ job: 'work', payload: null, options: { delay } })));
  await until('all three run', () => Long.lateness.length === 3);
  expect(Math.max(...Long.lateness)).toBeLessThan(BEFORE_NEXT_LOOK_MS);
});

it('nor does one that has looked at as many groups as it has places', async () => {
  const groups = 100;
  const { producer } = await startWorkers(5, { ...SELDOM, concurrency: 20, groups: { order: 'fifo' } });
  await producer.scheduleMany(
    Array.from({ length: groups }, (_, i) => ({ job: 'work', payload: null, options: { group: `g${i}`, delay: 500 } })),
  );
  await until('a job of each group runs', () => Long.lateness.length === groups);
  expect(Math.max(...Long.lateness)).toBeLessThan(BEFORE_NEXT_LOOK_MS);
});

it('a job of a group that was queued behind a run of none starts in time', async () => {
  const { producer } = await startWorkers(1, SELDOM);
  const start = Date.now();
  await producer.schedule('work', null, { id: 'same' });
  await until('it runs', () => Long.lateness.length === 1);
  await producer.schedule('work', null, { id: 'same', onDuplicate: 'replace', group: 'g', delay: 1_500 });
  Long.release();
  await until('the job behind it runs', () => Long.lateness.length === 2);
  expect(Date.now() - start).toBeLessThan(1_500 + BEFORE_NEXT_LOOK_MS);
});
