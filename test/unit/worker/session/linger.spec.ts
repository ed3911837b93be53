import { beforeEach, expect, it } from '@jest/globals';
import type { Settlement } from '../../../../lib/store/job-store.js';
import { Linger } from '../../../../lib/worker/session/linger.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { claimOf } from '../../../support/session-by-hand.js';

const AT_ONCE = Number.NEGATIVE_INFINITY;
const LINGER_MS = 10;

let clock: ManualClock;
let linger: Linger;

beforeEach(() => {
  clock = new ManualClock();
  linger = new Linger(clock, 3);
  linger.noteAnswer({ freesNothingForOthers: true } as never);
});

/** A run ends. Answers how long its settlement may wait, if it may. */
function end(settlement: object = {}, set?: string, more: { crashes?: number; isLastAttempt?: boolean } = {}): number {
  const job = { ...claimOf('a'), crashes: more.crashes ?? 0 };
  linger.noteEnded({
    job: { ...job, envelope: { ...job.envelope, set } as never },
    name: 'work',
    durationMs: 1,
    isLastAttempt: more.isLastAttempt ?? false,
    settlement: { id: 'a', fence: '1', transition: 'complete', idWasChosen: false, ...settlement } as Settlement,
  });
  return linger.endsAt - clock.now();
}

const turn = (left = 0) => linger.noteTaken(left);

/** How many ends are settled at once before one waits. */
function countAtOnce(): number {
  let count = 0;
  for (; end() === AT_ONCE; count++) turn();
  return count;
}

function waitsInVain(): void {
  clock.pass(LINGER_MS);
  turn();
}

it('a job that completed lingers for 10 ms, and the next ones no longer than it', () => {
  expect(linger.endsAt).toBe(Number.POSITIVE_INFINITY);
  expect(end()).toBe(LINGER_MS);
  clock.pass(4);
  expect(end()).toBe(LINGER_MS - 4);
  turn();
  expect(linger.endsAt).toBe(Number.POSITIVE_INFINITY);
});

it.each<[string, { settlement?: object; set?: string; crashes?: number; isLastAttempt?: boolean }]>([
  ['failed', { settlement: { transition: 'retry' } }],
  ['died', { settlement: { transition: 'dead' } }],
  ['has a chosen id', { settlement: { idWasChosen: true } }],
  ['has a result that is kept', { settlement: { result: '1' } }],
  ['has a next step', { settlement: { next: {} } }],
  ['is a member of a set', { set: 'import/7' }],
  ['may not run again', { isLastAttempt: true }],
  ['would be dead by one more crash', { crashes: 2 }],
])('one that %s is settled at once, with those that linger', (_, { settlement, set, ...more }) => {
  end();
  expect(end(settlement, set, more)).toBe(AT_ONCE);
});

it('all are settled at once where that may free a place for others', () => {
  linger.noteAnswer({ freesNothingForOthers: false } as never);
  expect(end()).toBe(AT_ONCE);
});

it('what a turn leaves goes with the next one at once', () => {
  end();
  turn(3);
  expect(linger.endsAt).toBe(AT_ONCE);
});

it('after one that has lingered in vain the next four turns settle at once, after each further one twice as many, 256 at the most', () => {
  const counts = Array.from({ length: 9 }, () => {
    const count = countAtOnce();
    waitsInVain();
    return count;
  });
  expect(counts).toEqual([0, 4, 8, 16, 32, 64, 128, 256, 256]);
});

it('one that has found its turn forgets those that have lingered in vain', () => {
  for (const count of [0, 4, 8]) {
    expect(countAtOnce()).toBe(count);
    waitsInVain();
  }
  expect(countAtOnce()).toBe(16);
  turn();
  expect(countAtOnce()).toBe(0);
  waitsInVain();
  expect(countAtOnce()).toBe(4);
});
