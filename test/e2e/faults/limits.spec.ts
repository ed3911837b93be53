import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { type HistoryLine, WorkerProcesses } from '../../support/worker-process.js';

const NAMES = ['w1', 'w2', 'w3', 'w4'];

let workers: WorkerProcesses;

beforeEach(() => {
  workers = new WorkerProcesses();
});

afterEach(async () => {
  await workers.stop();
  await stopApps();
});

interface Run {
  worker: string;
  from: number;
  to: number;
}

/** Each run with its end; those that a killed process took with it end when it was killed. */
function runs(history: readonly HistoryLine[], killedAt: ReadonlyMap<string, number>): Run[] {
  const ends = new Map(
    history
      .filter(({ event }) => event === 'end')
      .map(({ id, attempt, worker, at }) => [`${id} ${attempt} ${worker}`, at]),
  );
  return history
    .filter(({ event }) => event === 'start')
    .map(({ id, attempt, worker, at }) => {
      const to = ends.get(`${id} ${attempt} ${worker}`) ?? killedAt.get(worker) ?? Number.POSITIVE_INFINITY;
      return { worker, from: at, to };
    });
}

/** How many runs there were at once, after each start and each end. */
function atOnce(found: readonly Run[]): { at: number; count: number }[] {
  const changes = found.flatMap(({ from, to }) => [
    { at: from, by: 1 },
    { at: to, by: -1 },
  ]);
  // What ends in the millisecond in which another begins ended before it.
  changes.sort((a, b) => a.at - b.at || a.by - b.by);
  let count = 0;
  return changes.map(({ at, by }) => {
    count += by;
    return { at, count };
  });
}

it('never more than globalConcurrency run at once over four processes, and as many again soon after two are killed', async () => {
  const LEASE_MS = 2_000;
  const { producer, inspector } = await startApp([], { prefix: workers.prefix });
  await producer.scheduleMany(Array.from({ length: 1_000 }, (_, i) => ({ job: 'work', payload: i })));
  const options = { concurrency: 5, leaseMs: LEASE_MS, workMs: 30, globalConcurrency: 7 };
  await Promise.all(NAMES.map((id) => workers.start(id, options)));
  await until('they work', async () => (await inspector.stats()).completed > 200);
  const killedAt = new Map<string, number>();
  for (const id of ['w1', 'w2']) {
    workers.signal(id, 'SIGKILL');
    await workers.ended(id);
    killedAt.set(id, performance.timeOrigin + performance.now());
  }
  const lastKill = Math.max(...killedAt.values());
  await until('all is done', async () => (await inspector.stats()).completed === 1_000);

  const counts = atOnce(runs(workers.history(), killedAt));
  expect(Math.max(...counts.map(({ count }) => count))).toBe(7);
  const back = counts.find(({ at, count }) => at > lastKill && count === 7)!;
  const lost = counts.findLast(({ at }) => at <= lastKill)!;
  process.stdout.write(`${lost.count} of 7 ran after the kills, 7 again ${Math.round(back.at - lastKill)} ms later\n`);
  expect(back.at - lastKill).toBeLessThan(LEASE_MS + 1_000);
}, 120_000);

it('no window has more starts than the rate over four processes, and hardly less', async () => {
  const SECONDS = 20;
  const { producer, inspector } = await startApp([], { prefix: workers.prefix });
  await producer.scheduleMany(Array.from({ length: 100 * (SECONDS + 5) }, (_, i) => ({ job: 'work', payload: i })));
  const options = { concurrency: 50, rateLimit: { max: 100, perMs: 1_000 } };
  await Promise.all(NAMES.map((id) => workers.start(id, options)));
  await until('the time is over', async () => (await inspector.stats()).started >= 100 * SECONDS);

  // By Redis' clock: a busy machine may bring handlers that were claimed a while apart closer together.
  const starts = workers
    .history()
    .filter(({ event }) => event === 'start')
    .map(({ fence }) => fence! / 1_000)
    .sort((a, b) => a - b);
  const inTime = starts.filter((at) => at < starts[0]! + SECONDS * 1_000);
  const closest = Math.min(...starts.slice(100).map((at, i) => at - starts[i]!));
  process.stdout.write(
    `${inTime.length} of ${100 * SECONDS} started in ${SECONDS} s; 101 starts took ${Math.floor(closest)} ms at the least\n`,
  );
  expect(closest).toBeGreaterThanOrEqual(1_000);
  expect(inTime.length).toBeGreaterThanOrEqual(0.95 * 100 * SECONDS);
}, 120_000);
