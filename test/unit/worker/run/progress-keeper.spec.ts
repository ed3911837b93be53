import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ClaimedJob, ProgressReport } from '../../../../lib/store/job-store.js';
import { ProgressKeeper } from '../../../../lib/worker/run/progress-keeper.js';
import { ManualClock, rest } from '../../../support/manual-clock.js';

const claim = (id: string) => ({ id, fence: '7' }) as ClaimedJob;

let clock: ManualClock;
let calls: { at: number; reports: ProgressReport[] }[];
let answer: () => Promise<boolean[]>;
let warned: string[];
let keeper: ProgressKeeper;

beforeEach(() => {
  clock = new ManualClock();
  calls = [];
  warned = [];
  answer = () => Promise.resolve([]);
  const jobs = {
    keepProgress: (reports: readonly ProgressReport[]) => {
      calls.push({ at: clock.now(), reports: [...reports] });
      return answer();
    },
  };
  const reporter = {
    progressNotKept: ({ id }: { id: string }, why: string) => warned.push(`${id}: ${why}`),
  };
  keeper = new ProgressKeeper('q', jobs, reporter, clock, 'test');
});

/** When each value was written. */
const written = () => calls.flatMap(({ at, reports }) => reports.map(({ value }) => [at, value]));

describe('what a run reports', () => {
  it('is written at once, then at most once a second, and the last value in any case', async () => {
    const run = keeper.open(claim('x'), 'work');
    for (let i = 0; i <= 25; i++) {
      run.report(i);
      await clock.elapse(100);
    }
    run.report('last');
    await clock.elapse(10_000);
    expect(written()).toEqual([
      [0, '0'],
      [1_000, '9'],
      [2_000, '19'],
      [3_000, '"last"'],
    ]);
    expect(calls.flatMap(({ reports }) => reports.map(({ id, fence, number }) => [id, fence, number]))).toEqual([
      ['x', '7', 1],
      ['x', '7', 10],
      ['x', '7', 20],
      ['x', '7', 27],
    ]);
  });

  it('is the last value of one moment', async () => {
    const run = keeper.open(claim('x'), 'work');
    for (const value of [1, 2, 3]) run.report(value);
    await rest();
    expect(written()).toEqual([[0, '3']]);
  });

  it('goes in one call with what others report at that moment, a hundred a call', async () => {
    for (let i = 0; i < 250; i++) keeper.open(claim(`job-${i}`), 'work').report(i);
    await rest();
    expect(calls.map(({ reports }) => reports.length)).toEqual([100, 100, 50]);
    expect(new Set(calls.flatMap(({ reports }) => reports.map(({ id }) => id))).size).toBe(250);
  });

  it('is written a second later where the store could not be told, and only once where it could', async () => {
    const run = keeper.open(claim('x'), 'work');
    answer = () => Promise.reject(new Error('away'));
    run.report(1);
    await clock.elapse(500);
    answer = () => Promise.resolve([true]);
    await clock.elapse(5_000);
    expect(written()).toEqual([
      [0, '1'],
      [1_000, '1'],
    ]);
  });
});

describe('once the run has ended', () => {
  it('its last value is given to whoever settles it, unless the store has it', async () => {
    const [told, changed, asked] = ['told', 'changed', 'asked'].map((id) => keeper.open(claim(id), 'work'));
    for (const run of [told!, changed!]) run.report(1);
    await rest();
    changed!.report({ at: 2 });
    asked!.report(3);
    expect(told!.end(true)).toBeUndefined();
    expect(changed!.end(true)).toBe('{"at":2}');
    expect(asked!.end(false)).toBeUndefined();
  });

  it('its value is given also while the call is under way', async () => {
    const run = keeper.open(claim('x'), 'work');
    answer = () => new Promise(() => {});
    run.report(1);
    await rest();
    expect(run.end(true)).toBe('1');
  });

  it('nothing is written any more, and no timer is left', async () => {
    const run = keeper.open(claim('x'), 'work');
    run.report(1);
    await rest();
    run.report(2);
    run.end(true);
    run.report(3);
    expect(clock.nextAt).toBe(Number.POSITIVE_INFINITY);
    await clock.elapse(10_000);
    expect(written()).toEqual([[0, '1']]);
  });
});

it('a worker that has stopped writes nothing, and leaves no timer', async () => {
  const runs = [keeper.open(claim('x'), 'work'), keeper.open(claim('y'), 'work')];
  runs[0]!.report(1);
  await rest();
  runs[0]!.report(2);
  keeper.stop();
  runs[1]!.report(3);
  await clock.elapse(10_000);
  expect(written()).toEqual([[0, '1']]);
  expect(clock.nextAt).toBe(Number.POSITIVE_INFINITY);
});

it.each([
  ['no value', undefined, 'JSON cannot hold undefined'],
  ['a function', () => 1, 'JSON cannot hold a function'],
  ['a bigint', 7n, 'JSON cannot hold it (Do not know how to serialize a BigInt)'],
  ['a long text', 'é'.repeat(512), 'it has 1026 bytes, and at most 1024 of a report are kept'],
])('what cannot be kept is told, and the value before it stays: %s', async (_, value, why) => {
  const run = keeper.open(claim('x'), 'work');
  run.report('é'.repeat(511));
  await clock.elapse(1_000);
  run.report(value);
  await clock.elapse(10_000);
  expect(warned).toEqual([`x: ${why}`]);
  expect(written()).toEqual([[0, `"${'é'.repeat(511)}"`]]);
});
