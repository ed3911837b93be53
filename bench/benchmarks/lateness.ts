import type { Benchmark } from '../benchmark.js';
import { EVERYBODY } from '../contestants/contestant.js';
import { openForStarts, scheduleSteadily } from '../measure/starts.js';
import { percentile } from '../report/statistics.js';

export const lateness: Benchmark = {
  name: 'lateness',
  about:
    'Jobs are scheduled a second ahead, one call for each, at a steady rate and due anywhere within; how long after it is due each starts. ' +
    'The first tenth is left out.',
  contestants: EVERYBODY,
  cases: [
    { name: '200', size: { perSecond: 200, seconds: 10 }, quick: { seconds: 2 } },
    { name: '2000', size: { perSecond: 2_000, seconds: 10 }, quick: { seconds: 2 } },
  ],
  figures: [
    { key: 'p50at200', title: 'Lateness at 200 jobs/s, p50', unit: 'ms', better: 'less' },
    { key: 'p99at200', title: 'Lateness at 200 jobs/s, p99', unit: 'ms', better: 'less' },
    { key: 'p50at2000', title: 'Lateness at 2 000 jobs/s, p50', unit: 'ms', better: 'less' },
    { key: 'p99at2000', title: 'Lateness at 2 000 jobs/s, p99', unit: 'ms', better: 'less' },
  ],
  bars: [
    { figure: 'p99at200', atMost: 5 },
    { figure: 'p99at2000', atMost: 10 },
  ],
  timeoutMs: 90_000,

  async run(context) {
    const [session, starts] = await openForStarts(context, 100);
    const count = await scheduleSteadily(session, context.size('perSecond'), context.size('seconds'));
    await starts.reached(count);
    const measured = starts.lateMs.slice(count / 10);
    return {
      [`p50at${context.case}`]: percentile(measured, 50),
      [`p99at${context.case}`]: percentile(measured, 99),
    };
  },
};
