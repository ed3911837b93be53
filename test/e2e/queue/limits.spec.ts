import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { WorkerProcesses } from '../../support/worker-process.js';

const NAMES = ['w1', 'w2', 'w3', 'w4'];

let workers: WorkerProcesses;

beforeEach(() => {
  workers = new WorkerProcesses();
});

afterEach(async () => {
  await workers.stop();
  await stopApps();
});

it('no window has more starts than the rate over four processes, and hardly less', async () => {
  const SECONDS = 10;
  // What a busy machine may lose of them.
  const LOST_SECONDS = 1.5;
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
  expect(inTime.length).toBeGreaterThanOrEqual(100 * (SECONDS - LOST_SECONDS));
}, 120_000);
