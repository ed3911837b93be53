import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob, type ScheduledJob } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { type HistoryLine, WorkerProcesses } from '../../support/worker-process.js';

// The long form: GROUPS_LONG=1 npm test -- test/e2e/queue/groups.spec.ts
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

/** In the order of their claims, whatever the processes were slow at. */
function startsByClaim(): HistoryLine[] {
  return workers
    .history()
    .filter(({ event }) => event === 'start')
    .sort((a, b) => a.fence! - b.fence!);
}

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
  const starts = startsByClaim();
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
  for (const { group, version } of startsByClaim()) {
    const versions = ran.get(group!)!;
    // Again, as it failed or its process died.
    if (versions.at(-1) !== version) versions.push(version!);
  }
  process.stdout.write(`${startsByClaim().length} runs of ${jobs.length} jobs, with ${kills} kills\n`);
  for (const versions of ran.values()) expect(versions).toEqual(numbers);
  // A job that was killed in its first attempt does not fail besides.
  expect((await inspector.stats()).failed).toBeGreaterThan(jobs.length / 20);
}, 360_000);

it.each([1, 3])('weights of 3, 2 and 1 share 1 000 starts of %i processes to within 5 %%', async (processes) => {
  const WEIGHTS = { heavy: 3, middling: 2, light: 1 };
  const { producer, inspector } = await startApp([], { prefix: workers.prefix, role: 'producer' });
  for (const [group, weight] of Object.entries(WEIGHTS)) {
    await inspector.setGroup(group, { weight });
    await producer.scheduleMany(
      Array.from({ length: 1_000 }, () => ({ job: 'work', payload: null, options: { group } })),
    );
  }
  await Promise.all(namesOf(processes, 'w').map((id) => workers.start(id, { workMs: 5 })));
  await until('there are 1 000 starts', async () => (await inspector.stats()).started > 1_100);
  await workers.stop();

  const starts = startsByClaim().slice(0, 1_000);
  for (const [group, weight] of Object.entries(WEIGHTS)) {
    const share = starts.filter((start) => start.group === group).length / (1_000 * (weight / 6));
    process.stdout.write(`${group}: ${(100 * share).toFixed(1)} % of its share with ${processes}\n`);
    expect(Math.abs(share - 1)).toBeLessThan(0.05);
  }
});

it('a single job is next, however many jobs of another group are due', async () => {
  const BACKLOG = IS_LONG ? 1_000_000 : 20_000;
  const { producer } = await startApp([], { prefix: workers.prefix, role: 'producer' });
  for (let left = BACKLOG; left > 0; left -= 5_000)
    await producer.scheduleMany(
      Array.from({ length: Math.min(left, 5_000) }, () => ({
        job: 'work',
        payload: { workMs: 20 },
        options: { group: 'large' },
      })),
    );
  await workers.start('w1');
  const lateness: number[] = [];
  for (let i = 0; i < (IS_LONG ? 50 : 10); i++) {
    const { id } = await producer.schedule('work', null, { group: 'small' });
    const start = await until('it runs', () =>
      workers.history().find((line) => line.event === 'start' && line.id === id),
    );
    lateness.push(start.at - start.dueAt);
    const claimed = startsByClaim().map((line) => ({ ...line, claimedAt: line.fence! / 1_000 }));
    const between = claimed.filter(({ claimedAt, fence }) => claimedAt > start.dueAt + 1 && fence! < start.fence!);
    expect(between.length).toBeLessThanOrEqual(1);
  }
  process.stdout.write(`it started ${lateness.join(', ')} ms after it was due\n`);
  expect(lateness.sort((a, b) => a - b)[lateness.length >> 1]).toBeLessThan(120);
}, 240_000);

it('a call with many jobs has jobs of several groups, of each as many as may run at once', async () => {
  const calls: string[][] = [];
  @Injectable()
  class Rows {
    @OnScheduledJob('row', { batch: { size: 10, waitMs: 200 } })
    insert(_rows: unknown[], jobs: ScheduledJob[]): void {
      calls.push(jobs.map(({ group }) => group!).sort());
    }
  }
  const { producer } = await startApp([Rows], { queues: { default: { groups: { concurrency: 2 } } } });
  const groups = ['a', 'b', 'a', 'b', 'a', 'b'];
  await producer.scheduleMany(groups.map((group) => ({ job: 'row', payload: null, options: { group } })));
  await until('all are inserted', () => calls.flat().length === groups.length);
  expect(calls).toEqual([
    ['a', 'a', 'b', 'b'],
    ['a', 'b'],
  ]);
});
