import { beforeEach, expect, it } from '@jest/globals';
import type { RecoveredJob } from '../../../../lib/store/job-store.js';
import { RecoveryLog } from '../../../../lib/worker/report/recovery-log.js';
import { ManualClock } from '../../../support/manual-clock.js';

const warned: string[] = [];
const none = () => {};
/** The job that each line is about. */
const about: string[] = [];
let current = 'several';
let clock: ManualClock;

beforeEach(() => {
  warned.length = 0;
  about.length = 0;
  clock = new ManualClock();
});

const warn = (line: string) => {
  warned.push(line);
  about.push(current);
};
const within = ({ id }: { id: string }, write: () => void) => {
  current = id;
  write();
  current = 'several';
};
const log = () => new RecoveryLog({ log: none, error: none, warn }, clock, within);
const job = (i: number, more: Partial<RecoveredJob> = {}): RecoveredJob => ({
  id: `j${i}`,
  name: 'mail',
  attempt: 1,
  fate: 'waiting',
  worker: 'w1',
  ...more,
});
const jobs = (count: number, more: (i: number) => Partial<RecoveredJob> = () => ({})) =>
  Array.from({ length: count }, (_, i) => job(i, more(i)));

it('a job of a dead worker is told at once, in a line about that job', () => {
  log().note('default', jobs(1));
  expect(warned).toEqual([
    "Recovered 1 job of queue 'default', whose lease ran out because worker 'w1' died, was stopped without app.enableShutdownHooks(), was blocked or was cut off from Redis: 'mail' (j0).",
  ]);
  expect(about).toEqual(['j0']);
});

it('a job that comes back alone soon after others is told by a line about it, and the next jobs by one that is not', () => {
  const recoveries = log();
  recoveries.note('default', jobs(2));
  recoveries.note('default', [job(7)]);
  clock.pass(1_000);
  recoveries.note('default', jobs(2));
  clock.pass(1_000);
  expect(about).toEqual(['several', 'j7', 'several']);
});

it('a mass recovery takes one line a second, and no job is left uncounted', () => {
  const recoveries = log();
  for (let turn = 0; turn < 50; turn++) recoveries.note('default', jobs(200));
  expect(warned).toHaveLength(1);
  clock.pass(1_000);
  expect(warned.map((line) => Number(line.match(/^Recovered (\d+) jobs/)![1]))).toEqual([200, 49 * 200]);
  clock.pass(60_000);
  expect(warned).toHaveLength(2);
  recoveries.note('default', jobs(1));
  expect(warned).toHaveLength(3);
});

it('of many names and many workers the first are told, and how many more there are', () => {
  log().note('default', [
    ...jobs(9, (i) => ({ name: `n${i}`, worker: `w${i}` })),
    ...jobs(2, () => ({ name: 'n7', worker: undefined })),
  ]);
  expect(warned).toEqual([
    "Recovered 11 jobs of queue 'default', whose leases ran out because each of the workers 'w0', 'w1', 'w2' and 6 more died, was stopped without app.enableShutdownHooks(), was blocked or was cut off from Redis: 'n7' (3: j7, j0, j1), 'n0' (j0), 'n1' (j1), 'n2' (j2), 'n3' (j3) and 4 more.",
  ]);
  expect(about).toEqual(['several']);
});

it('a worker that nobody knows any more is called one', () => {
  log().note('default', [job(1, { worker: undefined })]);
  expect(warned[0]).toContain('because a worker died, was stopped without app.enableShutdownHooks(), was blocked');
});

it('a job that is dead or cancelled has a line of its own, and none here', () => {
  log().note('default', [job(1, { fate: 'crashed' }), job(2, { fate: 'cancelled' })]);
  clock.pass(10_000);
  expect(warned).toEqual([]);
});

it('nothing that came back is nothing to say', () => {
  log().note('default', []);
  expect(warned).toEqual([]);
});
