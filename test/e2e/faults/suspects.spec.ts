import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { type HistoryLine, WorkerProcesses } from '../../support/worker-process.js';

const LEASE_MS = 1_000;
const INNOCENTS = 60;

let workers: WorkerProcesses;
beforeEach(() => {
  workers = new WorkerProcesses();
});
afterEach(async () => {
  await workers.stop();
  await stopApps();
});

/** Jobs that ran in a process while another one ran its third attempt there. */
function besideThirdAttempts(history: readonly HistoryLine[]): string[] {
  const beside: string[] = [];
  const byProcess = new Map<number, Map<string, number>>();
  for (const { event, id, pid, attempt } of history) {
    const running = byProcess.get(pid!) ?? new Map<string, number>();
    byProcess.set(pid!, running);
    if (event === 'end') running.delete(id);
    else running.set(id, attempt);
    if (running.size > 1 && [...running.values()].includes(3)) beside.push(...running.keys());
  }
  return beside;
}

it.each([
  ['one worker with 30 places', 1, 30],
  ['two workers with 10 places', 2, 10],
])('only the job that kills its process is dead, of 60 others beside it, with %s', async (_, count, concurrency) => {
  const { producer, inspector } = await startApp([], { prefix: workers.prefix });
  await producer.schedule('work', { killAfterMs: 60 }, { id: 'killer', at: Date.now() - 1 });
  const innocents = Array.from({ length: INNOCENTS }, (_, i) => ({
    job: 'work',
    payload: null,
    options: { id: `innocent-${i}` },
  }));
  await producer.scheduleMany(innocents);
  const options = { concurrency, leaseMs: LEASE_MS, workMs: 80 };
  await Promise.all(Array.from({ length: count }, (_, i) => workers.keepAlive(`w${i}`, options)));

  await until('all others have completed and the killer is dead', async () => {
    const { completed, dead } = await inspector.stats();
    return completed === INNOCENTS && dead === 1;
  });
  expect((await inspector.list('dead')).map(({ id, reason }) => [id, reason])).toEqual([['killer', 'crashed']]);
  const thirdAttempts = workers.history().filter(({ event, attempt }) => event === 'start' && attempt === 3);
  // Those that died twice beside the killer, and the killer itself.
  expect(thirdAttempts.length).toBeGreaterThan(1);
  expect(besideThirdAttempts(workers.history())).toEqual([]);
});
