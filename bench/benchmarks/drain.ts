import type { Benchmark } from '../benchmark.js';
import { EVERYBODY } from '../contestants/contestant.js';
import { drain as drainJobs } from '../measure/throughput.js';

/** How many run at once. Figures of 100 have no number in their keys: they are older than the others, and documents name them. */
const CONCURRENCIES = [
  { concurrency: 1, suffix: 'At1', jobs: 20_000, quick: 1_000 },
  { concurrency: 10, suffix: 'At10', jobs: 100_000, quick: 5_000 },
  { concurrency: 100, suffix: '', jobs: 200_000, quick: 10_000 },
] as const;

export const drain: Benchmark = {
  name: 'drain',
  about:
    'Jobs that are due run in one process, 1, 10 (the default) and 100 at once, with a handler that does nothing. Counted until Redis has ' +
    'forgotten the last.',
  contestants: EVERYBODY,
  cases: CONCURRENCIES.map(({ concurrency, jobs, quick }) => ({
    name: String(concurrency),
    size: { jobs },
    quick: { jobs: quick },
  })),
  figures: CONCURRENCIES.flatMap(({ concurrency, suffix }) => {
    const at = `concurrency ${concurrency}`;
    return [
      { key: `rate${suffix}`, title: `Drain due jobs, ${at}`, unit: 'jobs/s', better: 'more' },
      { key: `redisCpu${suffix}`, title: `Redis CPU a drained job, ${at}`, unit: 'µs', better: 'less' },
      { key: `nodeCpu${suffix}`, title: `Node CPU a drained job, ${at}`, unit: 'µs', better: 'less' },
    ] as const;
  }),
  bars: [
    { figure: 'rateAt1', over: { contestant: 'bullmq' }, atLeast: 1.3 },
    { figure: 'rateAt10', over: { contestant: 'bullmq' }, atLeast: 2.2 },
    { figure: 'rate', over: { contestant: 'bullmq' }, atLeast: 6 },
    { figure: 'rate', over: { contestant: 'floor' }, atLeast: 0.8 },
  ],
  timeoutMs: 120_000,

  async run(context) {
    const { concurrency, suffix } = CONCURRENCIES.find((each) => String(each.concurrency) === context.case)!;
    const { rate, redisCpu, nodeCpu } = await drainJobs(context, { count: context.size('jobs'), concurrency });
    return { [`rate${suffix}`]: rate, [`redisCpu${suffix}`]: redisCpu, [`nodeCpu${suffix}`]: nodeCpu };
  },
};
