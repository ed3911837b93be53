import type { Benchmark } from '../benchmark.js';
import { EVERYBODY } from '../contestants/contestant.js';
import { drain as drainJobs } from '../measure/throughput.js';

export const drain: Benchmark = {
  name: 'drain',
  about:
    'Jobs that are due run in one process, 100 at once, with a handler that does nothing. Counted until Redis has forgotten the last.',
  contestants: EVERYBODY,
  cases: [{ name: 'all', size: { jobs: 200_000 }, quick: { jobs: 10_000 } }],
  figures: [
    { key: 'rate', title: 'Drain due jobs', unit: 'jobs/s', better: 'more' },
    { key: 'redisCpu', title: 'Redis CPU a drained job', unit: 'µs', better: 'less' },
    { key: 'nodeCpu', title: 'Node CPU a drained job', unit: 'µs', better: 'less' },
  ],
  bars: [
    { figure: 'rate', over: { contestant: 'bullmq' }, atLeast: 4, aim: 5 },
    { figure: 'rate', over: { contestant: 'floor' }, atLeast: 0.55, aim: 0.65 },
  ],
  timeoutMs: 120_000,

  async run(context) {
    return { ...(await drainJobs(context, { count: context.size('jobs'), concurrency: 100 })) };
  },
};
