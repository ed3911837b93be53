import type { Benchmark } from '../benchmark.js';
import { EVERYBODY } from '../contestants/contestant.js';
import { dueJob, openForStarts, passed, warmUp } from '../measure/starts.js';
import { percentile } from '../report/statistics.js';

export const single: Benchmark = {
  name: 'single',
  about:
    'One job at a time on a queue that is idle, due 100 to 300 ms after it is scheduled; how long after that it starts. Before it ' +
    '2 000 jobs have run, which warms the process up.',
  contestants: EVERYBODY,
  cases: [{ name: 'all', size: { jobs: 100, warm: 2_000 }, quick: { jobs: 10 } }],
  figures: [
    { key: 'p50', title: 'Lateness of a single job, p50', unit: 'ms', better: 'less' },
    { key: 'p99', title: 'Lateness of a single job, p99', unit: 'ms', better: 'less' },
    { key: 'worst', title: 'Lateness of a single job, worst', unit: 'ms', better: 'less' },
  ],
  bars: [
    { figure: 'p50', atMost: 2 },
    { figure: 'p99', atMost: 5 },
  ],
  timeoutMs: 120_000,

  async run(context) {
    const [session, starts] = await openForStarts(context, 100);
    const warm = context.size('warm');
    await warmUp(session, starts, warm);
    for (let i = 1; i <= context.size('jobs'); i++) {
      // So that whoever settled the one before is asleep again.
      await passed(20);
      await session.schedule(dueJob(Date.now() + 100 + Math.floor(Math.random() * 200)));
      await starts.reached(warm + i);
    }
    const measured = starts.lateMs.slice(warm);
    return { p50: percentile(measured, 50), p99: percentile(measured, 99), worst: Math.max(...measured) };
  },
};
