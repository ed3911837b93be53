import { beforeEach, expect, it } from '@jest/globals';
import { readQueueOptions } from '../../../../lib/core/options/queue-options.js';
import type { Turn, TurnAnswer } from '../../../../lib/store/job-store.js';
import { Capacity } from '../../../../lib/worker/capacity/capacity.js';
import { haveLimits, Places } from '../../../../lib/worker/capacity/places.js';
import type { JobHandler } from '../../../../lib/worker/run/job-handler.js';
import type { RunningJob } from '../../../../lib/worker/run/running-job.js';
import { RunningJobs } from '../../../../lib/worker/run/running-jobs.js';
import { PendingSettlements } from '../../../../lib/worker/session/pending-settlements.js';
import { type SentTurn, TurnsInFlight } from '../../../../lib/worker/session/turns-in-flight.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { claimOf, claimsOf } from '../../../support/session-by-hand.js';

const CONCURRENCY = 100;

let running: RunningJobs;
let inFlight: TurnsInFlight;
let pending: PendingSettlements;

beforeEach(() => {
  running = new RunningJobs(new ManualClock(), 'test', { add() {}, remove() {} });
  inFlight = new TurnsInFlight();
  pending = new PendingSettlements();
});

/** `weight` and `limit` are those of the one handler. */
function capacityOf(options: object = {}, weight = 1, limit = Number.POSITIVE_INFINITY): Capacity {
  const settings = readQueueOptions('q', { concurrency: CONCURRENCY, ...options });
  const handler = { name: 'work', settings: { weight, concurrency: limit } } as unknown as JobHandler;
  const places = new Places(settings.concurrency, new Map([['work', handler]]), running, undefined);
  return new Capacity(settings, places, undefined, inFlight, pending);
}

const run = (): RunningJob =>
  ({ name: 'work', timeoutAt: Number.POSITIVE_INFINITY, index: -1 }) as unknown as RunningJob;
const begin = (count: number) => {
  for (let i = 0; i < count; i++) running.add(run());
};
const send = (limit: number): SentTurn =>
  inFlight.add({ turn: { limit, settlements: [], renewals: [] } as unknown as Turn, ended: [], renews: false }, 0);

/** A turn that asked for so many has left a backlog. */
function leaveBacklog(capacity: Capacity, answer: Partial<TurnAnswer> = {}): void {
  const sent = send(1);
  inFlight.remove(sent);
  capacity.noteAnswer(sent, { sleepMs: undefined, isContended: false, isWhole: false, ...answer } as never);
}

it('what runs, and what the turns in flight may claim, is no longer open', () => {
  const capacity = capacityOf();
  expect(capacity.open).toBe(CONCURRENCY);
  begin(30);
  send(50);
  expect(capacity.open).toBe(20);
});

it('while jobs go back nothing is open, as the turn that gives them back looks before that', () => {
  const capacity = capacityOf();
  pending.release(claimOf('a'));
  expect(capacity.open).toBe(0);
  expect(capacity.share(true, false)).toMatchObject({ settlements: 1, limit: 0 });
});

it('weights count, and a handler with a limit is told with what it has left', () => {
  const capacity = capacityOf({}, 3, 20);
  begin(10);
  expect(capacity.open).toBe(70);
  expect(capacity.share(true, false).handlers).toEqual([{ name: 'work', weight: 3, free: 10, size: 1 }]);
});

it('without a backlog a turn takes all there is, and none goes beside it', () => {
  const capacity = capacityOf();
  for (const claim of claimsOf(100)) pending.addEnded({ settlement: claim } as never);
  expect(capacity.mayOverlap).toBe(false);
  expect(capacity.share(true, false)).toMatchObject({ settlements: 100, limit: 100 });
});

it('with a backlog, and alone, a turn takes half of it, unless it has to go alone', () => {
  const capacity = capacityOf();
  leaveBacklog(capacity);
  for (const claim of claimsOf(100)) pending.addEnded({ settlement: claim } as never);
  expect(capacity.mayOverlap).toBe(true);
  expect(capacity.share(true, false)).toMatchObject({ settlements: 50, limit: 50 });
  expect(capacity.share(true, true)).toMatchObject({ settlements: 100, limit: 100 });
  leaveBacklog(capacity, { isContended: true });
  expect(capacity.share(true, false)).toMatchObject({ settlements: 100, limit: 100 });
});

it.each([
  { isWhole: false, concurrency: 9, isHalved: false },
  { isWhole: false, concurrency: 10, isHalved: true },
  { isWhole: true, concurrency: 31, isHalved: false },
  { isWhole: true, concurrency: 32, isHalved: true },
])('halves turns only where half is worth a turn: $isWhole, $concurrency', ({ isWhole, concurrency, isHalved }) => {
  const capacity = capacityOf({ concurrency });
  leaveBacklog(capacity, { isWhole: !isWhole });
  leaveBacklog(capacity, { isWhole });
  for (const claim of claimsOf(concurrency)) pending.addEnded({ settlement: claim } as never);
  const half = Math.ceil(concurrency / 2);
  expect(capacity.share(true, false).limit).toBe(isHalved ? half : concurrency);
  inFlight.add({ turn: { limit: half } as Turn, ended: [], renews: false }, 0);
  expect(capacity.mayOverlap).toBe(isHalved);
});

it('a worker may be full for one name and not for others where a handler has a limit, or gets several jobs a call', () => {
  const settings = { weight: 1, concurrency: Number.POSITIVE_INFINITY };
  const limited = (handler: object) =>
    haveLimits(new Map([['work', { settings, ...handler } as unknown as JobHandler]]));
  expect(limited({ run() {} })).toBe(false);
  expect(limited({ run() {}, settings: { ...settings, concurrency: 3 } })).toBe(true);
  // It may hold as many jobs as it can while places are left. Unless others know it is full, two of them wake each other again and again.
  expect(limited({ runBatch() {} })).toBe(true);
});
