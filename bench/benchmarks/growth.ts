import type { Benchmark, Context } from '../benchmark.js';
import { EVERYBODY } from '../contestants/contestant.js';
import { payloadOf } from '../measure/payloads.js';
import { fill, ratesBeside, scheduleRate, waitingJob } from '../measure/throughput.js';

/** Scripts shorter than this are not remembered. */
const SLOW_FROM_MICROS = 500;

export const growth: Benchmark = {
  name: 'growth',
  about:
    'Schedule and drain as above, with 10 000 and with 1 000 000 jobs that wait and are not due. And the longest script, by ' +
    'Redis’ slowlog, while, beside 1 000 000 that are due, jobs are scheduled one by one, then in bulk, then run, by a process of a single thread.',
  contestants: EVERYBODY,
  cases: [
    { name: '10k', size: { waiting: 10_000, jobs: 100_000 }, quick: { waiting: 1_000, jobs: 5_000 } },
    { name: '1m', size: { waiting: 1_000_000, jobs: 100_000 }, quick: { waiting: 20_000, jobs: 5_000 } },
    {
      name: 'due',
      size: { due: 1_000_000, jobs: 50_000 },
      quick: { due: 20_000, jobs: 5_000 },
      contestants: ['ours', 'floor'],
      // The slowlog counts what Redis waits for a core as well. With V8's helper threads beside it, that is the longest there is.
      nodeOptions: ['--single-threaded'],
    },
  ],
  figures: [
    { key: 'schedule10k', title: 'Schedule, 10 000 waiting', unit: 'jobs/s', better: 'more' },
    { key: 'schedule1m', title: 'Schedule, 1 000 000 waiting', unit: 'jobs/s', better: 'more' },
    { key: 'drain10k', title: 'Drain, 10 000 waiting', unit: 'jobs/s', better: 'more' },
    { key: 'drain1m', title: 'Drain, 1 000 000 waiting', unit: 'jobs/s', better: 'more' },
    { key: 'longest', title: 'Longest script, 1 000 000 due', unit: 'ms', better: 'less' },
  ],
  bars: [
    { figure: 'schedule1m', over: { figure: 'schedule10k' }, atLeast: 0.8 },
    { figure: 'drain1m', over: { figure: 'drain10k' }, atLeast: 0.8 },
    { figure: 'longest', atMost: 5 },
  ],
  timeoutMs: 400_000,

  run: (context) => (context.case === 'due' ? longestScript(context) : ratesBeside(context, waitingJob())),
};

async function longestScript({ open, probe, size }: Context) {
  let settled = 0;
  let enough!: () => void;
  const drained = new Promise<void>((resolve) => {
    enough = resolve;
  });
  const onSettled = () => {
    if (++settled === size('jobs')) enough();
  };
  const session = await open({ concurrency: 100, handle: () => {}, settled: onSettled });
  await fill(session, size('due'), { payload: payloadOf() });
  await probe.watchSlow(SLOW_FROM_MICROS);
  // One after the other: on two cores, who is kept from its core longest would be measured otherwise.
  await scheduleRate(session, size('jobs'), { payload: payloadOf() });
  await fill(session, size('jobs'), waitingJob());
  await session.start();
  await drained;
  return { longest: Math.max(SLOW_FROM_MICROS, ...(await probe.scriptMicros())) / 1_000 };
}
