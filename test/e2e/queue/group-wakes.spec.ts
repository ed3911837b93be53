import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { JobOutcome, OnScheduledJob, type QueueOptions, type ScheduledJob } from '../../../lib/index.js';
import { type QueueApp, startApp, stopApps } from '../../support/queue-app.js';
import { BEFORE_NEXT_LOOK_MS, until } from '../../support/wait.js';

afterEach(stopApps);

interface Work {
  /** What the first attempt does. */
  first?: 'fails' | 'snoozes' | 'hangs';
}

@Injectable()
class Worker {
  readonly started: string[] = [];

  @OnScheduledJob('work', { backoff: { type: 'fixed', delayMs: 3_600_000 } })
  async work({ first }: Work, job: ScheduledJob): Promise<unknown> {
    this.started.push(job.id);
    if (job.attempt > 1) return undefined;
    if (first === 'fails') throw new Error('once');
    if (first === 'snoozes') return JobOutcome.snooze('1h');
    if (first === 'hangs') await sleep(600_000, undefined, { signal: job.signal }).catch(() => {});
    return undefined;
  }
}

interface Case {
  groups?: QueueOptions['groups'];
  /** What holds the group, where no job that begins does. */
  before?: (app: QueueApp) => Promise<unknown>;
  first?: Work['first'];
  free: (app: QueueApp) => Promise<unknown>;
}

const CASES: Record<string, Case> = {
  resumeGroup: {
    before: ({ inspector }) => inspector.pauseGroup('g'),
    free: ({ inspector }) => inspector.resumeGroup('g'),
  },
  'the end of a pause': {
    before: ({ inspector }) => inspector.pauseGroup('g', { forMs: 700 }),
    free: () => sleep(100),
  },
  'the end of a window of its rate': { groups: { rateLimit: { max: 1, perMs: 800 } }, free: () => sleep(100) },
  'setGroup with a higher rate': {
    groups: { rateLimit: { max: 1, perMs: '1h' } },
    free: ({ inspector }) => inspector.setGroup('g', { rateLimit: 'unlimited' }),
  },
  'setGroup with more at once': {
    groups: { concurrency: 1 },
    first: 'hangs',
    free: ({ inspector }) => inspector.setGroup('g', { concurrency: 2 }),
  },
  cancelRunning: {
    groups: { concurrency: 1 },
    first: 'hangs',
    free: ({ inspector }) => inspector.cancelRunning('first'),
  },
  "cancel of the job that holds it under 'fifo'": {
    groups: { order: 'fifo' },
    first: 'fails',
    free: ({ producer }) => producer.cancel('first'),
  },
  'remove of that job': {
    groups: { order: 'fifo' },
    first: 'snoozes',
    free: ({ inspector }) => inspector.remove('first'),
  },
  'runNow of that job': { groups: { order: 'fifo' }, first: 'fails', free: ({ producer }) => producer.runNow('first') },
  'reschedule of that job': {
    groups: { order: 'fifo' },
    first: 'fails',
    free: ({ producer }) => producer.reschedule('first', { delay: 200 }),
  },
  'a replacement of that job': {
    groups: { order: 'fifo' },
    first: 'fails',
    free: ({ producer }) =>
      producer.schedule('work', {}, { id: 'first', group: 'g', delay: '1h', onDuplicate: 'replace' }),
  },
};

it.each(Object.entries(CASES))(
  '%s lets the next job of a group begin at once, though all workers sleep',
  async (_name, { groups = {}, before, first, free }) => {
    // They would look again after 5 s.
    const options = { queues: { default: { groups } } };
    const one = await startApp([Worker], options);
    const other = await startApp([Worker], { ...options, prefix: one.prefix });
    const workers = [one, other].map((app) => app.get(Worker));
    const started = () => workers.flatMap((worker) => worker.started);
    if (!before) {
      await one.producer.schedule('work', { first }, { id: 'first', group: 'g' });
      await until('the first has begun', () => started().length === 1);
    }
    await before?.(one);
    await one.producer.schedule('work', {}, { id: 'next', group: 'g' });
    // Long enough for a worker to look, and to find that the group is held.
    await until(
      'it is held',
      async () => (await one.inspector.group('g')).due > 0 && (await one.inspector.group('g')).heldBy !== null,
    );
    await sleep(100);
    expect(started()).not.toContain('next');
    await free(other);
    await until('the next one begins', () => started().includes('next'), BEFORE_NEXT_LOOK_MS);
  },
);
