import { expect, it } from '@jest/globals';
import { PayloadWriter } from '../../../lib/api/payload-writer.js';
import { ScheduledQueueProducer } from '../../../lib/api/scheduled-queue.producer.js';
import { SystemClock } from '../../../lib/core/clock.js';
import { QueueUnavailableError } from '../../../lib/core/errors.js';
import { Observers } from '../../../lib/core/observe/observers.js';
import { Codecs } from '../../../lib/core/payload/codecs.js';
import type { Answered, JobStore, NewJob } from '../../../lib/store/job-store.js';
import { ScheduleBatch } from '../../../lib/store/redis/schedule/schedule-batch.js';
import { EVENTS, LOG } from '../../support/session-by-hand.js';

/** A store whose answers come last job first, and which fails every second one. */
const jobs = {
  scheduleMany: (jobs: readonly NewJob[], answered: Answered) =>
    new Promise<void>((resolve) => {
      const batch = new ScheduleBatch(jobs.length, 0, answered, resolve);
      const calls = jobs.map((job, index) => batch.pending(job, index));
      for (const [i, call] of [...calls.entries()].reverse()) {
        const id = String(call.job.payload);
        if (i % 2) call.reject(new QueueUnavailableError('no answer', 'unknown', { jobIds: [id] }));
        else call.resolve({ id, dueAtMs: 1, status: 'created' });
      }
    }),
};
const store = { queue: () => ({ jobs }) } as unknown as JobStore;

it('the ids in the error of scheduleMany are in the order of its items, over queues and whatever failed', async () => {
  const payloads = new PayloadWriter(new Codecs(), undefined as never, 1_000);
  const producer = new ScheduledQueueProducer(
    store,
    payloads,
    EVENTS,
    new Codecs(),
    LOG,
    new Observers(),
    new SystemClock(),
  );
  const items = Array.from({ length: 9 }, (_, i) => ({
    job: 'work',
    payload: i,
    options: { queue: i % 3 ? 'a' : 'b' },
  }));
  await expect(producer.scheduleMany(items)).rejects.toMatchObject({
    outcome: 'unknown',
    jobIds: ['0', '1', '2', '3', '4', '5', '6', '7', '8'],
  });
});
