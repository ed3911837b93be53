import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { WorkerProcesses } from '../../support/worker-process.js';

// The long form: GROUPS_LONG=1 npm test -- test/e2e/faults/groups.spec.ts
const IS_LONG = process.env.GROUPS_LONG !== undefined;

const LEASE_MS = 2_000;

let workers: WorkerProcesses;

beforeEach(() => {
  workers = new WorkerProcesses();
});

afterEach(async () => {
  await workers.stop();
  await stopApps();
});

const namesOf = (count: number, prefix: string) => Array.from({ length: count }, (_, i) => `${prefix}${i + 1}`);

const runningIn = (worker: string) =>
  workers
    .history()
    .filter((line) => line.worker === worker)
    .reduce((sum, { event }) => sum + (event === 'start' ? 1 : -1), 0);

it('never three of a group run with a concurrency of 2, also while a process is killed, and its places are free a lease later', async () => {
  const [EACH, WORK_MS] = [60, 200];
  const groups = namesOf(50, 'tenant-');
  const { producer, inspector } = await startApp([], { prefix: workers.prefix, role: 'producer' });
  const jobs = Array.from({ length: EACH }, () =>
    groups.map((group) => ({ job: 'work', payload: null, options: { group } })),
  );
  await producer.scheduleMany(jobs.flat());
  const options = { concurrency: 60, leaseMs: LEASE_MS, workMs: WORK_MS, groups: { concurrency: 2 } };
  const names = namesOf(3, 'w');
  await Promise.all(names.map((id) => workers.start(id, options)));
  const completed = async () => (await inspector.stats()).completed;
  await until('they work', async () => (await completed()) > jobs.flat().length / 4);
  const dying = await until('one is busy', () => names.find((name) => runningIn(name) > 10));
  workers.signal(dying, 'SIGKILL');
  await workers.ended(dying);
  const linesThen = workers.history().length;
  await until('all have run', async () => (await completed()) === jobs.flat().length);

  // All append to one file, so its lines are in the order of what happened. What the killed process ran is over with it.
  const running = new Map(groups.map((group) => [group, new Map<string, string>()]));
  let most = 0;
  for (const [i, { event, id, group, worker }] of workers.history().entries()) {
    const ofGroup = running.get(group!)!;
    if (event === 'start') ofGroup.set(id, worker);
    else ofGroup.delete(id);
    const there = [...ofGroup.values()].filter((runner) => i < linesThen || runner !== dying);
    most = Math.max(most, there.length);
  }
  expect(most).toBe(2);
  const starts = workers.startsByClaim();
  const tookMs = Math.max(...workers.history().map(({ at }) => at)) - starts[0]!.at;
  const idealMs = (EACH / 2) * WORK_MS;
  const lost = starts.length - jobs.flat().length;
  process.stdout.write(`${lost} jobs ran in the killed process; all took ${tookMs} ms, ideally ${idealMs}\n`);
  expect(lost).toBeGreaterThan(0);
  expect(tookMs).toBeLessThan(1.3 * idealMs + LEASE_MS);
}, 120_000);

it("with 'fifo' each group runs in order, although jobs fail and processes are killed", async () => {
  const [count, each, workMs, kills] = IS_LONG ? [20, 200, 100, 8] : [8, 40, 20, 3];
  const groups = namesOf(count, 'order-');
  const numbers = Array.from({ length: each }, (_, i) => i);
  const { producer, inspector } = await startApp([], { prefix: workers.prefix, role: 'producer' });
  const backoff = { type: 'fixed', delayMs: 100 } as const;
  const jobs = numbers.flatMap((version) =>
    groups.map((group) => {
      const payload = { version, failsOnce: version % 10 === 3 };
      return { job: 'work', payload, options: { group, backoff, id: `${group}-${String(version).padStart(4, '0')}` } };
    }),
  );
  await producer.scheduleMany(jobs);
  const options = { leaseMs: LEASE_MS, workMs, groups: { order: 'fifo' as const }, maxCrashes: 50 };
  const names = namesOf(3, 'w');
  await Promise.all(names.map((id) => workers.keepAlive(id, options)));
  const completed = async () => (await inspector.stats()).completed;
  for (let i = 1; i <= kills; i++) {
    await until('so many have run', async () => (await completed()) >= (jobs.length * i) / (kills + 1));
    workers.signal(names[i % names.length]!, 'SIGKILL');
  }
  await until('all have run', async () => (await completed()) === jobs.length);

  const ran = new Map<string, number[]>(groups.map((group) => [group, []]));
  for (const { group, version } of workers.startsByClaim()) {
    const versions = ran.get(group!)!;
    // Again, as it failed or its process died.
    if (versions.at(-1) !== version) versions.push(version!);
  }
  process.stdout.write(`${workers.startsByClaim().length} runs of ${jobs.length} jobs, with ${kills} kills\n`);
  for (const versions of ran.values()) expect(versions).toEqual(numbers);
  // A job that was killed in its first attempt does not fail besides.
  expect((await inspector.stats()).failed).toBeGreaterThan(jobs.length / 20);
}, 360_000);
