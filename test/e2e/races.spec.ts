import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { OnScheduledJob, ScheduledJob } from '../../lib/index.js';
import { ProducerProcess } from '../support/producer-process.js';
import { startApp, stopApps } from '../support/queue-app.js';
import { until } from '../support/wait.js';
import { WorkerProcesses } from '../support/worker-process.js';

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

/** Jobs that two processes run while two others call something about each of them, at about its due time. */
async function raceWithClaims<A>(
  jobs: number,
  ask: (id: string) => A & ({ cancel: string } | { reschedule: string; delay: number }),
) {
  const { producer, inspector } = await startApp([], { prefix: workers.prefix });
  await Promise.all(['a', 'b'].map((id) => workers.start(id, { concurrency: 20 })));
  const from = Date.now() + 1_000;
  const ids = Array.from({ length: jobs }, (_, i) => `job-${i}`);
  // Two a millisecond.
  const dueAt = (i: number) => from + Math.floor(i / 2);
  await producer.scheduleMany(
    ids.map((id, i) => ({ job: 'work', payload: null, options: { id, at: new Date(dueAt(i)) } })),
  );
  const answers = new Map<string, boolean>();
  await Promise.all(
    producers.map(async (caller, half) => {
      for (let i = half; i < jobs; ) {
        // Those around now, a little before or after it: some have been claimed, some are being claimed, some are not due.
        const group: string[] = [];
        const upTo = Date.now() + 6 * Math.random() - 4;
        for (; i < jobs && dueAt(i) <= upTo; i += producers.length) group.push(ids[i]!);
        if (group.length === 0) await sleep(1);
        else for (const [at, answer] of (await caller.ask(group.map(ask))).entries()) answers.set(group[at]!, answer);
      }
    }),
  );
  const yes = ids.filter((id) => answers.get(id));
  const no = ids.filter((id) => answers.get(id) === false);
  process.stdout.write(`of ${jobs} calls ${yes.length} came before the claim and ${no.length} after it\n`);
  expect(yes.length + no.length).toBe(jobs);
  // Else this was no race.
  expect(Math.min(yes.length, no.length)).toBeGreaterThan(jobs / 50);
  return { yes, no, inspector };
}

it('cancel against claims of two processes: true is never started, false had been', async () => {
  const JOBS = 4_000;
  const { yes, no, inspector } = await raceWithClaims(JOBS, (cancel) => ({ cancel }));
  await until('the others are done', async () => (await inspector.stats()).completed === no.length);
  const started = workers.history().flatMap(({ event, id }) => (event === 'start' ? [id] : []));
  expect(started.sort()).toEqual([...no].sort());
  expect(yes.filter((id) => started.includes(id))).toEqual([]);
  expect(await inspector.stats()).toMatchObject({ cancelled: yes.length, started: no.length, recovered: 0 });
  expect(await inspector.counts()).toMatchObject({ scheduled: 0, due: 0, active: 0 });
}, 40_000);

it('reschedule against claims of two processes: true is run at the new time, false had been, and each runs once', async () => {
  const JOBS = 2_000;
  const { yes, inspector } = await raceWithClaims(JOBS, (reschedule) => ({ reschedule, delay: 3_000 }));
  await until('all are done', async () => (await inspector.stats()).completed === JOBS, 15_000);
  const starts = workers.history().filter(({ event }) => event === 'start');
  expect(starts).toHaveLength(JOBS);
  const moved = new Set(yes);
  const due = (id: string) => Number(id.slice('job-'.length));
  const earliest = Math.min(...starts.map(({ dueAt, id }) => dueAt - Math.floor(due(id) / 2)));
  const late = starts.filter(({ dueAt, id }) => dueAt - earliest - Math.floor(due(id) / 2) > 1_000);
  expect(new Set(late.map(({ id }) => id))).toEqual(moved);
  expect(starts.filter(({ at, dueAt }) => at < dueAt - 1)).toEqual([]);
}, 40_000);

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
