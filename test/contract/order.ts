import { describe, expect, it } from '@jest/globals';
import type { QueueOptions } from '../../lib/core/options/queue-options.js';
import type { ClaimedJob } from '../../lib/store/job-store.js';
import { seededRandom } from '../support/random.js';
import { payloads, settlement, type TestSession, type World } from './world.js';

interface Planned {
  id: string;
  priority: number;
  due: number;
}

/** Claims and completes until nothing is left, so many at a time. */
async function drain(worker: TestSession, limitOf: () => number): Promise<ClaimedJob[]> {
  const found: ClaimedJob[] = [];
  let claimed: readonly ClaimedJob[] = [];
  do {
    const settlements = claimed.map((job) => settlement.complete(job));
    ({ claimed } = await worker.turn({ settlements, limit: limitOf() }));
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

export const order = (world: () => World): void => {
  /** Schedules jobs at random times of a span, in random order, and lets all become due. */
  async function scheduleMixed(count: number, priorities: readonly number[], names: readonly string[], spanMs: number) {
    const random = seededRandom(count);
    const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)]!;
    const from = world().now() + 1_000;
    const jobs = Array.from({ length: count }, () => ({
      name: pick(names),
      priority: pick(priorities),
      due: { at: from + Math.floor(random() * spanMs) },
    }));
    const answers = await world().scheduleAll(jobs);
    world().pass(1_000 + spanMs);
    return answers.map(({ id, dueAtMs }, i): Planned => ({ id, priority: jobs[i]!.priority, due: dueAtMs! }));
  }

  describe.each<[string, QueueOptions, (job: Planned) => number]>([
    ['strict', {}, ({ priority }) => priority],
    ['aging', { ordering: { mode: 'aging', msPerLevel: 30 } }, ({ priority, due }) => due + priority * 30],
  ])('where the ordering is %s', (_, options, rank) => {
    it('one worker claims ten thousand jobs of five priorities in exactly that order', async () => {
      world().store(options);
      const planned = await scheduleMixed(10_000, PRIORITIES, NAMES, 3_000);
      const claimed = await drain(world().worker('w', ...NAMES), () => 500);
      expect(claimed.map(({ id }) => id)).toEqual(inOrder(planned, rank));
    });

    it('whatever the size of a claim, and over thousands of names', async () => {
      world().store(options);
      const names = Array.from({ length: 3_000 }, (_, i) => `name-${i}`);
      const planned = await scheduleMixed(10_000, [1, 2, 3], names, 500);
      const random = seededRandom(3);
      const claimed = await drain(world().worker('w', ...names), () => 1 + Math.floor(random() * 40));
      expect(claimed.map(({ id }) => id)).toEqual(inOrder(planned, rank));
    });

    it('four workers at once claim nothing while something of better rank could be claimed', async () => {
      world().store(options);
      const planned = await scheduleMixed(2_000, PRIORITIES, NAMES, 2_000);
      const workers = ['a', 'b', 'c', 'd'].map((id) => world().worker(id, ...NAMES));
      const claimed = (await Promise.all(workers.map((worker) => drain(worker, () => 50)))).flat();
      // A fence tells when its claim ran; the jobs of one claim share it.
      const byClaim = claimed
        .map((job, i) => ({ ...job, i }))
        .sort((a, b) => Number(a.fence) - Number(b.fence) || a.i - b.i);
      expect(byClaim.map(({ id }) => id)).toEqual(inOrder(planned, rank));
    });

    it('lists and peeks at due jobs in that order', async () => {
      const { view } = world().store(options);
      const planned = await scheduleMixed(200, PRIORITIES, NAMES, 2_000);
      const wanted = inOrder(planned, rank);
      expect((await view.list('due', 0, 500)).map(({ id }) => id)).toEqual(wanted);
      expect(await view.peek(50, ({ id }) => id)).toEqual(wanted.slice(0, 50));
    });
  });

  it('a job is never overtaken by one that is due more than (priority - 1) levels after it', async () => {
    const msPerLevel = 200;
    world().store({ ordering: { mode: 'aging', msPerLevel } });
    const from = world().now() + 300;
    const urgentAt = (due: number) => ({ priority: 1, due: { at: due }, payload: String(due - from) });
    const bound = 3 * msPerLevel;
    await world().scheduleAll([
      { priority: 4, due: { at: from }, payload: 'patient' },
      urgentAt(from + bound - 1),
      urgentAt(from + bound),
      urgentAt(from + bound + 1),
    ]);
    world().pass(2_000);
    // Of equal ranks the lower priority number goes first.
    expect(payloads(await world().worker('w').claim(10))).toEqual([
      String(bound - 1),
      String(bound),
      'patient',
      String(bound + 1),
    ]);
  });

  it('where jobs age, one that comes behind a handler which the claim itself fills is still taken by its own rank', async () => {
    world().store({ ordering: { mode: 'aging', msPerLevel: 100 }, stealAfterMs: 0 });
    const from = world().now();
    await world().scheduleAll([
      { payload: 'fills', name: 'one', priority: 1, due: { at: from } },
      { payload: 'full', name: 'one', priority: 5, due: { at: from + 900 }, worker: 'w' },
      { payload: 'common', priority: 5, due: { at: from + 100 } },
      { payload: 'urgent', priority: 1, due: { at: from + 700 } },
    ]);
    world().pass(1_000);
    const { claimed } = await world()
      .worker('w', 'one', 'work')
      .turn({ limit: 10, handlers: [{ name: 'one', weight: 1, free: 1, size: 1 }] });
    expect(payloads(claimed)).toEqual(['fills', 'common', 'urgent']);
  });

  it('where jobs age, one that is not due yet is not claimed, however urgent', async () => {
    world().store({ ordering: { mode: 'aging', msPerLevel: 1_000 } });
    await world().scheduleAll([
      { priority: 100, payload: 'due' },
      { priority: 1, due: { delayMs: 10 }, payload: 'later' },
    ]);
    expect(payloads(await world().worker('w').claim())).toEqual(['due']);
  });
};
