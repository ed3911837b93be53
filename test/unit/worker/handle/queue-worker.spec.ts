import { setImmediate as nextRound } from 'node:timers/promises';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Codecs } from '../../../../lib/core/payload/codecs.js';
import type { Envelope } from '../../../../lib/store/job-store.js';
import { SuspectIsolation } from '../../../../lib/worker/capacity/suspect-isolation.js';
import { ManualClock, rest } from '../../../support/manual-clock.js';
import { answerUntil, claimsOf, SessionByHand, stopAt, workerAt } from '../../../support/session-by-hand.js';
import { until } from '../../../support/wait.js';

it('a wish to renew that overtakes the answer of a turn that renews is kept', async () => {
  const session = new SessionByHand();
  let finish = () => {};
  const worker = workerAt(session, { run: () => new Promise<void>((resolve) => (finish = resolve)) }, {});
  worker.start();
  await nextRound();
  // Somebody asks for the job to be cancelled between its claim and the reading of the answer, and that is heard first.
  session.hints!.cancel();
  const [job] = claimsOf(1);
  session.answer({ claimed: [job!] });
  await until('it renews', () => session.turns.length === 2);
  expect(session.turns[1]!.renewals).toMatchObject([{ id: job!.id }]);
  session.answer();
  finish();
  await until('it settles', () => session.turns.length === 3);
  session.answer();
  const stopped = worker.stop(new AbortController().signal);
  await until('it takes its last turn', () => session.turns.length === 4);
  session.answer();
  await stopped;
});

it('none of the jobs of a claim that is to be confirmed begins before its lease has been renewed, and none that was lost', async () => {
  const session = new SessionByHand();
  const begun: number[] = [];
  const worker = workerAt(session, { run: () => begun.push(session.turns.length) }, { concurrency: 5 });
  worker.start();
  await nextRound();
  const [kept, lost, cancelled] = claimsOf(3);
  session.answer({ claimed: [kept!, lost!, cancelled!], isUnconfirmed: true });
  const renewals = [kept!, lost!, cancelled!];
  expect(await session.next(2)).toMatchObject({ limit: 0, renewals, settlements: [] });
  // Its answer was lost: whatever it said of leases has to be asked again.
  session.answer({ isReplay: true });
  expect(await session.next(3)).toMatchObject({ limit: 0, renewals });
  expect(begun).toEqual([]);
  session.answer({ lost: [lost!.id], toCancel: [cancelled!.id] });
  await until('the one that is left is settled', () => session.turns.length === 4);
  expect(begun).toEqual([3]);
  const settled = session.turns[3]!.settlements.map(({ id, transition }) => [id, transition]);
  expect(settled).toEqual([
    [kept!.id, 'complete'],
    [cancelled!.id, 'release'],
  ]);
  await stopAt(session, worker);
});

it('a worker that stops gives back what it has not confirmed yet', async () => {
  const session = new SessionByHand();
  const worker = workerAt(session, { run: () => expect(true).toBe(false) }, {});
  worker.start();
  await nextRound();
  const stopped = worker.stop(new AbortController().signal);
  const [job] = claimsOf(1);
  session.answer({ claimed: [job!], isUnconfirmed: true });
  await answerUntil(session, stopped);
  const released = session.turns.flatMap(({ settlements }) => settlements);
  expect(released).toMatchObject([{ id: job!.id, transition: 'release' }]);
});

it('a worker that stops waits for the confirmation under way for as long as it may, and not just for its last turn', async () => {
  const session = new SessionByHand();
  const clock = new ManualClock();
  const worker = workerAt(session, { run: () => expect(true).toBe(false) }, {}, { clock });
  worker.start();
  await nextRound();
  const [job] = claimsOf(1);
  session.answer({ claimed: [job!], isUnconfirmed: true });
  await session.next(2);
  const stopped = worker.stop(new AbortController().signal);
  const hasStopped = jest.fn();
  void stopped.then(hasStopped);
  // Longer than a last turn may take.
  await clock.elapse(60_000);
  expect(hasStopped).not.toHaveBeenCalled();
  await answerUntil(session, stopped);
  const released = session.turns.flatMap(({ settlements }) => settlements);
  expect(released).toMatchObject([{ id: job!.id, transition: 'release' }]);
});

it('claims whose leases were over when their answer came go back at once', async () => {
  const session = new SessionByHand();
  const worker = workerAt(session, { run: () => {} }, {});
  worker.start();
  await nextRound();
  const [job] = claimsOf(1);
  session.answer({ expired: [job!], isReplay: true, sleepMs: 0 });
  expect((await session.next(2)).settlements).toMatchObject([{ id: job!.id, transition: 'release' }]);
  await stopAt(session, worker);
});

it.each<[string, (session: SessionByHand) => void]>([
  ['a turn in flight, which may claim,', () => {}],
  [
    'a claim that waits for its confirmation',
    (session) => session.answer({ claimed: claimsOf(1), isUnconfirmed: true }),
  ],
  ['a running job', (session) => session.answer({ claimed: claimsOf(1) })],
])('%s holds the process: another worker gets no suspect to run beside it', async (_, claim) => {
  const [session, otherSession] = [new SessionByHand(), new SessionByHand()];
  const clock = new ManualClock();
  const isolation = new SuspectIsolation(clock);
  let finish = () => {};
  const run = () => new Promise<void>((resolve) => (finish = resolve));
  const worker = workerAt(session, { run }, {}, { clock, isolation });
  const other = workerAt(otherSession, { run: () => {} }, {}, { clock, isolation });
  worker.start();
  await rest();
  claim(session);
  await rest();
  other.start();
  expect(await otherSession.next(1)).toMatchObject({ suspects: 'reserve' });
  finish();
  await stopAt(session, worker);
  await stopAt(otherSession, other);
});

it('a worker that may not claim, as its process is kept for a suspect, settles at once', async () => {
  const [session, otherSession] = [new SessionByHand(), new SessionByHand()];
  const clock = new ManualClock();
  const isolation = new SuspectIsolation(clock);
  let finish = () => {};
  const run = () => new Promise<void>((resolve) => (finish = resolve));
  const worker = workerAt(session, { run, maxAttempts: 2 }, {}, { clock, isolation });
  const other = workerAt(otherSession, { run: () => {} }, {}, { clock, isolation });
  worker.start();
  await session.next(1);
  const [job] = claimsOf(1);
  session.answer({ claimed: [job!] });
  await rest();
  other.start();
  await otherSession.next(1);
  otherSession.answer({ suspect: 'reserved' });
  await rest();
  await session.next(2);
  session.answer({ freesNothingForOthers: true });
  await rest();
  finish();
  await rest();
  expect(session.turns[2]).toMatchObject({ limit: 0, settlements: [{ id: job!.id }] });
  await stopAt(session, worker, clock);
  await stopAt(otherSession, other, clock);
});

it('a worker that stops waits for the handler of a suspect that has lost its lease, until its deadline and no longer', async () => {
  const session = new SessionByHand();
  const clock = new ManualClock();
  const worker = workerAt(session, { run: () => new Promise(() => {}) }, {}, { clock });
  worker.start();
  await nextRound();
  const [suspect] = claimsOf(1);
  session.answer({ claimed: [suspect!], suspect: 'taken' });
  await rest();
  const deadline = new AbortController();
  let hasStopped = false;
  const stopped = worker.stop(deadline.signal).finally(() => (hasStopped = true));
  await session.next(2);
  session.answer();
  await rest();
  // A handler asks whether it still has its lease.
  session.hints!.cancel();
  await session.next(3);
  session.answer({ lost: [suspect!.id] });
  await rest();
  expect(hasStopped).toBe(false);
  // No time passes.
  deadline.abort();
  await answerUntil(session, stopped);
  expect(await stopped).toMatchObject({ gaveBack: 0, unsettled: 0, cutOff: [{ name: 'work' }] });
});

it('a job whose time is over while a codec decodes it is settled then, and keeps its place until it is decoded', async () => {
  const session = new SessionByHand();
  const clock = new ManualClock();
  let decoded = (_: unknown) => {};
  const decode = () => new Promise((resolve) => (decoded = resolve));
  const codecs = new Codecs(new Map([['slow', { id: 'slow', encode: () => '', decode }]]));
  const run = jest.fn();
  const worker = workerAt(session, { run }, { concurrency: 1 }, { clock, codecs });
  worker.start();
  await nextRound();
  const [job] = claimsOf(1);
  const envelope: Envelope = { ...(job!.envelope as Envelope), codec: 'slow', settings: { timeoutMs: 1_000 } };
  session.answer({ claimed: [{ ...job!, envelope }] });
  await clock.elapse(1_000);
  expect(await session.next(2)).toMatchObject({ limit: 0, settlements: [{ id: job!.id, transition: 'dead' }] });
  session.answer({ sleepMs: undefined });
  await rest();
  await session.next(2);
  decoded('payload');
  expect(await session.next(3)).toMatchObject({ limit: 1, settlements: [] });
  expect(run).not.toHaveBeenCalled();
  await stopAt(session, worker, clock);
});

it('a handler that goes on after its time keeps its place until it returns, and what it answers then no longer counts', async () => {
  const session = new SessionByHand();
  const clock = new ManualClock();
  let finish = () => {};
  const run = () => new Promise<void>((resolve) => (finish = resolve));
  const worker = workerAt(session, { run }, { concurrency: 1 }, { clock });
  worker.start();
  await session.next(1);
  const [job] = claimsOf(1);
  session.answer({
    claimed: [{ ...job!, envelope: { ...(job!.envelope as Envelope), settings: { timeoutMs: 1_000 } } }],
  });
  await clock.elapse(1_000);
  expect(await session.next(2)).toMatchObject({ limit: 0, settlements: [{ id: job!.id, transition: 'dead' }] });
  session.answer({ sleepMs: undefined });
  await rest();
  await session.next(2);
  finish();
  expect(await session.next(3)).toMatchObject({ limit: 1, settlements: [] });
  await stopAt(session, worker, clock);
});

it('a handler that returns after its job went back at the end of the application changes nothing', async () => {
  const session = new SessionByHand();
  let finish = () => {};
  const worker = workerAt(session, { run: () => new Promise<void>((resolve) => (finish = resolve)) }, {});
  worker.start();
  await session.next(1);
  const [job] = claimsOf(1);
  session.answer({ claimed: [job!] });
  await rest();
  const stopped = worker.stop(AbortSignal.abort());
  expect(await session.next(2)).toMatchObject({ isLast: true });
  finish();
  await answerUntil(session, stopped);
  const settled = session.turns.flatMap(({ settlements }) => settlements);
  expect(settled).toMatchObject([{ id: job!.id, transition: 'release' }]);
});

describe('a worker whose settlements free nothing for others', () => {
  const clock = new ManualClock();
  let session: SessionByHand;
  let worker: ReturnType<typeof workerAt>;
  const ids = (settlements: readonly { id: string }[]) => settlements.map(({ id }) => id);

  beforeEach(async () => {
    session = new SessionByHand();
    worker = workerAt(session, { run: () => {}, maxAttempts: 2 }, { concurrency: 5 }, { clock });
    worker.start();
    await session.next(1);
  });

  async function runs() {
    const [job] = claimsOf(1);
    session.answer({ claimed: [job!], freesNothingForOthers: true });
    await rest();
    return job!;
  }

  it('tells the end of a run with the turn that a hint brings', async () => {
    const first = await runs();
    await clock.elapse(9);
    await session.next(1);
    session.hints!.look(0);
    const { settlements, limit } = await session.next(2);
    expect([ids(settlements), limit]).toEqual([[first.id], 5]);
    await stopAt(session, worker, clock);
  });

  it('tells it after 10 ms where no hint comes, and the next one at once', async () => {
    const first = await runs();
    await clock.elapse(10);
    expect(ids((await session.next(2)).settlements)).toEqual([first.id]);
    const second = await runs();
    expect(ids((await session.next(3)).settlements)).toEqual([second.id]);
    await stopAt(session, worker, clock);
  });

  it('tells it at once when it stops', async () => {
    const first = await runs();
    await session.next(1);
    const stopped = worker.stop(new AbortController().signal);
    const { settlements, isLast } = await session.next(2);
    expect([ids(settlements), isLast]).toEqual([[first.id], true]);
    await answerUntil(session, stopped);
  });
});
