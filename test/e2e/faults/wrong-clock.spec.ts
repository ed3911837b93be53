import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { WorkerProcesses } from '../../support/worker-process.js';

let workers: WorkerProcesses;

beforeEach(() => {
  workers = new WorkerProcesses();
});

afterEach(async () => {
  await workers.stop();
  await stopApps();
});

it.each(['fast', 'slow', 'jumping'] as const)(
  'a worker whose wall clock is an hour wrong (%s) runs no job early, none late and none twice',
  async (wrongClock) => {
    const JOBS = 40;
    const { producer, inspector } = await startApp([], { prefix: workers.prefix });
    // Longer than half a lease of work, so that leases are renewed on the way.
    await workers.start('wrong', { wrongClock, concurrency: 100, leaseMs: 1_500, workMs: 1_000 });
    await producer.scheduleMany(
      // Each schedules another one by its own idea of time.
      Array.from({ length: JOBS }, (_, i) => ({
        job: 'work',
        payload: { thenInMs: 700 },
        options: { at: new Date(Date.now() + 200 + 20 * i) },
      })),
    );
    await producer.schedule('work', null, { delay: '59m' });
    await until('all have run', async () => (await inspector.stats()).completed === 2 * JOBS);
    const starts = workers.history().filter(({ event }) => event === 'start');
    expect(starts).toHaveLength(2 * JOBS);
    expect(new Set(starts.map(({ id }) => id)).size).toBe(2 * JOBS);
    const lateness = starts.map(({ at, dueAt }) => at - dueAt);
    // A millisecond for the rounding of either clock.
    expect(Math.min(...lateness)).toBeGreaterThanOrEqual(-1);
    expect(Math.max(...lateness)).toBeLessThan(1_500);
    expect(await inspector.stats()).toMatchObject({ recovered: 0, failed: 0 });
    expect(await inspector.counts()).toMatchObject({ scheduled: 1, due: 0, active: 0 });
  },
);
