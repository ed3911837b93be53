import { afterEach, describe, expect, it } from '@jest/globals';
import type { QueueOptions } from '../../lib/core/options/queue-options.js';
import type { ClaimedJob } from '../../lib/store/job-store.js';
import { seededRandom } from '../support/random.js';
import { newJob, settlement, TestStore, type TestWorker } from '../support/store.js';
import { until } from '../support/wait.js';

interface Planned {
  id: string;
  priority: number;
  due: number;
}

let test: TestStore;

afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

/** Schedules jobs of these priorities and names at random times of a span, in random order, and waits until all are due. */
async function scheduleMixed(count: number, priorities: readonly number[], names: readonly string[], spanMs: number) {
  const random = seededRandom(count);
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)]!;
  // Nothing is due before all are there, so that nothing is claimed too early to be compared.
  const from = Date.now() + 1_000 + count / 20;
  const planned: Planned[] = [];
  for (let i = 0; i < count; i += 5_000) {
    const jobs = Array.from({ length: Math.min(5_000, count - i) }, () => {
      const at = from + Math.floor(random() * spanMs);
      return newJob({ name: pick(names), priority: pick(priorities), due: { at } });
    });
    const answers = await test.scheduleAll(jobs);
    for (const [j, { id, dueAtMs }] of answers.entries())
      planned.push({ id, priority: jobs[j]!.priority, due: dueAtMs! });
  }
  expect(Math.min(...planned.map(({ due }) => due))).toBeGreaterThanOrEqual(from);
  await until('all are due', () => Date.now() > from + spanMs);
  return planned;
}

/** Claims and completes until nothing is left, so many at a time. */
async function drain(worker: TestWorker, roomOf: () => number): Promise<ClaimedJob[]> {
  const found: ClaimedJob[] = [];
  let claimed: readonly ClaimedJob[] = [];
  do {
    const answer = await worker.turn({
      settlements: claimed.map((job) => settlement.complete(job)),
      limit: roomOf(),
    });
    ({ claimed } = answer);
    found.push(...claimed);
  } while (claimed.length > 0);
  return found;
}

const inOrder = (jobs: readonly Planned[], rank: (job: Planned) => number) =>
  [...jobs]
    .sort((a, b) => rank(a) - rank(b) || a.priority - b.priority || a.due - b.due || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id);

const PRIORITIES = [1, 2, 5, 10, 100];
const NAMES = Array.from({ length: 7 }, (_, i) => `name-${i}`);

describe.each<[string, QueueOptions, (job: Planned) => number]>([
  ['strict', {}, ({ priority }) => priority],
  ['aging', { ordering: { mode: 'aging', msPerLevel: 30 } }, ({ priority, due }) => due + priority * 30],
])('where the ordering is %s', (_, options, rank) => {
  it('one worker claims twenty thousand jobs of five priorities in exactly that order', async () => {
    test = new TestStore({ concurrency: 1_000, ...options });
    const planned = await scheduleMixed(20_000, PRIORITIES, NAMES, 1_000);
    const claimed = await drain(test.worker('w', ...NAMES), () => 500);
    expect(claimed.map(({ id }) => id)).toEqual(inOrder(planned, rank));
  }, 120_000);

  it('names that this worker does not handle hide nothing behind them', async () => {
    test = new TestStore({ concurrency: 1_000, ...options });
    const strangers = Array.from({ length: 4_500 }, (_, i) => `stranger-${i}`);
    // More at each of two levels than one turn looks at: each must be gone on with where it was left.
    for (const priority of [1, 2]) {
      const jobs = strangers.map((name) => newJob({ name, priority }));
      await test.scheduleAll(jobs);
    }
    const planned = await scheduleMixed(300, [1, 2, 3], ['work'], 100);
    const found: string[] = [];
    const worker = test.worker('w');
    for (let turns = 0; found.length < planned.length && turns < 30; turns++) {
      const answer = await worker.turn({ limit: 100 });
      found.push(...answer.claimed.map(({ id }) => id));
    }
    expect(new Set(found)).toEqual(new Set(planned.map(({ id }) => id)));
  });
});
