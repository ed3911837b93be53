import { afterEach, expect, it } from '@jest/globals';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { WorkerProcesses } from '../../support/worker-process.js';

const SECONDS = Number(process.env.RECURRENCE_SECONDS ?? 12);
const LEASE_MS = 2_000;

let processes: WorkerProcesses;

afterEach(async () => {
  await processes.stop();
  await stopApps();
});

it(
  `each second has exactly one job over five processes, two of which are killed and one of which comes later, for ${SECONDS} s`,
  async () => {
    processes = new WorkerProcesses();
    const names = ['a', 'b', 'c', 'd'];
    await Promise.all(names.map((name) => processes.start(name, { leaseMs: LEASE_MS })));
    const { producer, inspector } = await startApp([], { prefix: processes.prefix, role: 'producer' });
    const { nextAt } = await producer.upsertRecurrence('tick', 'work', null, { everyMs: 1_000, onMissed: 'all' });
    const first = nextAt!.getTime();
    /** Resolves at this part of the time. */
    const at = (part: number) =>
      until('time passes', () => Date.now() > first + part * SECONDS * 1_000, SECONDS * 2_000);
    await at(1 / 4);
    processes.signal('a', 'SIGKILL');
    const joins = processes.start('e', { leaseMs: LEASE_MS });
    await at(1 / 2);
    processes.signal('b', 'SIGKILL');
    await joins;
    await at(1);
    await producer.pauseRecurrence('tick');
    const last = (await producer.recurrence('tick'))!.lastAt!.getTime();
    // What the killed ones held comes back when their leases have run out.
    await until('all have ended', async () => {
      const { due, scheduled, active } = await inspector.counts();
      return due + scheduled + active === 0;
    });
    const expected = Array.from({ length: (last - first) / 1_000 + 1 }, (_, i) => `tick@${first + i * 1_000}`);
    expect(expected.length).toBeGreaterThanOrEqual(SECONDS - 2);
    const history = processes.history();
    expect([...new Set(history.map(({ id }) => id))].sort()).toEqual(expected);
    // Only what a killed process held may have begun twice.
    const ends = history.filter(({ event }) => event === 'end').map(({ id }) => id);
    expect(ends.length - new Set(ends).size).toBeLessThanOrEqual(2);
    const stats = await inspector.stats();
    // The pause took one away that was armed.
    expect(stats.completed).toBe(expected.length);
    expect(stats.discarded).toBe(0);
    expect(stats.scheduled - stats.cancelled).toBe(expected.length);
    expect(new Set(history.map(({ worker }) => worker)).size).toBeGreaterThan(1);
  },
  SECONDS * 1_000 + 60_000,
);
