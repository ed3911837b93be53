import { beforeEach, expect, it, jest } from '@jest/globals';
import type { TurnAnswer } from '../../../../lib/store/job-store.js';
import { type JobHolder, SuspectIsolation } from '../../../../lib/worker/capacity/suspect-isolation.js';
import { ManualClock } from '../../../support/manual-clock.js';

const LEASE_MS = 15_000;

let made = 0;
class Party implements JobHolder {
  readonly queue = `queue-${++made}`;
  mayReserve = true;
  isRunning = false;
  holds = false;
  owes = false;
  stepBack = jest.fn();
  look = jest.fn();
}

let clock: ManualClock;
let isolation: SuspectIsolation;
let worker: Party;
let other: Party;
beforeEach(() => {
  clock = new ManualClock();
  isolation = new SuspectIsolation(clock);
  worker = new Party();
  other = new Party();
  isolation.add(worker);
  isolation.add(other);
});

const wish = (party: Party) => isolation.wish(party, LEASE_MS);
/** A turn of this party that comes to so much. */
function turn(party: Party, suspect?: TurnAnswer['suspect']): { wish: string; begins: boolean } {
  const wished = wish(party);
  return { wish: wished, begins: isolation.answered(party, wished, suspect) };
}

it('an empty process takes a suspect at once, one that holds jobs reserves itself', () => {
  expect(wish(worker)).toBe('take');
  worker.holds = true;
  expect(wish(worker)).toBe('reserve');
  worker.mayReserve = false;
  expect(wish(worker)).toBe('');
});

it('jobs of another queue make the process not empty, and so do ends that Redis has not heard of', () => {
  other.holds = true;
  expect(wish(worker)).toBe('reserve');
  other.holds = false;
  other.owes = true;
  expect(wish(worker)).toBe('reserve');
});

it('nobody claims while the process empties, and its holder does once it is empty', () => {
  worker.holds = true;
  other.holds = true;
  turn(worker, 'reserved');
  expect(other.stepBack).toHaveBeenCalledTimes(1);
  expect([isolation.mayClaim(worker), isolation.mayClaim(other)]).toEqual([false, false]);
  expect([wish(worker), wish(other)]).toEqual(['keep', '']);
  worker.holds = false;
  isolation.check(other);
  expect(worker.look).not.toHaveBeenCalled();
  other.holds = false;
  isolation.check(other);
  expect(worker.look).toHaveBeenCalledTimes(1);
  expect([isolation.mayClaim(worker), isolation.mayClaim(other)]).toEqual([true, false]);
  expect(turn(worker, 'taken')).toEqual({ wish: 'claim', begins: true });
});

it('others claim once between two suspects', () => {
  turn(worker, 'taken');
  worker.holds = true;
  expect(wish(worker)).toBe('keep');
  expect([isolation.mayClaim(worker), isolation.mayClaim(other)]).toEqual([false, false]);
  worker.holds = false;
  expect(wish(worker)).toBe('leave');
  expect([isolation.mayClaim(worker), isolation.mayClaim(other)]).toEqual([true, true]);
  expect(other.look).toHaveBeenCalledTimes(1);
  expect(wish(other)).toBe('');
  worker.look.mockClear();
  isolation.answered(worker, 'leave', undefined);
  expect(worker.look).toHaveBeenCalledTimes(1);
  expect(wish(worker)).toBe('take');
});

it('a suspect does not begin beside a job that another queue has claimed meanwhile', () => {
  const wished = wish(worker);
  other.holds = true;
  expect(isolation.answered(worker, wished, 'taken')).toBe(false);
  expect(wish(worker)).toBe('keep');
  other.holds = false;
  expect(turn(worker, 'taken')).toEqual({ wish: 'claim', begins: true });
});

it('of two queues that were given a reservation at once one gives it up', () => {
  const [first, second] = [wish(worker), wish(other)];
  isolation.answered(worker, first, 'reserved');
  isolation.answered(other, second, 'reserved');
  expect(isolation.hasToLeave(other)).toBe(true);
  expect(wish(other)).toBe('leave');
  expect(isolation.hasToLeave(other)).toBe(false);
  expect(wish(worker)).toBe('claim');
});

it('everybody claims again where no suspect is left', () => {
  turn(worker, 'reserved');
  expect(turn(worker)).toEqual({ wish: 'claim', begins: true });
  expect([isolation.mayClaim(worker), isolation.mayClaim(other)]).toEqual([true, true]);
});

it('a job that runs for long neither stops all others nor keeps suspects waiting for ever', () => {
  worker.holds = true;
  turn(worker, 'reserved');
  expect(wish(worker)).toBe('keep');
  clock.passTo(LEASE_MS);
  expect(turn(worker).wish).toBe('leave');
  // As long as it was in vain, others claim.
  expect([isolation.mayClaim(worker), wish(worker)]).toEqual([true, '']);
  clock.passTo(2 * LEASE_MS);
  expect(turn(worker, 'reserved').wish).toBe('reserve');
  clock.passTo(3.5 * LEASE_MS);
  expect(wish(worker)).toBe('keep');
  clock.passTo(4 * LEASE_MS);
  expect(wish(worker)).toBe('leave');
});

it('a holder is told by its own turns when to look, not by each of them to look at once', () => {
  turn(worker, 'reserved');
  worker.look.mockClear();
  isolation.check(worker);
  expect(worker.look).not.toHaveBeenCalled();
  isolation.check(other);
  expect(worker.look).toHaveBeenCalledTimes(1);
});

it('waiting for a place under globalConcurrency holds up others no longer than waiting for jobs to end', () => {
  expect(turn(worker, 'reserved').wish).toBe('take');
  expect(turn(worker, 'reserved').wish).toBe('claim');
  clock.passTo(LEASE_MS);
  expect(turn(worker).wish).toBe('leave');
  expect([isolation.mayClaim(other), wish(worker), wish(other)]).toEqual([true, '', '']);
  clock.passTo(2 * LEASE_MS);
  expect(wish(worker)).toBe('take');
});

it('a suspect whose handler goes on after its time keeps the process for a lease more, and no longer', () => {
  turn(worker, 'taken');
  worker.isRunning = true;
  expect([wish(worker), isolation.mayClaim(other)]).toEqual(['keep', false]);
  expect(isolation.hasToLeave(worker)).toBe(false);
  clock.passTo(LEASE_MS);
  expect(wish(worker)).toBe('leave');
});

it('a puller that is not alone any more with a suspect gives it and the reservation back', () => {
  worker.mayReserve = false;
  const wished = wish(worker);
  other.holds = true;
  expect(isolation.answered(worker, wished, 'taken')).toBe(false);
  expect(isolation.isReservedFor(worker)).toBe(false);
  expect(wish(worker)).toBe('leave');
});

it('a worker that has stopped before its answer came keeps nobody from claiming', () => {
  const wished = wish(worker);
  isolation.remove(worker);
  expect(isolation.answered(worker, wished, 'taken')).toBe(false);
  expect(isolation.mayClaim(other)).toBe(true);
});

it('a holder that stops gives its reservation up, and others claim', () => {
  worker.holds = true;
  turn(worker, 'reserved');
  expect(isolation.lastWish(worker)).toBe('leave');
  expect(isolation.mayClaim(other)).toBe(true);
  expect(isolation.lastWish(other)).toBe('');
});

it('a queue whose turn left a suspect waiting, as another turn was under way, looks again once the process is empty', () => {
  other.holds = true;
  expect(turn(worker, 'waits').wish).toBe('reserve');
  isolation.check(worker);
  expect(worker.look).not.toHaveBeenCalled();
  other.holds = false;
  isolation.check(other);
  expect(worker.look).toHaveBeenCalledTimes(1);
  expect(turn(worker).wish).toBe('take');
  isolation.check(worker);
  expect(worker.look).toHaveBeenCalledTimes(1);
});

it('of two queues that left suspects waiting one looks after the other', () => {
  const third = new Party();
  isolation.add(third);
  third.holds = true;
  turn(worker, 'waits');
  turn(other, 'waits');
  third.holds = false;
  isolation.check(third);
  expect([worker.look, other.look].map(({ mock }) => mock.calls.length)).toEqual([1, 0]);
  worker.holds = true;
  isolation.check(third);
  expect(other.look).not.toHaveBeenCalled();
  worker.holds = false;
  turn(worker);
  isolation.check(worker);
  expect(other.look).toHaveBeenCalledTimes(1);
});
