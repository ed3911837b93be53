import { beforeEach, expect, it, jest } from '@jest/globals';
import { type Occupant, Solitude } from '../../../lib/worker/solitude.js';

const LEASE_MS = 15_000;

class Party implements Occupant {
  holds = false;
  owes = false;
  stepBack = jest.fn();
  look = jest.fn();
}

let solitude: Solitude;
let worker: Party;
let other: Party;
beforeEach(() => {
  solitude = new Solitude();
  worker = new Party();
  other = new Party();
  solitude.add(worker);
  solitude.add(other);
});

const wish = (party: Party, mayReserve = true) => solitude.wish(party, LEASE_MS, mayReserve);
/** A turn of this party that comes to so much. */
function turn(party: Party, suspect?: 'reserved' | 'taken'): { wish: string; begins: boolean } {
  const wished = wish(party);
  return { wish: wished, begins: solitude.answered(party, wished, suspect) };
}

it('an empty process takes a suspect at once, one that holds jobs reserves itself', () => {
  expect(wish(worker)).toBe('take');
  worker.holds = true;
  expect(wish(worker)).toBe('reserve');
  expect(wish(worker, false)).toBe('');
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
  expect([solitude.mayClaim(worker), solitude.mayClaim(other)]).toEqual([false, false]);
  expect([wish(worker), wish(other)]).toEqual(['keep', '']);
  worker.holds = false;
  solitude.check();
  expect(worker.look).not.toHaveBeenCalled();
  other.holds = false;
  solitude.check();
  expect(worker.look).toHaveBeenCalledTimes(1);
  expect([solitude.mayClaim(worker), solitude.mayClaim(other)]).toEqual([true, false]);
  expect(turn(worker, 'taken')).toEqual({ wish: 'claim', begins: true });
});

it('others claim once between two suspects', () => {
  turn(worker, 'taken');
  worker.holds = true;
  expect(wish(worker)).toBe('keep');
  expect([solitude.mayClaim(worker), solitude.mayClaim(other)]).toEqual([false, false]);
  worker.holds = false;
  expect(wish(worker)).toBe('leave');
  expect([solitude.mayClaim(worker), solitude.mayClaim(other)]).toEqual([true, true]);
  expect(other.look).toHaveBeenCalledTimes(1);
  expect(wish(other)).toBe('');
  worker.look.mockClear();
  solitude.answered(worker, 'leave', undefined);
  expect(worker.look).toHaveBeenCalledTimes(1);
  expect(wish(worker)).toBe('take');
});

it('a suspect does not begin beside a job that another queue has claimed meanwhile', () => {
  const wished = wish(worker);
  other.holds = true;
  expect(solitude.answered(worker, wished, 'taken')).toBe(false);
  expect(wish(worker)).toBe('keep');
  other.holds = false;
  expect(turn(worker, 'taken')).toEqual({ wish: 'claim', begins: true });
});

it('of two queues that were given a reservation at once one gives it up', () => {
  const [first, second] = [wish(worker), wish(other)];
  solitude.answered(worker, first, 'reserved');
  solitude.answered(other, second, 'reserved');
  expect(solitude.isOneTooMany(other)).toBe(true);
  expect(wish(other)).toBe('leave');
  expect(solitude.isOneTooMany(other)).toBe(false);
  expect(wish(worker)).toBe('claim');
});

it('everybody claims again where no suspect is left', () => {
  turn(worker, 'reserved');
  expect(turn(worker)).toEqual({ wish: 'claim', begins: true });
  expect([solitude.mayClaim(worker), solitude.mayClaim(other)]).toEqual([true, true]);
});

it('a job that runs for long neither stops all others nor keeps suspects waiting for ever', () => {
  const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
  try {
    worker.holds = true;
    turn(worker, 'reserved');
    expect(wish(worker)).toBe('keep');
    clock.mockReturnValue(LEASE_MS);
    expect(turn(worker).wish).toBe('leave');
    // As long as it was in vain, others claim.
    expect([solitude.mayClaim(worker), wish(worker)]).toEqual([true, '']);
    clock.mockReturnValue(2 * LEASE_MS);
    expect(turn(worker, 'reserved').wish).toBe('reserve');
    clock.mockReturnValue(3.5 * LEASE_MS);
    expect(wish(worker)).toBe('keep');
    clock.mockReturnValue(4 * LEASE_MS);
    expect(wish(worker)).toBe('leave');
  } finally {
    clock.mockRestore();
  }
});

it('a holder that stops gives its reservation up, and others claim', () => {
  worker.holds = true;
  turn(worker, 'reserved');
  expect(solitude.lastWish(worker)).toBe('leave');
  expect(solitude.mayClaim(other)).toBe(true);
  expect(solitude.lastWish(other)).toBe('');
});
