import { expect, it } from '@jest/globals';
import type { NewJob } from '../../../lib/core/job/new-job.js';
import type { QueueOptions } from '../../../lib/core/options/queue-options.js';
import { readModuleOptions } from '../../../lib/nest/module-options.js';
import { nextInstant } from '../../../lib/testing/redis/next-instant.js';
import { MemoryJobStore } from '../../../lib/testing/store/memory-job-store.js';
import { VirtualClock } from '../../../lib/testing/time/virtual-clock.js';

const START = 1e12;
const NEVER = Number.POSITIVE_INFINITY;

/** A queue in memory, and what may be asked of it. `renewed`: ids of running jobs. */
function queueOf(options: QueueOptions = {}) {
  const clock = new VirtualClock();
  clock.startAt(START);
  const { settingsOf } = readModuleOptions({ queues: { default: options } }, 'test');
  const store = new MemoryJobStore({ settingsOf, clock });
  const { jobs, management } = store.queue('default');
  const queue = store.openedQueues()[0]!;
  const next = (...renewed: string[]) => nextInstant(queue, new Set(renewed));
  const schedule = (job: Partial<NewJob> = {}) =>
    jobs.schedule({
      name: 'work',
      priority: 5,
      settings: {},
      payload: 'null',
      due: { delayMs: 0 },
      ...job,
    } as unknown as NewJob);
  const hold = (id: string, leaseUntilMs: number) => {
    const job = queue.ledger.findWaiting(id)!;
    queue.ledger.takeOut(job);
    const holding = { fence: '1', session: 's', worker: 'w', isCancelled: false, reports: 0, isUnconfirmed: false };
    queue.ledger.hold(job, { ...holding, leaseUntilMs });
  };
  return { clock, queue, management, next, schedule, hold };
}

it('the end of a place that is left is an instant while a job is due, until it is past: then any worker may take the place', async () => {
  const { clock, queue, next, schedule } = queueOf();
  queue.gates.yields.set('later', START + 300).set('first', START + 250);
  expect(next().atMs).toBe(NEVER);
  await schedule();
  expect(next().atMs).toBe(START + 250);
  clock.moveTo(START + 250);
  expect(next().atMs).toBe(START + 300);
  clock.moveTo(START + 300);
  expect(next().atMs).toBe(NEVER);
});

it('a job that prefers another worker, and is due at this very moment, is an instant when it may be stolen', async () => {
  const { clock, next, schedule } = queueOf({ stealAfterMs: 5_000 });
  await schedule({ worker: 'elsewhere' });
  expect(next().atMs).toBe(START + 5_000);
  clock.moveTo(START + 5_000);
  expect(next().atMs).toBe(NEVER);
});

it('the end of a pause or a blackout is an instant where a job waits for it, and none of an empty queue', async () => {
  const { next, schedule, management, queue } = queueOf();
  await management.pause(60_000);
  queue.gates.setBlackouts([{ fromMs: START - 1, toMs: START + 30_000 }]);
  expect(next().atMs).toBe(NEVER);
  await schedule();
  expect(next().atMs).toBe(START + 30_000);
  expect(next().because()).toBe("the end of a blackout of queue 'default'");
});

it('a rate limit that is used up is an instant where a job waits for it, and no other is one', async () => {
  const { next, schedule, queue } = queueOf({ rateLimit: { max: 2, perMs: 1_000 } });
  queue.gates.noteStarts(1, START);
  await schedule();
  expect(next().atMs).toBe(NEVER);
  queue.gates.noteStarts(1, START);
  expect(next().atMs).toBe(START + 1_020);
  expect(next().because()).toBe("the rateLimit of queue 'default'");
});

it('the place of a suspect, which its own worker waits for anew with each turn, is no instant', async () => {
  const { next, schedule, queue } = queueOf({ globalConcurrency: 1 });
  await schedule({ id: 'suspect' });
  queue.ledger.findWaiting('suspect')!.crashes = queue.settings.maxCrashes - 1;
  queue.gates.suspectYields.set('own', START + 200);
  expect(next().atMs).toBe(NEVER);
});

it('a lease that was extended by hours is looked at shortly before its end, and every third of a lease from then on', async () => {
  const { clock, next, schedule, hold } = queueOf({ leaseMs: 15_000 });
  await schedule({ id: 'renewed' });
  await schedule({ id: 'extended' });
  hold('renewed', START + 10_000);
  hold('extended', START + 3_600_000);
  expect(next('renewed', 'extended').atMs).toBe(NEVER);
  expect(next('renewed').atMs).toBe(START + 3_580_000);
  expect(next('renewed').because()).toBe("the lease of job 'extended' of queue 'default'");
  clock.moveTo(START + 3_580_000);
  expect(next('renewed').atMs).toBe(START + 3_585_000);
});

it('a job that becomes due is told by its name and its id', async () => {
  const { next, schedule } = queueOf();
  await schedule({ id: 'a', due: { delayMs: 1_000 } });
  expect(next().because()).toBe("job 'work' (a) of queue 'default' became due");
});
