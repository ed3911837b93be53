import type { Benchmark } from '../benchmark.js';
import { drain } from '../measure/throughput.js';

export const watched: Benchmark = {
  name: 'watched',
  about:
    'As drain, of this library alone: with `trackCurrentJob: false` and nobody who listens to events; with the current job tracked, ' +
    'as by default; and with that and a listener on `events$`. Counted until the last handler is called.',
  contestants: ['ours'],
  cases: ['untracked', 'tracked', 'listened'].map((name) => ({
    name,
    size: { jobs: 200_000 },
    quick: { jobs: 10_000 },
  })),
  figures: [
    { key: 'untracked', title: 'Drain due jobs, the current job not tracked', unit: 'jobs/s', better: 'more' },
    { key: 'tracked', title: 'Drain due jobs, the current job tracked', unit: 'jobs/s', better: 'more' },
    { key: 'listened', title: 'Drain due jobs, with a listener on events$', unit: 'jobs/s', better: 'more' },
    { key: 'untrackedCpu', title: 'Node CPU a drained job, not tracked', unit: 'µs', better: 'less' },
    { key: 'trackedCpu', title: 'Node CPU a drained job, tracked', unit: 'µs', better: 'less' },
    { key: 'listenedCpu', title: 'Node CPU a drained job, with a listener', unit: 'µs', better: 'less' },
  ],
  bars: [
    { figure: 'tracked', over: { figure: 'untracked' }, atLeast: 0.97 },
    { figure: 'listened', over: { figure: 'tracked' }, atLeast: 0.95 },
  ],
  timeoutMs: 120_000,

  async run(context) {
    const { rate, nodeCpu } = await drain(context, {
      count: context.size('jobs'),
      concurrency: 100,
      counts: 'handled',
      session: { trackCurrentJob: context.case !== 'untracked', ...(context.case === 'listened' && { settled() {} }) },
    });
    return { [context.case]: rate, [`${context.case}Cpu`]: nodeCpu };
  },
};
