import { expect, it } from '@jest/globals';
import { LEASE_MS, MAX_WAIT_MS, THROTTLE_MS } from './settings.js';
import { OFFSET, Story } from './story.js';

const NOTHING = new Set<string>();
const CHANGED = { token: 'j', revision: 0, kind: 'debounced' } as const;

/** A job that is changed three times, 400 ms apart, and runs once. */
function debounced(createdAt: number, dueAt: number, last: 'replaced' | 'queued' = 'replaced'): Set<string> {
  const story = new Story();
  for (const mono of [100, 400, 700]) {
    const payload = { token: 'j', revision: mono, kind: 'debounced' } as const;
    const status = mono === 100 ? 'created' : mono === 700 ? last : 'replaced';
    story.call(mono, { operation: 'replace', payload }, { status, dueAt });
  }
  const claimedAt = dueAt + 1;
  story.start(claimedAt, { dueAt, createdAt: OFFSET + createdAt, kind: 'debounced', revision: 700 });
  return story
    .end(claimedAt + 5, claimedAt)
    .told(claimedAt + 6, 'completed')
    .endsCompleted(claimedAt);
}

/** Redis stands still up to 3 000; a job is changed twice just after that, and its row begins with the second change. */
function debouncedAfterStandstill(from: number): Set<string> {
  const story = new Story().call(100, { payload: CHANGED }, { status: 'created', dueAt: 300 });
  story.fault(from, 3_000, 'redis');
  for (const mono of [3_010, 3_030])
    story.call(
      mono,
      { operation: 'replace', payload: { ...CHANGED, revision: mono } },
      { status: 'replaced', dueAt: 3_400 },
    );
  const [claimedAt, createdAt] = [3_401, OFFSET + 3_031];
  story.start(claimedAt, { dueAt: 3_400, createdAt, kind: 'debounced', revision: 3_030 });
  return story
    .end(claimedAt + 5, claimedAt)
    .told(claimedAt + 6, 'completed')
    .endsCompleted(claimedAt);
}

/** A job that is changed, runs, is changed twice more, and runs again at this instant. */
function throttled(again: number): Set<string> {
  const story = new Story();
  const change = (mono: number, status: 'created' | 'replaced', dueAt: number) => {
    const payload = { token: 'j', revision: mono, kind: 'throttled' } as const;
    story.call(mono, { operation: 'replace', payload }, { status, dueAt });
  };
  const run = (dueAt: number, revision: number) =>
    story
      .start(dueAt + 1, { dueAt, kind: 'throttled', revision })
      .end(dueAt + 2, dueAt + 1)
      .told(dueAt + 4, 'completed');
  change(100, 'created', 101);
  run(101, 100);
  change(200, 'created', again);
  change(300, 'replaced', again);
  run(again, 300);
  return story.endsCompleted(again + 1, { scheduled: 2, completed: 2 });
}

it('a job may be changed over and over, and runs when the first change has waited for long enough', () => {
  expect(debounced(101, 101 + MAX_WAIT_MS)).toEqual(NOTHING);
});

it('it is found where it was due later than that', () => {
  expect(debounced(101, 102 + MAX_WAIT_MS)).toEqual(new Set(['waits-no-longer']));
});

it('it is found where its row began with a later change', () => {
  expect(debounced(701, 1_000)).toEqual(new Set(['waits-no-longer']));
});

it('a row may begin with a later change that found the job claimed, though its worker never began it', () => {
  expect(debounced(701, 1_000, 'queued')).toEqual(NOTHING);
});

it('a row may begin with a later change after Redis stood still for a lease: whoever had asked before may have given the job back', () => {
  expect(debouncedAfterStandstill(3_000 - LEASE_MS)).toEqual(NOTHING);
});

it('it is found where Redis stood still for less than that', () => {
  expect(debouncedAfterStandstill(3_100 - LEASE_MS)).toEqual(new Set(['waits-no-longer']));
});

it('jobs under a throttle may be due as far apart as it says', () => {
  expect(throttled(101 + THROTTLE_MS)).toEqual(NOTHING);
});

it('they are found where they are due closer than that', () => {
  expect(throttled(100 + THROTTLE_MS)).toEqual(new Set(['as-far-apart']));
});
