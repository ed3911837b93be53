import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob, type ScheduledJob } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { WorkerProcesses } from '../../support/worker-process.js';

// The long form: GROUPS_LONG=1 npm test -- test/e2e/queue/groups.spec.ts
const IS_LONG = process.env.GROUPS_LONG !== undefined;

let workers: WorkerProcesses;

beforeEach(() => {
  workers = new WorkerProcesses();
});

afterEach(async () => {
  await workers.stop();
  await stopApps();
});

const namesOf = (count: number, prefix: string) => Array.from({ length: count }, (_, i) => `${prefix}${i + 1}`);

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

  const starts = workers.startsByClaim().slice(0, 1_000);
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
    const claimed = workers.startsByClaim().map((line) => ({ ...line, claimedAt: line.fence! / 1_000 }));
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
