import { afterEach, expect, it } from '@jest/globals';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { WorkerProcesses } from '../../support/worker-process.js';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  await stopApps();
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** How late jobs begin of which each is scheduled just before one of three idle workers is killed: for each list three new ones. */
async function latenessBesideDead(...lists: string[][]): Promise<number[]> {
  const lateness: number[] = [];
  for (const list of lists) {
    const workers = new WorkerProcesses();
    cleanups.push(() => workers.stop());
    const { producer } = await startApp([], { prefix: workers.prefix, role: 'producer' });
    for (const id of ['a', 'b', 'c']) await workers.start(id, { leaseMs: 15_000 });
    for (const dying of list) {
      const { id, dueAt } = await producer.schedule('work', null, { delay: 700 });
      workers.signal(dying, 'SIGKILL');
      await workers.ended(dying);
      const start = await until('it runs', () =>
        workers.history().find((line) => line.event === 'start' && line.id === id),
      );
      lateness.push(start.at - dueAt!.getTime());
    }
  }
  return lateness;
}

it('a job is no more than two seconds late when the worker that would have looked for it has died', async () => {
  expect(Math.max(...(await latenessBesideDead(['a'], ['b'])))).toBeLessThan(2_000);
});

it('a job is no more than two seconds late when two workers have died one after the other', async () => {
  // Each is in its turn the one that looks first, its deputy, or the third.
  expect(Math.max(...(await latenessBesideDead(['a', 'b'], ['b', 'c'], ['c', 'a'])))).toBeLessThan(2_000);
});

it('a job scheduled just after a dying worker would have looked is no more than two seconds late', async () => {
  const workers = new WorkerProcesses();
  cleanups.push(() => workers.stop());
  const { producer } = await startApp([], { prefix: workers.prefix, role: 'producer' });
  await workers.start('a', { leaseMs: 15_000 });
  await workers.start('b', { leaseMs: 15_000 });
  const first = await producer.schedule('work', null, { delay: 900 });
  workers.signal('a', 'SIGKILL');
  await workers.ended('a');
  // Due after the look that the dead worker had announced.
  const second = await producer.schedule('work', null, { delay: 1_000 });
  for (const { id, dueAt } of [first, second]) {
    const start = await until('it runs', () =>
      workers.history().find((line) => line.event === 'start' && line.id === id),
    );
    expect(start.at - dueAt!.getTime()).toBeLessThan(2_000);
  }
});

it('workers that have stopped in good order are not counted on', async () => {
  const workers = new WorkerProcesses();
  cleanups.push(() => workers.stop());
  const { producer } = await startApp([], { prefix: workers.prefix, role: 'producer' });
  for (const id of ['a', 'b']) await workers.start(id, { leaseMs: 15_000 });
  // The third will look some seconds later than the first two have announced.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  await workers.start('c', { leaseMs: 15_000 });
  for (const id of ['a', 'b']) {
    workers.signal(id, 'SIGTERM');
    await workers.ended(id);
  }
  // Due after the looks of those who are gone, and before that of the one who is there.
  const { id, dueAt } = await producer.schedule('work', null, { delay: 2_800 });
  const start = await until('it runs', () =>
    workers.history().find((line) => line.event === 'start' && line.id === id),
  );
  // One who counts on them sleeps until its own look, two seconds later.
  expect(start.at - dueAt!.getTime()).toBeLessThan(1_500);
});
