import { setImmediate as nextRound } from 'node:timers/promises';
import { afterEach, expect, it } from '@jest/globals';
import type { ClaimedJob, Envelope, Turn } from '../../../../lib/store/job-store.js';
import type { QueueWorker } from '../../../../lib/worker/handle/queue-worker.js';
import { ManualClock, rest } from '../../../support/manual-clock.js';
import { answerUntil, claimsOf, SessionByHand, stopAt, workerAt } from '../../../support/session-by-hand.js';
import { until } from '../../../support/wait.js';

const CONCURRENCY = 100;
const AHEAD = 4 * CONCURRENCY;
/** After so many turns whose jobs were over at once the next one claims ahead. */
const QUICK = 8;

type Handler = (clock: ManualClock) => unknown;

/** A worker that is answered by hand, and told that another one is behind as well. */
interface Busy {
  session: SessionByHand;
  worker: QueueWorker;
  clock: ManualClock;
  /** The handler; may change. */
  run: Handler;
  /** Answers the turn under way, with all that it asked for unless told otherwise, and resolves with the next one. */
  serve(claimed?: readonly ClaimedJob[], sleepMs?: number): Promise<Turn>;
}

let started: Busy[] = [];

afterEach(async () => {
  for (const { session, worker, clock } of started) await stopAt(session, worker, clock);
  started = [];
});

async function busy(run: Handler, options: object = {}, handlersOwn?: number): Promise<Busy> {
  const session = new SessionByHand();
  const clock = new ManualClock();
  const handler = { run: () => made.run(clock), concurrency: handlersOwn };
  const worker = workerAt(session, handler, { concurrency: CONCURRENCY, ...options }, { clock });
  const made: Busy = {
    session,
    worker,
    clock,
    run,
    async serve(claimed = claimsOf(session.underWay[0]!.limit), sleepMs) {
      session.answer({ claimed: [...claimed], sleepMs, isContended: true });
      await until('the next turn is out', () => session.underWay.length === 1);
      return session.underWay[0]!;
    },
  };
  started.push(made);
  worker.start();
  await until('it looks', () => session.underWay.length === 1);
  return made;
}

/** What so many turns in a row ask for. */
async function rooms(worker: Busy, count: number, ...answer: Parameters<Busy['serve']>): Promise<number[]> {
  const asked: number[] = [];
  for (let i = 0; i < count; i++) asked.push((await worker.serve(...answer)).limit);
  return asked;
}

/** Serves turns until one is like that: how quick a single one was depends on the machine. */
async function serveUntil(worker: Busy, isLikeThat: (turn: Turn) => boolean): Promise<void> {
  for (let served = 0; served < 200; served++) if (isLikeThat(await worker.serve())) return;
  throw new Error('None of 200 turns was like that.');
}

async function ahead(run: Handler = () => undefined, options?: object): Promise<Busy> {
  const worker = await busy(run, options);
  await serveUntil(worker, ({ limit }) => limit === AHEAD);
  return worker;
}

const released = ({ settlements }: Turn) => settlements.filter(({ transition }) => transition === 'release');
const completed = ({ settlements }: Turn) => settlements.filter(({ transition }) => transition === 'complete');

it('where another worker has a backlog as well, and the jobs of eight turns were over at once, the next asks for four times as many, and runs them all', async () => {
  let ran = 0;
  const worker = await busy(() => void ran++);
  expect(await rooms(worker, QUICK - 1)).toEqual(Array(QUICK - 1).fill(CONCURRENCY));
  await serveUntil(worker, ({ limit }) => limit === AHEAD);
  await serveUntil(worker, (turn) => completed(turn).length === AHEAD);
  expect(worker.session.turns.flatMap(completed)).toHaveLength(ran);
});

it('no more run at once than before: the others begin as places become free, in the order in which they were claimed', async () => {
  let running = 0;
  let most = 0;
  const worker = await ahead(async () => {
    most = Math.max(most, ++running);
    await undefined;
    running--;
  });
  await serveUntil(worker, (turn) => {
    const ids = completed(turn).map(({ id }) => Number(id.slice('job-'.length)));
    expect(ids).toEqual(ids.map((_, i) => ids[0]! + i));
    return ids.length === AHEAD;
  });
  expect(most).toBe(CONCURRENCY);
});

it('handlers that return at once begin one after the other, not one inside the other', async () => {
  let ran = 0;
  const depths = new Set<number>();
  const worker = await ahead(() => {
    // A sample: it takes longer than most of a turn.
    if (++ran % 99 !== 0) return;
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 100;
    depths.add(new Error('here').stack!.split('startWaiting').length - 1);
    Error.stackTraceLimit = stackTraceLimit;
  });
  await serveUntil(worker, (turn) => completed(turn).length === AHEAD);
  expect(Math.max(...depths)).toBe(1);
});

it('what has no place before the round is over goes back, with a turn that claims nothing, as it looks before it gives back', async () => {
  const worker = await ahead();
  const ends: (() => void)[] = [];
  worker.run = (clock) =>
    ends.length < CONCURRENCY / 2 ? new Promise<void>((resolve) => ends.push(resolve)) : clock.stall(1);
  const claimed = claimsOf(AHEAD);
  const next = await worker.serve(claimed);
  const back = released(next).map(({ id }) => id);
  expect(back.length).toBeGreaterThan(0);
  expect(back).toEqual(claimed.slice(AHEAD - back.length).map(({ id }) => id));
  expect(next.settlements).toHaveLength(AHEAD - ends.length);
  expect(next.limit).toBe(0);
  expect((await worker.serve([])).limit).toBe(CONCURRENCY - ends.length);
  for (const end of ends) end();
  worker.run = () => undefined;
  expect(await rooms(worker, QUICK - 1)).toEqual(Array(QUICK - 1).fill(CONCURRENCY));
});

it('while some wait for a place no turn goes out: what has ended goes with what goes back', async () => {
  const worker = await ahead();
  const ends: (() => void)[] = [];
  let ran = 0;
  worker.run = () => (ran++ % 2 === 0 ? undefined : new Promise<void>((resolve) => ends.push(resolve)));
  const next = await worker.serve();
  expect(completed(next).length).toBeGreaterThan(0);
  expect(next.settlements).toHaveLength(AHEAD - ends.length);
  for (const end of ends) end();
});

it('where handlers block, no more than before begin', async () => {
  const worker = await ahead();
  let ran = 0;
  worker.run = (clock) => {
    ran++;
    clock.stall(1);
  };
  const next = await worker.serve();
  expect(ran).toBe(CONCURRENCY);
  expect([completed(next).length, released(next).length]).toEqual([ran, AHEAD - ran]);
  worker.run = () => undefined;
  await worker.serve([]);
  expect(await rooms(worker, QUICK - 1)).toEqual(Array(QUICK - 1).fill(CONCURRENCY));
});

it.each<[string, { run?: Handler; options?: { concurrency?: number }; handlersOwn?: number }]>([
  ['jobs are not over in the round in which they begin', { run: () => rest() }],
  ['each handler blocks for 50 µs', { run: (clock) => clock.stall(0.05) }],
  ['globalConcurrency counts what is claimed', { options: { globalConcurrency: 10_000 } as object }],
  ['a rate counts what is claimed', { options: { rateLimit: { max: 1_000_000, perMs: 1 } } as object }],
  ['a handler has a limit of its own', { handlersOwn: CONCURRENCY }],
  ['there are few places', { options: { concurrency: 15 } }],
])('none is claimed ahead where %s', async (_, { run = () => undefined, options = {}, handlersOwn }) => {
  const worker = await busy(run, options, handlersOwn);
  const asked = await rooms(worker, 2 * QUICK);
  expect(Math.max(...asked)).toBeLessThanOrEqual(options.concurrency ?? CONCURRENCY);
  expect(worker.session.turns.flatMap(released)).toEqual([]);
});

it('none is claimed ahead where nothing more is due', async () => {
  const worker = await busy(() => undefined);
  expect(await rooms(worker, 2 * QUICK, claimsOf(CONCURRENCY), 60_000)).toEqual(Array(2 * QUICK).fill(CONCURRENCY));
});

it('no turn asks for more than five hundred', async () => {
  const worker = await busy(() => undefined, { concurrency: 300 });
  await serveUntil(worker, ({ limit }) => limit === 500);
  await serveUntil(worker, (turn) => completed(turn).length === 500);
});

it('an answer does not grow beyond what Redis sends at once', async () => {
  const payload = 300;
  const worker = await busy(() => undefined);
  const claims = (bytes: number) => claimsOf(CONCURRENCY).map((claim) => ({ ...claim, envelope: sized(claim, bytes) }));
  const asked = new Set(await rooms(worker, 5 * QUICK, claims(payload)));
  expect(asked.size).toBe(2);
  expect(Math.max(...asked) * payload).toBeLessThan(72 * 1_024);
  expect(Math.max(...(await rooms(worker, 2 * QUICK, claims(10 * payload))))).toBe(CONCURRENCY);
});

function sized({ envelope }: ClaimedJob, bytes: number): Envelope {
  return { ...(envelope as Envelope), payload: `"${'x'.repeat(bytes)}"` };
}

it.each([
  ['before any waits', 1],
  ['while others wait', CONCURRENCY + 1],
])(
  'a worker that is told to stop by one of its own handlers, %s, gives back what has not begun',
  async (_, stopAtRun) => {
    const stopping = await ahead();
    const { session, worker } = stopping;
    let ran = 0;
    let stopped: Promise<unknown> | undefined;
    stopping.run = () => {
      if (++ran === stopAtRun) stopped = worker.stop(new AbortController().signal);
    };
    const before = session.turns.length;
    await stopping.serve();
    expect(ran).toBe(stopAtRun);
    await answerUntil(session, stopped!);
    const last = session.turns.slice(before);
    expect([last.flatMap(completed).length, last.flatMap(released).length]).toEqual([stopAtRun, AHEAD - stopAtRun]);
  },
);

it('a worker that is told to stop as its jobs are over asks for nothing', async () => {
  const stopping = await ahead(async () => undefined);
  let stopped: Promise<unknown> | undefined;
  const before = stopping.session.turns.length;
  stopping.run = async () => {
    await undefined;
    stopped ??= nextRound().then(() => stopping.worker.stop(new AbortController().signal));
  };
  await stopping.serve();
  await until('it stops', () => stopping.session.turns.some(({ isLast }) => isLast) || stopping.session.answer());
  for (const { isLast, limit } of stopping.session.turns.slice(before)) if (isLast) expect(limit).toBe(0);
  await answerUntil(stopping.session, stopped!);
});

/** One that has become alone: two turns are in flight. */
async function alone(): Promise<Busy> {
  const worker = await ahead();
  for (let met = 0; met < QUICK; met++) {
    worker.session.answer({ claimed: claimsOf(worker.session.underWay[0]!.limit), sleepMs: undefined });
    await until('it goes on', () => worker.session.underWay.length > 0);
  }
  await until('there are two', () => worker.session.underWay.length === 2);
  return worker;
}

const HALF = AHEAD / 2;
/** Answers both turns in flight in one round of the event loop. */
function answerBoth({ session }: Busy): void {
  for (const { limit } of session.underWay) session.answer({ claimed: claimsOf(limit), sleepMs: undefined });
}

it('one that has become alone has two turns in flight, and each claims half of what is claimed ahead', async () => {
  const { session } = await alone();
  for (let turn = 0; turn < 2 * QUICK; turn++) {
    expect(session.underWay.map(({ limit }) => limit)).toEqual([HALF, HALF]);
    session.answer({ claimed: claimsOf(HALF), sleepMs: undefined });
    await until('there are two again', () => session.underWay.length === 2);
    expect(completed(session.underWay[1]!)).toHaveLength(HALF);
  }
});

it('of one that is alone, too, a turn that renews goes by itself, and claims no more than the two did', async () => {
  const { session } = await alone();
  for (let turn = 0; turn < QUICK; turn++) {
    expect(session.underWay.reduce((sum, { limit }) => sum + limit, 0)).toBeLessThanOrEqual(AHEAD);
    if (turn % 2 === 0) session.hints!.cancel();
    session.answer({ claimed: claimsOf(session.underWay[0]!.limit), sleepMs: undefined });
    await until('it goes on', () => session.underWay.length > 0);
  }
});

it('of two claims that are answered in one round no more run at once than before, in the order of their answers', async () => {
  const worker = await alone();
  const before = worker.session.turns.length;
  let running = 0;
  let most = 0;
  worker.run = async () => {
    most = Math.max(most, ++running);
    await undefined;
    running--;
  };
  answerBoth(worker);
  const told = () => worker.session.turns.slice(before).flatMap(completed);
  await until('all are told', () => {
    if (told().length < AHEAD && worker.session.underWay.length > 0) worker.session.answer();
    return told().length === AHEAD;
  });
  expect(most).toBe(CONCURRENCY);
  const numbers = told().map(({ id }) => Number(id.slice('job-'.length)));
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
});

it('of two claims that are answered in one round, what has no place goes back', async () => {
  const worker = await alone();
  const before = worker.session.turns.length;
  const ends: (() => void)[] = [];
  worker.run = () => new Promise<void>((resolve) => ends.push(resolve));
  answerBoth(worker);
  const back = () => worker.session.turns.slice(before).flatMap(released);
  await until('the others go back', () => {
    if (worker.session.underWay.length > 0) worker.session.answer();
    return back().length === AHEAD - CONCURRENCY;
  });
  expect(ends).toHaveLength(CONCURRENCY);
  for (const end of ends) end();
});

it('of two claims that are answered in one round, where handlers block, the second one does not give the first ones their places anew', async () => {
  const worker = await alone();
  let ran = 0;
  worker.run = (clock) => {
    ran++;
    clock.stall(1);
  };
  answerBoth(worker);
  await until('the round is over', () => worker.session.underWay.length > 0);
  // The places of the first claim, and ten milliseconds more for the second.
  expect(ran).toBe(CONCURRENCY + 10);
});

it('the place of a run that is cancelled as others wait goes to one of them once its handler has returned', async () => {
  const worker = await alone();
  const ends: (() => void)[] = [];
  let ran = 0;
  let isCancelled = false;
  worker.run = async () => {
    if (ran++ > 0) return new Promise<void>((resolve) => ends.push(resolve));
    while (!isCancelled) await undefined;
  };
  const [first, second] = worker.session.underWay;
  const claimed = claimsOf(HALF);
  worker.session.answerTo(first!, { claimed, sleepMs: undefined });
  worker.session.answerTo(second!, { toCancel: [claimed[0]!.id], sleepMs: undefined });
  queueMicrotask(() => (isCancelled = true));
  await until('the round is over', () => worker.session.underWay.length > 0);
  expect(ran).toBe(CONCURRENCY + 1);
  const ended = worker.session.underWay[0]!.settlements.filter(({ transition }) => transition !== 'release');
  expect(ended).toMatchObject([{ id: claimed[0]!.id, transition: 'cancel' }]);
  for (const end of ends) end();
});

it('a claim that waits is a claim as any other: its lease counts from the call that asked for it', async () => {
  const worker = await ahead(() => undefined, { leaseMs: 1_000 });
  let ran = 0;
  worker.run = () => void ran++;
  worker.clock.stall(1_000);
  const next = await worker.serve();
  expect(ran).toBe(0);
  expect(released(next)).toHaveLength(AHEAD);
});
