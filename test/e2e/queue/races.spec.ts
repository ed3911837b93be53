import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { OnScheduledJob, ScheduledJob } from '../../../lib/index.js';
import { type Ask, ProducerProcess } from '../../support/producer-process.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { WorkerProcesses } from '../../support/worker-process.js';

let workers: WorkerProcesses;
let producers: ProducerProcess[];

beforeEach(async () => {
  workers = new WorkerProcesses();
  producers = await Promise.all([1, 2].map(() => ProducerProcess.start(workers.prefix)));
});

afterEach(async () => {
  await Promise.all([workers.stop(), ...producers.map((producer) => producer.stop()), stopApps()]);
});

it('one id that many callers of several processes schedule at the same time is created once, each time', async () => {
  const ids = Array.from({ length: 100 }, (_, i) => `id-${i}`);
  const asks = ids.flatMap((schedule) => Array.from({ length: 10 }, () => ({ schedule })));
  const answers = await Promise.all(producers.map((producer) => producer.ask(asks)));
  const created = new Map(ids.map((id) => [id, 0]));
  for (const bits of answers)
    for (const [i, bit] of bits.entries()) if (bit) created.set(asks[i]!.schedule, created.get(asks[i]!.schedule)! + 1);
  expect([...created].filter(([, times]) => times !== 1)).toEqual([]);
  const { inspector } = await startApp([], { prefix: workers.prefix });
  expect(await inspector.counts()).toMatchObject({ due: ids.length, scheduled: 0 });
});

/** What two processes call about jobs in the order in which two others claim them, as close as they can to the claims. */
async function raceWithClaims(jobs: number, ask: (id: string) => Ask) {
  const ASKED_AT_ONCE = 20;
  const { producer, inspector } = await startApp([], { prefix: workers.prefix });
  await Promise.all(['a', 'b'].map((id) => workers.start(id, { concurrency: 10, workMs: 4 })));
  // Jobs of one millisecond are claimed in the order of their ids.
  const ids = Array.from({ length: jobs }, (_, i) => `job-${String(i).padStart(5, '0')}`);
  const refs = await producer.scheduleMany(ids.map((id) => ({ job: 'work', payload: null, options: { id } })));
  const answers = new Map<string, boolean>();
  await Promise.all(
    producers.map(async (caller, half) => {
      let pauseMs = 1;
      let skip = 1;
      for (let i = half; i < jobs; ) {
        const asked: string[] = [];
        for (; asked.length < ASKED_AT_ONCE && i < jobs; i += producers.length) asked.push(ids[i]!);
        const bits = await caller.ask(asked.map(ask));
        for (const [at, bit] of bits.entries()) answers.set(asked[at]!, bit);
        if (bits.every(Boolean)) {
          // Ahead of the claims: they catch up.
          await sleep(pauseMs);
          pauseMs = Math.min(2 * pauseMs, 100);
        } else if (!bits.some(Boolean)) {
          // Behind them.
          i += producers.length * ASKED_AT_ONCE * skip;
          skip = Math.min(2 * skip, 8);
          pauseMs = 1;
        } else skip = 1;
      }
    }),
  );
  const yes = ids.filter((id) => answers.get(id));
  const no = ids.filter((id) => answers.get(id) === false);
  process.stdout.write(`${yes.length} calls came before the claim, ${no.length} after it\n`);
  // Else this was no race.
  expect(Math.min(yes.length, no.length)).toBeGreaterThanOrEqual(ASKED_AT_ONCE / 2);
  return { yes, refs, inspector };
}

it('cancel against claims of two processes: true is never started, false had been', async () => {
  const JOBS = 3_000;
  const { yes, inspector } = await raceWithClaims(JOBS, (cancel) => ({ cancel }));
  const others = JOBS - yes.length;
  await until('the others are done', async () => (await inspector.stats()).completed === others);
  const started = workers.history().flatMap(({ event, id }) => (event === 'start' ? [id] : []));
  expect(started).toHaveLength(others);
  expect(new Set(started).size).toBe(others);
  expect(yes.filter((id) => started.includes(id))).toEqual([]);
  expect(await inspector.stats()).toMatchObject({ cancelled: yes.length, started: others, recovered: 0 });
  expect(await inspector.counts()).toMatchObject({ scheduled: 0, due: 0, active: 0 });
});

it('reschedule against claims of two processes: true is run at the new time, false had been, and each runs once', async () => {
  const JOBS = 3_000;
  const { yes, refs, inspector } = await raceWithClaims(JOBS, (reschedule) => ({ reschedule, delay: 2_000 }));
  await until('all are done', async () => (await inspector.stats()).completed === JOBS);
  const starts = workers.history().filter(({ event }) => event === 'start');
  expect(starts).toHaveLength(JOBS);
  const dueAt = new Map(refs.map((ref) => [ref.id, ref.dueAt!.getTime()]));
  const moved = starts.filter((start) => start.dueAt !== dueAt.get(start.id));
  expect(moved.map(({ id }) => id).sort()).toEqual(yes);
  expect(moved.filter((start) => start.dueAt < dueAt.get(start.id)! + 2_000)).toEqual([]);
  expect(starts.filter((start) => start.at < start.dueAt - 1)).toEqual([]);
});

describe('a job that fails again and again', () => {
  const starts = new Map<string, number>();
  class Failing {
    @OnScheduledJob('fail', { maxAttempts: 1_000, backoff: { type: 'fixed', delayMs: 1 } })
    async fail(_payload: unknown, { id }: ScheduledJob): Promise<void> {
      starts.set(id, (starts.get(id) ?? 0) + 1);
      await sleep(1);
      throw new Error('no');
    }
  }

  it('never starts again once cancel has answered true', async () => {
    const { producer, inspector } = await startApp([Failing], { queues: { default: { concurrency: 100 } } });
    const refs = await producer.scheduleMany(Array.from({ length: 200 }, () => ({ job: 'fail', payload: null })));
    await until('all have failed', () => starts.size === refs.length);
    const startsAtCancel = new Map<string, number>();
    let refusals = 0;
    await Promise.all(
      refs.map(async (ref) => {
        while (!(await producer.cancel(ref))) refusals++;
        startsAtCancel.set(ref.id, starts.get(ref.id)!);
      }),
    );
    process.stdout.write(`${refs.length} cancelled between two attempts, after ${refusals} that came during one\n`);
    expect(refusals).toBeGreaterThan(0);
    await until('nothing is left', async () => Object.values(await inspector.counts()).every((count) => count === 0));
    expect(starts).toEqual(startsAtCancel);
    const { cancelled, failed, retried, started } = await inspector.stats();
    expect({ cancelled, failed, retried }).toEqual({ cancelled: refs.length, failed: started, retried: started });
  });
});
