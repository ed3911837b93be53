import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ClaimedJob } from '../../../../lib/store/job-store.js';
import { ProgressReports } from '../../../../lib/worker/run/progress-reports.js';
import { ManualClock } from '../../../support/manual-clock.js';

const run = (id: string, reported: unknown = id) => ({
  claim: { id, fence: '7' } as ClaimedJob,
  name: 'work',
  reported,
});

let clock: ManualClock;
/** What each turn took along, and when. */
let told: [at: number, ...reports: { id: string; fence: string; value: string }[]][];
let warned: string[];
let reports: ProgressReports;

beforeEach(() => {
  clock = new ManualClock();
  told = [];
  warned = [];
  const reporter = { progressNotKept: ({ id }: { id: string }, why: string) => warned.push(`${id}: ${why}`) };
  const saySoon = () => told.push([clock.now(), ...reports.take()]);
  reports = new ProgressReports('q', { saySoon }, reporter, clock, 'test');
});

const values = () => told.flatMap(([at, ...all]) => all.map(({ value }) => [at, value]));

describe('what a run reports', () => {
  it('goes at once, then at most once a second, and only the last value', async () => {
    const x = run('x');
    for (let i = 0; i <= 25; i++) {
      x.reported = i;
      reports.note(x);
      await clock.elapse(100);
    }
    x.reported = 'last';
    reports.note(x);
    await clock.elapse(10_000);
    expect(values()).toEqual([
      [0, '0'],
      [1_000, '9'],
      [2_000, '19'],
      [3_000, '"last"'],
    ]);
    expect(told[0]).toEqual([0, { id: 'x', fence: '7', value: '0' }]);
  });

  it('goes with what the other runs of the worker report', async () => {
    reports.note(run('x'));
    for (const id of ['y', 'z']) reports.note(run(id));
    await clock.elapse(5_000);
    expect(values()).toEqual([
      [0, '"x"'],
      [1_000, '"y"'],
      [1_000, '"z"'],
    ]);
  });

  it('goes a second later where five hundred others go before it', async () => {
    reports.note(run('first'));
    for (let i = 0; i < 501; i++) reports.note(run(`job-${i}`));
    await clock.elapse(3_000);
    expect(values().slice(-2)).toEqual([
      [1_000, '"job-499"'],
      [2_000, '"job-500"'],
    ]);
  });

  it('goes with no turn once its outcome is decided, and no timer is left', async () => {
    const x = run('x');
    reports.note(x);
    await clock.elapse(10);
    reports.note(x);
    reports.leave(x);
    expect(clock.nextAt).toBe(Number.POSITIVE_INFINITY);
    await clock.elapse(10_000);
    expect(values()).toEqual([[0, '"x"']]);
  });
});

it.each([
  ['no value', undefined, 'JSON cannot hold undefined'],
  ['a function', () => 1, 'JSON cannot hold a function'],
  ['a bigint', 7n, 'JSON cannot hold it (Do not know how to serialize a BigInt)'],
  ['a long text', 'é'.repeat(512), 'it has 1026 bytes, and at most 1024 of a report are kept'],
])('what cannot be kept is told, and goes with no turn: %s', async (_, value, why) => {
  reports.note(run('x', 'é'.repeat(511)));
  await clock.elapse(1_000);
  reports.note({ ...run('x'), reported: value });
  await clock.elapse(10_000);
  expect(warned).toEqual([`x: ${why}`]);
  expect(values()).toEqual([[0, `"${'é'.repeat(511)}"`]]);
});
