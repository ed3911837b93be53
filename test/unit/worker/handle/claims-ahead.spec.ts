import { setImmediate as nextRound, setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from '@jest/globals';
import type { ClaimedJob, Envelope, Turn } from '../../../../lib/store/job-store.js';
import type { QueueWorker } from '../../../../lib/worker/handle/queue-worker.js';
import { answerUntil, claimsOf, SessionByHand, stopAt, workerAt } from '../../../support/session-by-hand.js';
import { until } from '../../../support/wait.js';

const CONCURRENCY = 100;
const AHEAD = 4 * CONCURRENCY;
/** After so many turns whose jobs were over at once the next one claims ahead. */
const QUICK = 8;

/** A worker that is answered by hand, and told that another one is behind as well. */
interface Busy {
  session: SessionByHand;
  worker: QueueWorker;
  /** The handler; may change. */
  run: () => unknown;
  /** Answers the turn under way, with all that it asked for unless told otherwise, and resolves with the next one. */
  serve(claimed?: readonly ClaimedJob[], sleepMs?: number): Promise<Turn>;
}

let started: Busy[] = [];

afterEach(async () => {
  for (const { session, worker } of started) await stopAt(session, worker);
  started = [];
});

async function busy(run: () => unknown, options: object = {}, handlersOwn?: number): Promise<Busy> {
  const session = new SessionByHand();
  const handler = { run: () => made.run(), concurrency: handlersOwn };
  const worker = workerAt(session, handler, { concurrency: CONCURRENCY, ...options });
  const made: Busy = {
    session,
    worker,
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

async function ahead(run: () => unknown = () => undefined, options?: object): Promise<Busy> {
  const worker = await busy(run, options);
  await serveUntil(worker, ({ limit }) => limit === AHEAD);
  return worker;
}

function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

const released = ({ settlements }: Turn) => settlements.filter(({ transition }) => transition === 'release');
const completed = ({ settlements }: Turn) => settlements.filter(({ transition }) => transition === 'complete');

it('in company, where the jobs of eight turns were over at once, the next asks for four times as many, and runs them all', async () => {
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
  worker.run = () => (ends.length < CONCURRENCY / 2 ? new Promise<void>((resolve) => ends.push(resolve)) : block(1));
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
  worker.run = () => {
    ran++;
    block(1);
  };
  const next = await worker.serve();
  expect(ran).toBe(CONCURRENCY);
  expect([completed(next).length, released(next).length]).toEqual([ran, AHEAD - ran]);
  worker.run = () => undefined;
  await worker.serve([]);
  expect(await rooms(worker, QUICK - 1)).toEqual(Array(QUICK - 1).fill(CONCURRENCY));
});

it.each<[string, { run?: () => unknown; options?: { concurrency?: number }; handlersOwn?: number }]>([
  ['jobs are not over in the round in which they begin', { run: () => sleep(1) }],
  ['each handler blocks for 50 µs', { run: () => block(0.05) }],
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

it('one that has become alone asks for no more than it has places for, though a renewal keeps it at one turn', async () => {
  const { session } = await ahead();
  for (let met = 0; met < QUICK; met++) {
    session.answer({ claimed: claimsOf(session.underWay[0]!.limit), sleepMs: undefined });
    await until('it goes on', () => session.underWay.length > 0);
  }
  await until('there are two', () => session.underWay.length === 2);
  for (let turn = 0; turn < QUICK; turn++) {
    expect(session.underWay.reduce((sum, { limit }) => sum + limit, 0)).toBeLessThanOrEqual(CONCURRENCY);
    if (turn % 2 === 0) session.hints!.cancel();
    session.answer({ claimed: claimsOf(session.underWay[0]!.limit), sleepMs: undefined });
    await until('it goes on', () => session.underWay.length > 0);
  }
});

it('a claim that waits is a claim as any other: its lease counts from the call that asked for it', async () => {
  const worker = await ahead(() => undefined, { leaseMs: 1_000 });
  let ran = 0;
  worker.run = () => void ran++;
  await sleep(1_000);
  const next = await worker.serve();
  expect(ran).toBe(0);
  expect(released(next)).toHaveLength(AHEAD);
});
