import { expect, it } from '@jest/globals';
import type { NewJob } from '../../../lib/core/job/new-job.js';
import { readModuleOptions } from '../../../lib/nest/module-options.js';
import { MemoryJobStore } from '../../../lib/store/memory/memory-job-store.js';
import { nextInstant } from '../../../lib/testing/run/next-instant.js';
import { VirtualClock } from '../../../lib/testing/run/virtual-clock.js';

it('the end of an offer is an instant, until it is past: a place that was kept for a sleeping worker is free then', () => {
  const clock = new VirtualClock();
  clock.startAt(1_000);
  const store = new MemoryJobStore({ settingsOf: readModuleOptions({}, 'test').settingsOf, clock });
  store.queue('default');
  const [queue] = store.openedQueues();
  expect(nextInstant(queue!, 0)).toBe(Number.POSITIVE_INFINITY);
  queue!.gates.offers.push(
    { session: 'a', jobId: 'later', untilMs: 1_300 },
    { session: 'b', jobId: 'first', untilMs: 1_250 },
  );
  expect(nextInstant(queue!, 0)).toBe(1_250);
  clock.moveTo(1_250);
  expect(nextInstant(queue!, 0)).toBe(1_300);
  clock.moveTo(1_300);
  expect(nextInstant(queue!, 0)).toBe(Number.POSITIVE_INFINITY);
});

it('a job that prefers another worker, and is due at this very moment, is an instant when it may be stolen', async () => {
  const clock = new VirtualClock();
  clock.startAt(1e12);
  const settingsOf = readModuleOptions({ queues: { default: { stealAfterMs: 5_000 } } }, 'test').settingsOf;
  const store = new MemoryJobStore({ settingsOf, clock });
  const { jobs } = store.queue('default');
  const job = { name: 'work', priority: 5, worker: 'elsewhere', settings: {}, payload: 'null' };
  await jobs.schedule({ ...job, due: { delayMs: 0 } } as unknown as NewJob);
  expect(nextInstant(store.openedQueues()[0]!, 0)).toBe(1e12 + 5_000);
  clock.moveTo(1e12 + 5_000);
  expect(nextInstant(store.openedQueues()[0]!, 0)).toBe(Number.POSITIVE_INFINITY);
});
