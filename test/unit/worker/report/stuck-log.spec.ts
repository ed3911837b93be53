import { beforeEach, expect, it } from '@jest/globals';
import { StuckLog } from '../../../../lib/worker/report/stuck-log.js';
import type { RunningJob } from '../../../../lib/worker/run/running-job.js';
import { ManualClock } from '../../../support/manual-clock.js';

let clock: ManualClock;
let warned: { at: number; line: string }[];
let stuck: StuckLog;

beforeEach(() => {
  clock = new ManualClock();
  warned = [];
  const warn = (line: string) => void warned.push({ at: clock.now(), line });
  stuck = new StuckLog({ log() {}, error() {}, warn }, clock, false);
});

const run = (id: string, queue = 'q') => ({ id, queue, name: 'work' }) as RunningJob;

it('says once a minute for all queues how many handlers are stuck, and which one for longest', async () => {
  const [first, second] = [run('a'), run('b', 'other')];
  const since = new Date(clock.wallNow()).toISOString();
  stuck.add(first);
  await clock.elapse(30_000);
  stuck.add(second);
  await clock.elapse(60_000);
  stuck.remove(first, true);
  await clock.elapse(60_000);
  stuck.remove(second, true);
  await clock.elapse(300_000);
  const beginning =
    'stuck: the run has ended (timed out, cancelled or lease lost), but the handler has not returned. The longest is that of job';
  expect(warned.map(({ at }) => at)).toEqual([1_000, 61_000, 121_000]);
  expect(warned[0]!.line).toContain(`1 handler is ${beginning} 'work' (a) of queue 'q', since ${since}.`);
  expect(warned[1]!.line).toContain(`2 handlers are ${beginning} 'work' (a) of queue 'q'`);
  expect(warned[2]!.line).toContain(`1 handler is ${beginning} 'work' (b) of queue 'other'`);
});

it('says nothing of handlers that return within a second, and keeps to its minute when others come', async () => {
  for (let i = 0; i < 3; i++) {
    const quick = run(`quick-${i}`);
    stuck.add(quick);
    await clock.elapse(900);
    stuck.remove(quick, true);
    await clock.elapse(200);
  }
  expect(warned).toEqual([]);
  const slow = run('slow');
  stuck.add(slow);
  await clock.elapse(5_000);
  stuck.remove(slow, true);
  stuck.add(run('slower'));
  await clock.elapse(50_000);
  expect(warned).toHaveLength(1);
  await clock.elapse(10_000);
  expect(warned).toHaveLength(2);
});
