import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { InvalidBatchResultError, UnrecoverableJobError } from '../../../../lib/core/errors.js';
import { JobOutcome } from '../../../../lib/core/job/outcome.js';
import type { ScheduledJob } from '../../../../lib/core/job/scheduled-job.js';
import type { BatchSettings } from '../../../../lib/core/options/batch-options.js';
import { Codecs } from '../../../../lib/core/payload/codecs.js';
import type { ClaimedJob, Settlement } from '../../../../lib/store/job-store.js';
import type { QueueWorker } from '../../../../lib/worker/handle/queue-worker.js';
import type { TakeOut } from '../../../../lib/worker/run/job-handler.js';
import { ManualClock, rest } from '../../../support/manual-clock.js';
import {
  answerUntil,
  claimsOf,
  type HandlerByHand,
  SessionByHand,
  stopAt,
  workerAt,
} from '../../../support/session-by-hand.js';

interface Call {
  ids: string[];
  jobs: ScheduledJob[];
  payloads: unknown[];
  takeOut: TakeOut;
  returns(value?: unknown): void;
  throws(error: unknown): void;
}

let session: SessionByHand;
let clock: ManualClock;
let calls: Call[];
let worker: QueueWorker;
/** Until then the payloads of codec 'slow' are not there. */
let decoded: Promise<void>;
let decode: () => void;

beforeEach(() => {
  session = new SessionByHand();
  clock = new ManualClock();
  calls = [];
  decoded = new Promise((resolve) => {
    decode = resolve;
  });
});

afterEach(async () => {
  for (const call of calls) call.returns();
  await rest();
  await stopAt(session, worker, clock);
});

/** A worker whose calls end when the test says so. */
async function start(
  batch: Partial<BatchSettings>,
  handler: Partial<HandlerByHand> = {},
  options: object = {},
): Promise<void> {
  const runBatch: HandlerByHand['runBatch'] = (payloads, jobs, takeOut) =>
    new Promise((returns, throws) => {
      calls.push({ ids: jobs.map(({ id }) => id), jobs, payloads, takeOut, returns, throws });
    });
  const settings = { batch: { size: 3, waitMs: 0, ...batch }, maxAttempts: 4, runBatch, run: () => {}, ...handler };
  const slow = { id: 'slow', encode: () => '', decode: (stored: unknown) => decoded.then(() => stored) };
  const codecs = new Codecs(new Map([['slow', slow]]));
  worker = workerAt(session, settings, { concurrency: 10, ...options }, { clock, codecs });
  worker.start();
  await rest();
}

async function answer(claimed: ClaimedJob[], more: object = {}): Promise<void> {
  session.answer({ claimed, sleepMs: 1_000_000, ...more });
  await rest();
}

const ids = (claims: readonly ClaimedJob[]) => claims.map(({ id }) => id);
const limits = () => session.turns.at(-1)!;
const settled = (from = 0) =>
  session.turns
    .slice(from)
    .flatMap(({ settlements }) => settlements.map(({ id, transition }: Settlement) => [id, transition]));
const changed = (claim: ClaimedJob, change: Partial<ClaimedJob>): ClaimedJob => ({ ...claim, ...change });
const other = (claim: ClaimedJob) => changed(claim, { envelope: { ...claim.envelope, name: 'other' } as never });
const look = async () => {
  session.hints!.look(0);
  await rest();
};

it('what one claim brought is called at once, at most so many a call', async () => {
  await start({});
  expect(limits()).toMatchObject({ limit: 10, handlers: [{ name: 'work', weight: 1, free: 30, size: 3 }] });
  const claims = claimsOf(5);
  await answer(claims);
  expect(calls.map((call) => call.ids)).toEqual([ids(claims.slice(0, 3)), ids(claims.slice(3))]);
  expect(calls[0]!.payloads).toEqual([null, null, null]);
  calls[0]!.returns();
  await rest();
  // Two calls took two places; one of them is free again.
  expect(limits()).toMatchObject({ limit: 9, handlers: [{ free: 27 }] });
  expect(settled()).toEqual(ids(claims.slice(0, 3)).map((id) => [id, 'complete']));
});

it('jobs wait for others so long after the first of them, or until the call is full', async () => {
  await start({ waitMs: 400 });
  const [a, b, c, d] = claimsOf(4);
  await answer([a!]);
  await clock.elapse(300);
  await look();
  // It takes no place, and the next one goes with it.
  expect(limits()).toMatchObject({ limit: 10, handlers: [{ free: 32 }] });
  await answer([b!]);
  await clock.elapse(99);
  expect(calls).toHaveLength(0);
  await clock.elapse(1);
  expect(calls.map((call) => call.ids)).toEqual([[a!.id, b!.id]]);
  await look();
  await answer([c!, d!, ...claimsOf(1)]);
  expect(calls).toHaveLength(2);
});

it('what is left over after a full call waits from its own claim', async () => {
  await start({ waitMs: 400 });
  const [a, b, ...others] = claimsOf(5);
  await answer([a!, b!]);
  await clock.elapse(300);
  await look();
  await answer(others);
  expect(calls.map((call) => call.ids)).toEqual([[a!.id, b!.id, others[0]!.id]]);
  await clock.elapse(399);
  expect(calls).toHaveLength(1);
  await clock.elapse(1);
  expect(calls[1]!.ids).toEqual(ids(others.slice(1)));
});

it('there are no more calls than places, and no job goes back for want of one', async () => {
  await start({}, {}, { concurrency: 2 });
  const claims = claimsOf(8);
  await answer(claims);
  expect(calls).toHaveLength(2);
  await look();
  // While no place is free the worker asks for nothing.
  expect(session.turns).toHaveLength(1);
  calls[0]!.returns();
  await rest();
  expect(calls[2]!.ids).toEqual(ids(claims.slice(6)));
  expect(limits()).toMatchObject({ limit: 0, settlements: [{}, {}, {}] });
});

it('a call waits for its place while another job has it, and comes before the next claim', async () => {
  let finish = () => {};
  const [a, second] = claimsOf(2);
  await start({ waitMs: 100 }, { run: () => new Promise<void>((resolve) => (finish = resolve)) }, { concurrency: 1 });
  await answer([a!]);
  await look();
  await answer([other(second!)]);
  await clock.elapse(100);
  expect(calls).toHaveLength(0);
  finish();
  await rest();
  expect(calls.map((call) => call.ids)).toEqual([[a!.id]]);
  expect(limits().limit).toBe(0);
});

it('a call weighs what its handler weighs, once', async () => {
  await start({}, { weight: 4 });
  await answer(claimsOf(7));
  expect(calls).toHaveLength(2);
  // Two places are free, and kept for the third call.
  await look();
  expect(session.turns).toHaveLength(1);
  calls[0]!.returns();
  await rest();
  expect(calls).toHaveLength(3);
  expect(limits().limit).toBe(2);
});

it('a job on its last attempt, and a suspect, are called alone and at once', async () => {
  await start({ waitMs: 400 });
  const [a, last, suspect, first] = claimsOf(4);
  const claims = [a!, changed(last!, { attempt: 4 }), changed(suspect!, { attempt: 2, crashes: 2 }), first!];
  await answer(claims);
  expect(calls.map((call) => call.ids)).toEqual([[last!.id], [suspect!.id]]);
  await clock.elapse(400);
  expect(calls[2]!.ids).toEqual([a!.id, first!.id]);
});

it('the only attempt of a job is no reason to call it alone', async () => {
  await start({}, { maxAttempts: 1 });
  await answer(claimsOf(2));
  expect(calls[0]!.ids).toHaveLength(2);
});

it('a job that is cancelled, or loses its lease, before the call is not in it', async () => {
  await start({ waitMs: 400 });
  const [a, cancelled, lost] = claimsOf(3);
  await answer([a!, cancelled!]);
  await look();
  await answer([]);
  session.hints!.cancel();
  await rest();
  expect(limits().renewals.map(({ id }) => id)).toEqual([a!.id, cancelled!.id]);
  await answer([], { toCancel: [cancelled!.id] });
  expect(settled()).toEqual([[cancelled!.id, 'release']]);
  await answer([lost!]);
  session.hints!.cancel();
  await rest();
  await answer([], { lost: [lost!.id] });
  await clock.elapse(400);
  expect(calls.map((call) => call.ids)).toEqual([[a!.id]]);
});

it('a batch that is emptied before its call is not called', async () => {
  await start({ waitMs: 400 });
  const [a] = claimsOf(1);
  await answer([a!]);
  session.hints!.cancel();
  await rest();
  await answer([], { lost: [a!.id] });
  await clock.elapse(1_000);
  expect(calls).toHaveLength(0);
});

it('what waits for its call goes back when the worker stops', async () => {
  await start({ waitMs: 400 });
  const claims = claimsOf(2);
  await answer(claims);
  expect(worker.holds).toBe(true);
  await stopAt(session, worker, clock);
  expect(worker.holds).toBe(false);
  expect(settled()).toEqual(ids(claims).map((id) => [id, 'release']));
  expect(calls).toHaveLength(0);
});

it('leases that ran out before the call, unnoticed, are given back', async () => {
  await start({ waitMs: 400 }, {}, { leaseMs: 10_000 });
  await answer(claimsOf(2));
  clock.stall(20_000);
  await clock.elapse(0);
  expect(calls).toHaveLength(0);
  await rest();
  session.answer();
  await rest();
  expect(settled().map(([, transition]) => transition)).toEqual(['release', 'release']);
});

it('each result settles its job as if it were alone', async () => {
  await start({ size: 9 });
  const claims = claimsOf(9);
  await answer(claims);
  const results = await Promise.allSettled([1, Promise.reject(new Error('no')), JobOutcome.discard()]);
  calls[0]!.returns(
    JobOutcome.each([
      'done',
      new Error('no'),
      new UnrecoverableJobError('never'),
      JobOutcome.snooze(1_000),
      JobOutcome.deadLetter('gone'),
      ...results,
      JobOutcome.each([]),
    ]),
  );
  await rest();
  const transitions = settled().map(([, transition]) => transition);
  expect(transitions).toEqual(['complete', 'retry', 'dead', 'snooze', 'dead', 'complete', 'retry', 'discard', 'retry']);
});

it('promises among the results are awaited, and none is left alone', async () => {
  await start({});
  await answer(claimsOf(3));
  let fail: (error: unknown) => void = () => {};
  const late = new Promise((_, reject) => {
    fail = reject;
  });
  calls[0]!.returns(JobOutcome.each([Promise.resolve(JobOutcome.discard()), late, 3]));
  await rest();
  expect(settled()).toEqual([]);
  fail(new Error('no'));
  await rest();
  expect(settled().map(([, transition]) => transition)).toEqual(['discard', 'retry', 'complete']);
});

it('with another number of results every attempt fails, and says so', async () => {
  await start({});
  await answer(claimsOf(3));
  calls[0]!.returns(JobOutcome.each([1, 2]));
  await rest();
  const failures = limits().settlements.map((settlement) => settlement.transition === 'retry' && settlement.failure);
  expect(failures).toHaveLength(3);
  expect(failures[0]).toMatchObject({
    name: InvalidBatchResultError.name,
    code: 'INVALID_BATCH_RESULT',
    message: 'Work.all: got JobOutcome.each with 2 results, expected 3, one for each job of the call, in their order.',
  });
});

it('each, answered for one job without batch, fails the attempt', async () => {
  await start({}, { run: () => JobOutcome.each([1]) });
  const [one] = claimsOf(1);
  await answer([other(one!)]);
  const [settlement] = limits().settlements;
  expect(settlement).toMatchObject({ transition: 'retry', failure: { code: 'INVALID_BATCH_RESULT' } });
});

it('a throw fails the attempt of each, an outcome holds for each', async () => {
  await start({ size: 2 });
  const claims = claimsOf(4);
  await answer(claims);
  calls[0]!.throws(new Error('no'));
  calls[1]!.returns(JobOutcome.snooze(1_000));
  await rest();
  expect(settled().map(([, transition]) => transition)).toEqual(['retry', 'retry', 'snooze', 'snooze']);
});

it('one that is cancelled meanwhile is settled alone, and the call goes on for the others and keeps its place', async () => {
  await start({ size: 2 }, {}, { concurrency: 1 });
  const claims = claimsOf(2);
  await answer(claims);
  session.hints!.cancel();
  await rest();
  await answer([], { toCancel: [claims[0]!.id] });
  expect(calls[0]!.jobs.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  expect(settled()).toEqual([[claims[0]!.id, 'cancel']]);
  expect(limits()).toMatchObject({ limit: 0, stuck: undefined });
  expect(worker.stuck).toEqual([]);
  await answer([]);
  calls[0]!.returns(JobOutcome.each(['x', new Error('no')]));
  await rest();
  expect(settled(2)).toEqual([
    [claims[0]!.id, 'cancel'],
    [claims[1]!.id, 'retry'],
  ]);
  expect(limits().limit).toBe(1);
});

it('a call none of whose jobs counts any more is stuck, and takes its place until it returns', async () => {
  await start({ size: 2 }, {}, { concurrency: 1 });
  const claims = claimsOf(2);
  await answer(claims);
  session.hints!.cancel();
  await rest();
  await answer([], { toCancel: ids(claims) });
  expect(limits()).toMatchObject({ limit: 0, stuck: { count: 1, weight: 1, name: 'work' } });
  await answer([]);
  calls[0]!.returns();
  await rest();
  expect(worker.stuck).toEqual([]);
  expect(limits().limit).toBe(1);
});

it('a call is stuck as well where some of its jobs were taken out', async () => {
  await start({ size: 2 }, {}, { concurrency: 1 });
  const claims = claimsOf(2);
  await answer(claims);
  calls[0]!.takeOut(calls[0]!.jobs[0]!, new Error('bad'));
  await rest();
  await answer([]);
  session.hints!.cancel();
  await rest();
  await answer([], { toCancel: [claims[1]!.id] });
  expect(limits()).toMatchObject({ limit: 0, stuck: { count: 1 } });
});

it('one that is taken out ends by itself, and the results are those of the others', async () => {
  await start({});
  const claims = claimsOf(3);
  await answer(claims);
  calls[0]!.takeOut(calls[0]!.jobs[1]!, new UnrecoverableJobError('bad'));
  calls[0]!.returns(JobOutcome.each([1, JobOutcome.discard()]));
  await rest();
  expect(settled()).toEqual([
    [claims[1]!.id, 'dead'],
    [claims[0]!.id, 'complete'],
    [claims[2]!.id, 'discard'],
  ]);
});

it('what one call settles goes with one turn', async () => {
  await start({ size: 400 });
  await answer(claimsOf(800));
  const before = session.turns.length;
  for (const call of calls) call.returns();
  await rest();
  expect(session.turns.slice(before).map(({ settlements }) => settlements.length)).toEqual([800]);
});

it('a result that cannot be looked into is a result like any other, and the call is over', async () => {
  await start({ size: 4 }, {}, { concurrency: 1 });
  await answer(claimsOf(4));
  const trap = (status: string, key: string) =>
    Object.defineProperty({ status }, key, {
      get: () => {
        throw new Error('trap');
      },
    });
  const reads = { times: 0 };
  const twice = {
    value: 1,
    get status() {
      if (reads.times++ > 0) throw new Error('trap');
      return 'fulfilled';
    },
  };
  const closed = new Proxy(
    {},
    {
      get: () => {
        throw new Error('trap');
      },
      has: () => true,
      getPrototypeOf: () => {
        throw new Error('trap');
      },
    },
  );
  calls[0]!.returns(JobOutcome.each([trap('rejected', 'reason'), trap('fulfilled', 'value'), twice, closed]));
  await rest();
  expect(settled().map(([, transition]) => transition)).toEqual(['complete', 'complete', 'complete', 'complete']);
  expect(limits().limit).toBe(1);
});

it('whatever is taken out after the call has returned is settled once', async () => {
  await start({ size: 2 });
  const claims = claimsOf(2);
  await answer(claims);
  calls[0]!.returns();
  await rest();
  calls[0]!.takeOut(calls[0]!.jobs[0]!, new Error('late'));
  await rest();
  await answer([]);
  await rest();
  expect(settled()).toEqual(ids(claims).map((id) => [id, 'complete']));
});

it('jobs that go alone are not collected without bound beside a call that fills', async () => {
  await start({ waitMs: 60_000 }, { concurrency: 1 });
  const free = async () => {
    await look();
    return limits().handlers[0]!.free;
  };
  const last = () => changed(claimsOf(1)[0]!, { attempt: 4 });
  await answer(claimsOf(4));
  expect(calls).toHaveLength(1);
  expect(await free()).toBe(2);
  await answer([last(), last()]);
  expect(await free()).toBe(0);
  await answer([]);
  calls[0]!.returns();
  await rest();
  expect(calls).toHaveLength(2);
  expect(limits().handlers[0]!.free).toBe(0);
});

it('a call begins in no place that a claimed job has which waits to be confirmed', async () => {
  let running = 0;
  await start({ waitMs: 400 }, { run: () => void running++ }, { concurrency: 1 });
  await answer(claimsOf(1));
  await look();
  await answer([other(claimsOf(1)[0]!)], { isUnconfirmed: true });
  // The turn that confirms is under way.
  await clock.elapse(400);
  expect(calls).toHaveLength(0);
  await answer([]);
  expect(running).toBe(1);
  await rest();
  expect(calls).toHaveLength(1);
});

it('a job that is claimed anew while its old claim waits for a call is in one call, with its new fence', async () => {
  await start({ waitMs: 400 });
  const [a, b] = claimsOf(2);
  await answer([a!, b!]);
  await look();
  await answer([changed(a!, { fence: '2' })]);
  await clock.elapse(400);
  expect(calls.map((call) => call.ids)).toEqual([[b!.id, a!.id]]);
  expect(calls[0]!.jobs.map(({ fence }) => fence)).toEqual([1, 2]);
});

it('what was claimed with a job that stops the worker is not called', async () => {
  let stopping: Promise<unknown> | undefined;
  const run = () => {
    stopping = worker.stop(AbortSignal.abort());
  };
  await start({ waitMs: 400 }, { run });
  const [first, second] = claimsOf(2);
  await answer([other(first!), second!]);
  await answerUntil(session, stopping!, clock);
  clock.pass(1_000);
  expect(calls).toHaveLength(0);
  expect(settled()).toContainEqual([second!.id, 'release']);
});

it('calls that wait because their handler has none left keep no place from others', async () => {
  await start({ waitMs: 60_000 }, { concurrency: 1 }, { concurrency: 4 });
  const last = () => changed(claimsOf(1)[0]!, { attempt: 4 });
  await answer([last(), last(), last()]);
  expect(calls).toHaveLength(1);
  await look();
  expect(limits().limit).toBe(3);
});

it('however many places are free, no worker has more than 5 000 jobs of its batch handlers in hand, but for those of one turn', async () => {
  await start({ size: 500, waitMs: 60_000 }, {}, { concurrency: 20 });
  const free = async () => {
    await look();
    return limits().handlers[0]!.free;
  };
  expect(limits().handlers[0]!.free).toBe(5_000);
  await answer(claimsOf(4_400));
  expect(calls).toHaveLength(8);
  expect(await free()).toBe(100 + 500);
  await answer(claimsOf(550));
  expect(await free()).toBe(50);
  // These go alone, so more room is left in the call that fills than the worker may hold.
  await answer(claimsOf(5).map((claim) => changed(claim, { attempt: 4 })));
  expect(await free()).toBe(45);
  await answer([]);
  // What leaves without having been called makes room as well.
  session.hints!.cancel();
  await rest();
  await answer([], { lost: [limits().renewals.at(-1)!.id] });
  expect(await free()).toBe(46);
  await answer([]);
  calls[0]!.returns();
  await rest();
  expect(limits().handlers[0]!.free).toBe(51 + 500);
});

it('a job whose attempts are used up, and one whose payload cannot be read, are left out of the call', async () => {
  await start({});
  const [a, used, spoilt] = claimsOf(3);
  const envelope = { ...spoilt!.envelope, payload: '{' } as never;
  await answer([a!, changed(used!, { attempt: 5 }), changed(spoilt!, { envelope })]);
  expect(calls.map((call) => call.ids)).toEqual([[a!.id]]);
  await answer([]);
  expect(settled()).toEqual([
    [used!.id, 'dead'],
    [spoilt!.id, 'dead'],
  ]);
  calls[0]!.returns();
  await rest();
  expect(limits().limit).toBe(10);
});

it('no call is made for none, and its place is free', async () => {
  await start({}, {}, { concurrency: 1 });
  const [spoilt] = claimsOf(1);
  await answer([changed(spoilt!, { envelope: { ...spoilt!.envelope, payload: '{' } as never })]);
  expect(calls).toHaveLength(0);
  expect(limits()).toMatchObject({ limit: 1, settlements: [{ transition: 'dead' }] });
});

it('the attempts that the call to schedule said decide which is the last', async () => {
  await start({ waitMs: 400 });
  const [a] = claimsOf(1);
  await answer([changed(a!, { attempt: 2, envelope: { ...a!.envelope, settings: { maxAttempts: 2 } } as never })]);
  expect(calls.map((call) => call.ids)).toEqual([[a!.id]]);
});

it('no timer is left once the worker has stopped', async () => {
  await start({ waitMs: 50_000 });
  await answer(claimsOf(1));
  await stopAt(session, worker, clock);
  expect(clock.nextAt).toBe(Number.POSITIVE_INFINITY);
});

it('an error that is returned holds for none of the jobs, and what one call settles is not cut where a turn is full', async () => {
  await start({ size: 400 });
  await answer(claimsOf(800));
  const [one, two] = calls;
  const before = session.turns.length;
  session.hints!.cancel();
  await rest();
  one!.returns(new Error('returned'));
  two!.returns();
  await rest();
  // The turn that renews is under way: both calls have ended when it is answered.
  await answer([]);
  await answer([]);
  expect(session.turns.slice(before + 1).map(({ settlements }) => settlements.length)).toEqual([800]);
  expect(settled().every(([, transition]) => transition === 'complete')).toBe(true);
});

it('a call that waits for its place, and loses all of its jobs, keeps no place any more', async () => {
  let finish = () => {};
  const run = () => new Promise<void>((resolve) => (finish = resolve));
  await start({ waitMs: 100 }, { run, weight: 2 }, { concurrency: 2 });
  const [a, second] = claimsOf(2);
  await answer([a!]);
  await look();
  await answer([other(second!)]);
  await clock.elapse(100);
  expect(calls).toHaveLength(0);
  session.hints!.cancel();
  await rest();
  expect(limits().limit).toBe(0);
  await answer([], { lost: [a!.id] });
  await look();
  expect(limits().limit).toBe(1);
  await answer([]);
  finish();
  await rest();
  expect(calls).toHaveLength(0);
});

it('a worker whose calls are over holds nothing', async () => {
  await start({});
  await answer(claimsOf(3));
  expect(worker.holds).toBe(true);
  calls[0]!.returns();
  await rest();
  expect(worker.holds).toBe(false);
});

it('where a job dies of its first crash there are no suspects, and none goes alone for that', async () => {
  await start({}, {}, { maxCrashes: 1 });
  await answer(claimsOf(2));
  expect(calls.map(({ jobs }) => jobs.length)).toEqual([2]);
});

it('a call waits for the payloads of all, and one that is cancelled meanwhile is not in it', async () => {
  await start({}, {}, { concurrency: 1 });
  const claims = claimsOf(3).map((claim) =>
    changed(claim, { envelope: { ...claim.envelope, codec: 'slow', payload: 'text' } as never }),
  );
  await answer(claims);
  session.hints!.cancel();
  await rest();
  expect(limits().renewals).toHaveLength(3);
  await answer([], { toCancel: [claims[1]!.id] });
  expect(calls).toHaveLength(0);
  decode();
  await rest();
  expect(calls.map((call) => [call.ids, call.payloads])).toEqual([[ids([claims[0]!, claims[2]!]), ['text', 'text']]]);
  expect(settled()).toEqual([[claims[1]!.id, 'cancel']]);
});
