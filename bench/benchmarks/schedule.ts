import type { Benchmark } from '../benchmark.js';
import { EVERYBODY } from '../contestants/contestant.js';
import { scheduleRate, waitingJob } from '../measure/throughput.js';

export const schedule: Benchmark = {
  name: 'schedule',
  about: 'Jobs that are due in an hour are scheduled, one call for each, 1 000 calls under way.',
  contestants: EVERYBODY,
  cases: [{ name: 'all', size: { jobs: 200_000, warm: 20_000 }, quick: { jobs: 10_000, warm: 2_000 } }],
  figures: [{ key: 'rate', title: 'Schedule, one call a job', unit: 'jobs/s', better: 'more' }],
  bars: [
    { figure: 'rate', over: { contestant: 'bullmq' }, atLeast: 2 },
    { figure: 'rate', over: { contestant: 'floor' }, atLeast: 0.6 },
  ],
  timeoutMs: 120_000,

  async run({ open, size }) {
    const session = await open({ concurrency: 1, handle: () => {} });
    await scheduleRate(session, size('warm'), waitingJob());
    return { rate: await scheduleRate(session, size('jobs'), waitingJob()) };
  },
};
