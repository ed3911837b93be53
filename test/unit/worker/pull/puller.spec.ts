import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { QueueClosedError, QueueUnavailableError } from '../../../../lib/core/errors.js';
import { Observers } from '../../../../lib/core/observe/observers.js';
import { resolveRunSettings } from '../../../../lib/core/options/run-settings.js';
import { Codecs } from '../../../../lib/core/payload/codecs.js';
import { SuspectIsolation } from '../../../../lib/worker/capacity/suspect-isolation.js';
import { Puller } from '../../../../lib/worker/pull/puller.js';
import { Reporter } from '../../../../lib/worker/report/reporter.js';
import { NextSteps } from '../../../../lib/worker/run/next-steps.js';
import { ManualClock, rest } from '../../../support/manual-clock.js';
import { CARETAKERS, claimOf, EVENTS, LOG, SessionByHand, stopAt, workerAt } from '../../../support/session-by-hand.js';

const LEASE_MS = 1_000;

let session: SessionByHand;
let puller: Puller;
let isolation: SuspectIsolation;
let clock: ManualClock;
let observers: Observers;

beforeEach(() => {
  session = new SessionByHand();
  clock = new ManualClock();
  observers = new Observers();
  isolation = new SuspectIsolation(clock);
  puller = new Puller({
    queue: 'q',
    session,
    byName: { get: () => ({ settings: resolveRunSettings() }) },
    results: undefined,
    steps: new NextSteps(clock, 1_000),
    codecs: new Codecs(),
    leaseMs: LEASE_MS,
    commandTimeoutMs: 300,
    timerName: 'test',
    isolation,
    caretakers: CARETAKERS,
    reporter: new Reporter(LOG, EVENTS, clock, { trackCurrentJob: false }),
    events: EVENTS,
    observers,
    clock,
  });
});

afterEach(async () => {
  const closed = puller.close(800);
  const answering = setInterval(() => {
    clock.pass(10);
    if (session.underWay.length > 0) session.answer();
  }, 5);
  await closed;
  clearInterval(answering);
});

it('pops of one moment share a turn, and one that comes during it is asked for with the next', async () => {
  const first = puller.pop(2, 0);
  const second = puller.pop(3, 0);
  expect(await session.next(1)).toMatchObject({ limit: 5, standing: 'goes' });
  const third = puller.pop(1, 0);
  await rest();
  session.answer({ claimed: ['a', 'b', 'c'].map(claimOf) });
  expect((await first).map(({ id }) => id)).toEqual(['a', 'b']);
  expect((await second).map(({ id }) => id)).toEqual(['c']);
  expect(await session.next(2)).toMatchObject({ limit: 1 });
  session.answer();
  expect(await third).toEqual([]);
});

it('a turn for other pops than the last one looks from the start, and one for the same goes on', async () => {
  const first = puller.pop(1, 60_000);
  expect(await session.next(1)).toMatchObject({ looksAnew: false });
  // There may be more, further on.
  session.answer({ sleepMs: 0 });
  expect(await session.next(2)).toMatchObject({ looksAnew: false });
  session.answer({ claimed: [claimOf('a')], sleepMs: 0 });
  expect(await first).toHaveLength(1);
  const second = puller.pop(1, 60_000);
  expect(await session.next(3)).toMatchObject({ looksAnew: true });
  session.answer({ claimed: [claimOf('b')] });
  await second;
});

it('a refused turn fails the pops that it was for, is sent again as it was, and what it claims goes back', async () => {
  const popped = puller.pop(1, 60_000);
  const turn = await session.next(1);
  const refusal = new QueueUnavailableError('NOPERM', 'refused', { redisCode: 'NOPERM' });
  session.refuse(refusal);
  await expect(popped).rejects.toBe(refusal);
  await clock.elapse(999);
  await session.next(1);
  await clock.elapse(1);
  expect(await session.next(2)).toBe(turn);
  session.answer({ claimed: [claimOf('a')] });
  expect(await session.next(3)).toMatchObject({ limit: 0, settlements: [{ id: 'a', transition: 'release' }] });
  session.answer();
});

it('a pop ends with an error where no answer comes in time, and what is claimed for it later goes back', async () => {
  const popped = puller.pop(1, 100);
  const ended = jest.fn();
  popped.catch(ended);
  await session.next(1);
  await clock.elapse(399);
  expect(ended).not.toHaveBeenCalled();
  await clock.elapse(1);
  await expect(popped).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE', outcome: 'unknown', queue: 'q' });
  session.answer({ claimed: [claimOf('a')] });
  expect((await session.next(2)).settlements).toMatchObject([{ id: 'a', transition: 'release' }]);
  session.answer();
});

it('a job whose claim is answered after its lease is handed to nobody: others may have it', async () => {
  const popped = puller.pop(1, 5_000);
  await session.next(1);
  clock.pass(LEASE_MS);
  session.answer({ claimed: [claimOf('a')] });
  expect(await session.next(2)).toMatchObject({ limit: 1, settlements: [{ id: 'a', transition: 'release' }] });
  session.answer({ claimed: [claimOf('b')] });
  expect((await popped).map(({ id }) => id)).toEqual(['b']);
});

it('while jobs are held, and no longer, it says a few times a lease that it is there', async () => {
  const popped = puller.pop(1, 0);
  await session.next(1);
  session.answer({ claimed: [claimOf('a')] });
  const [job] = await popped;
  await clock.elapse(Math.floor(LEASE_MS / 3));
  await session.next(1);
  await clock.elapse(1);
  expect(await session.next(2)).toMatchObject({ limit: 0, settlements: [], renewals: [] });
  session.answer();
  await clock.elapse(LEASE_MS / 3 + 1);
  await session.next(3);
  session.answer();
  const completed = job!.complete();
  await session.next(4);
  session.answer();
  expect(await completed).toBe(true);
  await clock.elapse(10 * LEASE_MS);
  await session.next(4);
});

it('no more than a thousand ends go with one turn', async () => {
  const popped = puller.pop(1_000, 0);
  await session.next(1);
  session.answer({ claimed: Array.from({ length: 1_000 }, (_, i) => claimOf(`a${i}`)) });
  const more = puller.pop(500, 0);
  await session.next(2);
  session.answer({ claimed: Array.from({ length: 500 }, (_, i) => claimOf(`b${i}`)) });
  const completed = Promise.all([...(await popped), ...(await more)].map((job) => job.complete()));
  expect((await session.next(3)).settlements).toHaveLength(1_000);
  session.answer();
  expect((await session.next(4)).settlements).toHaveLength(500);
  session.answer();
  expect(new Set(await completed)).toEqual(new Set([true]));
});

it('a message wakes pops that wait, and nobody where none does', async () => {
  const popped = puller.pop(1, 60_000);
  expect(await session.next(1)).toMatchObject({ standing: 'until-claimed' });
  session.answer();
  await rest();
  session.hints!.look(0);
  await session.next(2);
  session.answer({ claimed: [claimOf('a')] });
  await popped;
  await rest();
  session.hints!.look(0);
  await rest();
  expect(session.turns).toHaveLength(2);
});

it('once nobody waits any more it says so, and once: Redis would count on it to look', async () => {
  const popped = puller.pop(1, 1_000);
  expect(await session.next(1)).toMatchObject({ standing: 'until-claimed' });
  session.answer();
  await clock.elapse(1_000);
  expect(await popped).toEqual([]);
  expect(await session.next(2)).toMatchObject({ limit: 0, standing: 'goes' });
  session.answer();
  await clock.elapse(60_000);
  await session.next(2);
});

it('what is said of a job after the end is refused', async () => {
  const popped = puller.pop(1, 0);
  await session.next(1);
  session.answer({ claimed: [claimOf('a')] });
  const [job] = await popped;
  const closed = puller.close(800);
  expect(await session.next(2)).toMatchObject({ isLast: true, settlements: [{ id: 'a', transition: 'release' }] });
  session.answer();
  await closed;
  await expect(job!.extend('1m')).rejects.toThrow(QueueClosedError);
  await expect(job!.complete()).rejects.toThrow(QueueClosedError);
});

it('jobs of a claim that is to be confirmed are handed out once their leases have been renewed, but for those that are lost', async () => {
  const popped = puller.pop(2, 0);
  await session.next(1);
  const claims = ['a', 'b'].map(claimOf);
  session.answer({ claimed: claims, isUnconfirmed: true });
  expect(await session.next(2)).toMatchObject({ limit: 0, renewals: claims });
  session.answer({ lost: ['a'] });
  expect((await popped).map(({ id }) => id)).toEqual(['b']);
});

it('a pop whose claim was lost as a whole before it was confirmed is asked for again', async () => {
  const popped = puller.pop(1, 0);
  await session.next(1);
  session.answer({ claimed: [claimOf('a')], isUnconfirmed: true });
  await session.next(2);
  session.answer({ lost: ['a'] });
  expect(await session.next(3)).toMatchObject({ limit: 1, renewals: [] });
  session.answer({ claimed: [claimOf('b')] });
  expect((await popped).map(({ id }) => id)).toEqual(['b']);
});

it('what is to be confirmed goes back where nobody waits for it any more', async () => {
  const popped = puller.pop(1, 0);
  await session.next(1);
  session.answer({ claimed: [claimOf('a')], isUnconfirmed: true });
  await session.next(2);
  await clock.elapse(300);
  await expect(popped).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' });
  session.answer();
  expect((await session.next(3)).settlements).toMatchObject([{ id: 'a', transition: 'release' }]);
});

it('what is to be confirmed and came after the last pop had ended goes back as well', async () => {
  const popped = puller.pop(1, 0);
  await session.next(1);
  await clock.elapse(300);
  await expect(popped).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' });
  session.answer({ claimed: [claimOf('a')], isUnconfirmed: true });
  expect(await session.next(2)).toMatchObject({ limit: 0, renewals: [{ id: 'a' }] });
  session.answer();
  expect((await session.next(3)).settlements).toMatchObject([{ id: 'a', transition: 'release' }]);
});

it('a job whose lease is being extended as the application closes goes back, and nobody waits for its lease', async () => {
  const popped = puller.pop(1, 0);
  await session.next(1);
  session.answer({ claimed: [claimOf('a')] });
  const [job] = await popped;
  const extended = job!.extend('1m');
  await session.next(2);
  const hasClosed = jest.fn();
  void puller.close(800).then(hasClosed);
  session.answer();
  expect(await extended).toBe(true);
  expect(await session.next(3)).toMatchObject({ isLast: true, settlements: [{ id: 'a', transition: 'release' }] });
  session.answer();
  await rest();
  expect(hasClosed).toHaveBeenCalled();
});

it('while the process is kept for a suspect of a worker each pop is answered by a turn that claims nothing, and after that by one as before', async () => {
  const other = new SessionByHand();
  const worker = workerAt(other, { run: () => undefined }, {}, { clock, isolation });
  worker.start();
  await other.next(1);
  other.answer({ suspect: 'reserved' });
  await rest();
  const inVain = puller.pop(1, 0);
  expect(await session.next(1)).toMatchObject({ limit: 0, standing: 'goes' });
  session.answer({ sleepMs: undefined });
  expect(await inVain).toEqual([]);
  const inVainToo = puller.pop(1, 0);
  expect(await session.next(2)).toMatchObject({ limit: 0, standing: 'goes' });
  session.answer({ sleepMs: undefined });
  expect(await inVainToo).toEqual([]);
  other.hints!.look(0);
  expect(await other.next(2)).toMatchObject({ suspects: 'claim' });
  other.answer();
  await rest();
  const popped = puller.pop(1, 0);
  expect(await session.next(3)).toMatchObject({ limit: 1 });
  session.answer({ claimed: [claimOf('a')] });
  expect(await popped).toHaveLength(1);
  await stopAt(other, worker, clock);
});

it('one that had nothing to step back from as the process was kept for a suspect claims as before once it no longer is', async () => {
  const other = new SessionByHand();
  const worker = workerAt(other, { run: () => undefined }, {}, { clock, isolation });
  worker.start();
  await other.next(1);
  other.answer({ suspect: 'reserved' });
  await rest();
  other.hints!.look(0);
  await other.next(2);
  other.answer();
  await rest();
  const popped = puller.pop(1, 0);
  expect(await session.next(1)).toMatchObject({ limit: 1 });
  session.answer({ claimed: [claimOf('a')] });
  expect(await popped).toHaveLength(1);
  await stopAt(other, worker, clock);
});
