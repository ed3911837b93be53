import { expect, it } from '@jest/globals';
import type { NewJob } from '../../../lib/core/job/new-job.js';
import type { QueueOptions } from '../../../lib/core/options/queue-options.js';
import { readModuleOptions } from '../../../lib/nest/module-options.js';
import { queueKeys } from '../../../lib/store/redis/keys.js';
import { nextInstant } from '../../../lib/testing/redis/next-instant.js';
import { ProcessJobStore } from '../../../lib/testing/redis/process-job-store.js';
import type { SmallRedis } from '../../../lib/testing/redis/small-redis.js';
import { VirtualClock } from '../../../lib/testing/time/virtual-clock.js';

const START = 1e12;
const NEVER = Number.POSITIVE_INFINITY;

/** A queue in this process, and what may be asked of it. `renewed`: ids of running jobs. */
function queueOf(options: QueueOptions = {}) {
  const clock = new VirtualClock();
  clock.startAt(START);
  const { settingsOf } = readModuleOptions({ queues: { default: options } }, 'test');
  const store = new ProcessJobStore({ settingsOf, clock });
  const { jobs, management } = store.queue('default');
  const { redis } = store as unknown as { redis: SmallRedis };
  const keys = queueKeys('test', 'default');
  const command = (name: string, ...args: (string | number)[]) => redis.command(name, args.map(String));
  const next = (...renewed: string[]) => nextInstant(store.inside('default'), new Set(renewed));
  const schedule = (job: Partial<NewJob> = {}) =>
    jobs.schedule({
      name: 'work',
      priority: 5,
      settings: {},
      payload: 'null',
      due: { delayMs: 0 },
      ...job,
    } as unknown as NewJob);
  /** As if the job had been claimed. */
  const hold = (id: string, leaseUntilMs: number) => {
    expect(command('ZREM', `${keys.base}lane:5::work`, id)).toBe(1);
    command('ZADD', keys.active, leaseUntilMs, id);
  };
  return { clock, keys, command, management, next, schedule, hold };
}

it('the end of a place that is left is an instant while a job is due, until it is past: then any worker may take the place', async () => {
  const { clock, keys, command, next, schedule } = queueOf();
  command('ZADD', keys.yields, START + 300, 'later', START + 250, 'first');
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
  const { next, schedule, management } = queueOf();
  await management.pause(60_000);
  await management.setBlackouts([{ fromMs: START - 1, toMs: START + 30_000 }]);
  expect(next().atMs).toBe(NEVER);
  await schedule();
  expect(next().atMs).toBe(START + 30_000);
  expect(next().because()).toBe("the end of a blackout of queue 'default'");
});

it('a rate limit that is used up is an instant where a job waits for it, and no other is one', async () => {
  const { keys, command, next, schedule } = queueOf({ rateLimit: { max: 2, perMs: 1_000 } });
  command('ZADD', keys.rate, START, 1);
  await schedule();
  expect(next().atMs).toBe(NEVER);
  command('ZADD', keys.rate, START, 2);
  expect(next().atMs).toBe(START + 1_020);
  expect(next().because()).toBe("the rateLimit of queue 'default'");
});

it('the place of a suspect, which its own worker waits for anew with each turn, is no instant', async () => {
  const { keys, command, next, schedule } = queueOf({ globalConcurrency: 1 });
  await schedule();
  command('ZADD', keys.yields, START + 200, '\town');
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

it.each([undefined, 2])('a job of version %s that becomes due is told by its name and its id', async (version) => {
  const { next, schedule } = queueOf();
  await schedule({ id: 'a', version, due: { delayMs: 1_000 } });
  expect(next().because()).toBe("job 'work' (a) of queue 'default' became due");
});
