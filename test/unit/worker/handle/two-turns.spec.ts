import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import type { ScheduledJob } from '../../../../lib/core/job/scheduled-job.js';
import type { Turn } from '../../../../lib/store/job-store.js';
import type { QueueWorker } from '../../../../lib/worker/handle/queue-worker.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { seededRandom } from '../../../support/random.js';
import { claimsOf, SessionByHand, stopAt, workerAt } from '../../../support/session-by-hand.js';
import { until } from '../../../support/wait.js';

const CONCURRENCY = 100;
/** What a turn is answered that had room for less than is due. */
const full = (limit: number) => ({ claimed: claimsOf(limit), sleepMs: undefined });
const carries = ({ settlements, limit }: Turn) => ({ ends: settlements.length, limit });

interface Started {
  session: SessionByHand;
  worker: QueueWorker;
  clock: ManualClock;
}

/** A worker whose handler returns at once, and whose first turn is under way. */
async function looking(options: object): Promise<Started> {
  const session = new SessionByHand();
  const clock = new ManualClock();
  const worker = workerAt(session, { run: () => undefined }, options, { clock });
  worker.start();
  await until('it looks', () => session.turns.length === 1);
  return { session, worker, clock };
}

/** One with a backlog: two turns are under way. */
async function behind(options: object = {}): Promise<Started> {
  const started = await looking({ concurrency: CONCURRENCY, ...options });
  const { session } = started;
  session.answer(full(CONCURRENCY));
  await until('there are two', () => session.underWay.length === 2);
  return started;
}

it('while more is due than there is room for, two turns are under way, and each carries half', async () => {
  const { session, worker } = await behind();
  expect(session.underWay.map(carries)).toEqual([
    { ends: 50, limit: 50 },
    { ends: 50, limit: 50 },
  ]);
  session.answer(full(50));
  await until('the next one is out', () => session.turns.length === 4);
  expect(carries(session.turns[3]!)).toEqual({ ends: 50, limit: 50 });
  await stopAt(session, worker);
});

it('where another worker has a backlog as well, there is one with all of it, until eight in a row met nobody', async () => {
  const { session, worker } = await behind();
  session.answer({ ...full(50), isContended: true });
  await nextRound();
  expect(session.underWay).toHaveLength(1);
  session.answer(full(50));
  for (let met = 1; met < 8; met++) {
    await until('all goes at once', () => session.underWay.length === 1);
    expect(carries(session.underWay[0]!)).toEqual({ ends: CONCURRENCY, limit: CONCURRENCY });
    session.answer(full(CONCURRENCY));
  }
  await until('there are two again', () => session.underWay.length === 2);
  await stopAt(session, worker);
});

it('who has more places than one turn takes asks for them in a second, whoever else is behind', async () => {
  const { session, worker } = await looking({ concurrency: 1_000 });
  session.answer({ ...full(500), isContended: true });
  await until('there are two', () => session.underWay.length === 2);
  expect(session.underWay.map(carries)).toEqual([
    { ends: 500, limit: 500 },
    { ends: 0, limit: 500 },
  ]);
  await stopAt(session, worker);
});

it('after a whole turn a worker with few places sends one at a time, until a turn was no whole one', async () => {
  const { session, worker } = await looking({ concurrency: 20 });
  session.answer({ ...full(20), isWhole: true });
  await until('it goes on', () => session.turns.length === 2);
  expect(session.underWay.map(carries)).toEqual([{ ends: 20, limit: 20 }]);
  session.answer(full(20));
  await until('there are two', () => session.underWay.length === 2);
  expect(session.underWay.map(carries)).toEqual([
    { ends: 10, limit: 10 },
    { ends: 10, limit: 10 },
  ]);
  await stopAt(session, worker);
});

it('they claim no more together than there is room for, whatever has ended meanwhile', async () => {
  const random = seededRandom(7);
  const session = new SessionByHand();
  const ends: (() => void)[] = [];
  let running = 0;
  const run = () => {
    running++;
    return new Promise<void>((resolve) => {
      ends.push(() => {
        running--;
        resolve();
      });
    });
  };
  const worker = workerAt(session, { run }, { concurrency: CONCURRENCY });
  worker.start();
  let most = 0;
  for (let i = 0; i < 2_000; i++) {
    await nextRound();
    most = Math.max(most, session.underWay.length);
    const asked = session.underWay.reduce((sum, { limit }) => sum + limit, 0);
    expect(running + asked).toBeLessThanOrEqual(CONCURRENCY);
    if (random() < 0.5 && session.underWay.length > 0) session.answer(full(session.underWay[0]!.limit));
    else
      for (let n = random() * 40; n > 0 && ends.length > 0; n--)
        ends.splice(Math.floor(random() * ends.length), 1)[0]!();
  }
  expect(most).toBe(2);
  for (const end of ends) end();
  await stopAt(session, worker);
});

it('one alone claims and settles no more than five hundred, and the next goes on', async () => {
  const session = new SessionByHand();
  const ends: (() => void)[] = [];
  const run = () => new Promise<void>((resolve) => ends.push(resolve));
  const worker = workerAt(session, { run }, { concurrency: 1_000 });
  worker.start();
  for (const answer of [full(500), { claimed: claimsOf(400), sleepMs: 60_000 }]) {
    await until('it looks', () => session.underWay.length === 1);
    expect(carries(session.underWay[0]!)).toEqual({ ends: 0, limit: 500 });
    session.answer(answer);
  }
  await until('all run', () => ends.length === 900);
  for (const end of ends) end();
  await until('it settles', () => session.underWay.length === 1);
  expect(carries(session.underWay[0]!)).toEqual({ ends: 500, limit: 500 });
  await stopAt(session, worker);
});

it.each([
  [10, [5, 5]],
  [9, [9]],
])('a second one is sent from five jobs on: at a concurrency of %i they carry %j', async (concurrency, carried) => {
  const session = new SessionByHand();
  const worker = workerAt(session, { run: () => undefined }, { concurrency });
  worker.start();
  await until('it looks', () => session.turns.length === 1);
  session.answer(full(concurrency));
  await until('it goes on', () => session.turns.length === 1 + carried.length);
  await nextRound();
  expect(session.underWay.map(carries)).toEqual(carried.map((count) => ({ ends: count, limit: count })));
  await stopAt(session, worker);
});

it('one that renews waits until no other may claim what it would have to renew', async () => {
  const { session, worker } = await behind();
  session.hints!.cancel();
  session.answer(full(50));
  await nextRound();
  await nextRound();
  expect(session.underWay).toHaveLength(1);
  session.answer(full(50));
  await until('it renews', () => session.turns.length === 4);
  expect(carries(session.turns[3]!)).toEqual({ ends: 100, limit: 100 });
  await stopAt(session, worker);
});

it('one that tells what a run has reported waits until no other is under way, and tells the last of it', async () => {
  const session = new SessionByHand();
  const clock = new ManualClock();
  let reporting: ScheduledJob | undefined;
  const run = (_: unknown, job: ScheduledJob) => {
    if (reporting) return undefined;
    reporting = job;
    return new Promise(() => {});
  };
  const worker = workerAt(session, { run }, { concurrency: CONCURRENCY }, { clock });
  worker.start();
  await until('it looks', () => session.turns.length === 1);
  session.answer(full(CONCURRENCY));
  await until('there are two', () => session.underWay.length === 2);
  for (const value of [1, 2]) reporting!.progress(value);
  session.answer(full(session.underWay[0]!.limit));
  await nextRound();
  await nextRound();
  expect(session.underWay).toHaveLength(1);
  reporting!.progress(3);
  session.answer(full(session.underWay[0]!.limit));
  await until('it tells', () => session.turns.length > 3);
  expect(session.turns.slice(0, 4).map(({ reports }) => reports)).toEqual([
    [],
    [],
    [],
    [{ id: reporting!.id, fence: '1', value: '3' }],
  ]);
  await stopAt(session, worker);
});

it('beside one that renews no other goes, which might settle and claim anew what it speaks of', async () => {
  const session = new SessionByHand();
  const ends: (() => void)[] = [];
  const worker = workerAt(
    session,
    { run: () => new Promise<void>((end) => ends.push(end)) },
    { concurrency: CONCURRENCY },
  );
  worker.start();
  await until('it looks', () => session.turns.length === 1);
  session.answer(full(CONCURRENCY));
  await until('all have started', () => ends.length === CONCURRENCY);
  session.hints!.cancel();
  await until('it renews', () => session.underWay.length === 1);
  expect(session.underWay[0]!.renewals).toHaveLength(CONCURRENCY);
  for (const end of ends) end();
  await nextRound();
  await nextRound();
  expect(session.underWay).toHaveLength(1);
  session.answer({ sleepMs: undefined });
  await until('the ends go', () => session.underWay.length === 1);
  await stopAt(session, worker);
});

it('a second one does not stretch the leases of what the first has claimed', async () => {
  const session = new SessionByHand();
  const clock = new ManualClock();
  const leaseMs = 3_000;
  let started = 0;
  let ends: (() => void)[] = [];
  const run = () => {
    started++;
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  const endHalf = () => {
    for (const end of ends.splice(0, 50)) end();
  };
  const worker = workerAt(session, { run }, { concurrency: CONCURRENCY, leaseMs }, { clock });
  worker.start();
  await until('it looks', () => session.turns.length === 1);
  session.answer(full(CONCURRENCY));
  await until('all have started', () => started === CONCURRENCY);
  endHalf();
  await until('the first is out', () => session.underWay.length === 1);
  await clock.elapse(500);
  endHalf();
  await until('the second is out', () => session.underWay.length === 2);
  // The answer of the first is lost, and comes again only once its lease is over; that of the second is there at once.
  const [first, second] = [session.underWay[0]!, session.underWay[1]!];
  session.answerTo(second, { sleepMs: 60_000 });
  await clock.elapse(leaseMs - 500);
  ends = [];
  session.answerTo(first, full(first.limit));
  await nextRound();
  expect(started).toBe(CONCURRENCY);
  await stopAt(session, worker);
});

it('handlers with limits of their own have one turn at a time, as only its answer tells what is left of them', async () => {
  const session = new SessionByHand();
  const worker = workerAt(session, { run: () => undefined, concurrency: 90 }, { concurrency: CONCURRENCY });
  worker.start();
  await until('it looks', () => session.turns.length === 1);
  session.answer(full(90));
  await until('it goes on', () => session.turns.length === 2);
  await nextRound();
  expect(session.underWay.map(({ settlements }) => settlements.length)).toEqual([90]);
  await stopAt(session, worker);
});

it('one that was refused is sent again as it was, and the other is not', async () => {
  const { session, worker, clock } = await behind();
  const [first, second] = session.underWay;
  session.refuse(new Error('refused'));
  session.answer({ sleepMs: 60_000 });
  await clock.elapse(999);
  expect(session.underWay).toEqual([]);
  await clock.elapse(1);
  expect(session.underWay).toHaveLength(1);
  expect(session.underWay[0]).toBe(first);
  expect(session.turns.filter((turn) => turn === second)).toHaveLength(1);
  await stopAt(session, worker);
});

it('where one found nothing while the other had no room for more, it looks again at once', async () => {
  const { session, worker } = await behind();
  session.answer({ sleepMs: 60_000 });
  session.answer(full(50));
  await until('it looks', () => session.underWay.length === 1);
  expect(carries(session.underWay[0]!)).toEqual({ ends: 50, limit: 100 });
  session.answer({ sleepMs: undefined });
  await until('it looks again though nothing has ended', () => session.underWay.length === 1);
  await stopAt(session, worker);
});

it('the last turn goes alone, and what was claimed meanwhile goes back', async () => {
  const { session, worker } = await behind();
  const stopped = worker.stop(new AbortController().signal);
  const claimed = claimsOf(50);
  session.answer({ claimed, sleepMs: undefined });
  await nextRound();
  expect(session.underWay).toHaveLength(1);
  session.answer(full(50));
  await until('the last one is out', () => session.underWay.length === 1 && session.underWay[0]!.isLast);
  const last = session.underWay[0]!;
  expect(last.limit).toBe(0);
  expect(last.settlements).toHaveLength(100);
  expect(last.settlements).toContainEqual({ id: claimed[0]!.id, fence: '1', transition: 'release' });
  session.answer();
  await stopped;
});
