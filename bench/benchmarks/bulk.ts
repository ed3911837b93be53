import type { Benchmark } from '../benchmark.js';
import { EVERYBODY } from '../contestants/contestant.js';
import { bulkRate, waitingJob } from '../measure/throughput.js';

export const bulk: Benchmark = {
  name: 'bulk',
  about: 'Jobs that are due in an hour are scheduled 5 000 a call, one call after the other.',
  contestants: EVERYBODY,
  cases: [{ name: 'all', size: { jobs: 300_000, warm: 50_000 }, quick: { jobs: 20_000, warm: 5_000 } }],
  figures: [{ key: 'rate', title: 'Schedule, 5 000 a call', unit: 'jobs/s', better: 'more' }],
  bars: [
    { figure: 'rate', over: { contestant: 'bullmq' }, atLeast: 6 },
    { figure: 'rate', over: { contestant: 'floor' }, atLeast: 0.65 },
  ],
  timeoutMs: 120_000,

  async run({ open, size }) {
    const session = await open({ concurrency: 1, handle: () => {} });
    await bulkRate(session, size('warm'), waitingJob());
    return { rate: await bulkRate(session, size('jobs'), waitingJob()) };
  },
};
