import type { Benchmark } from '../benchmark.js';
import { EVERYBODY } from '../contestants/contestant.js';
import { dueJob, openForStarts, warmUp } from '../measure/starts.js';

/** Long enough for everybody to have scheduled them all before. */
const AHEAD_MS = 5_000;

export const burst: Benchmark = {
  name: 'burst',
  about:
    '10 000 jobs are due in the same millisecond, scheduled five seconds before; concurrency 100, a handler that does nothing. ' +
    'How long after that millisecond the last one starts. Before it 2 000 jobs have run, which warms the process up.',
  contestants: EVERYBODY,
  cases: [{ name: 'all', size: { jobs: 10_000, warm: 2_000 }, quick: {} }],
  figures: [{ key: 'last', title: '10 000 jobs of one millisecond, last start', unit: 'ms', better: 'less' }],
  bars: [{ figure: 'last', atMost: 250 }],
  timeoutMs: 60_000,

  async run(context) {
    const [session, starts] = await openForStarts(context, 100);
    const [warm, count] = [context.size('warm'), context.size('jobs')];
    await warmUp(session, starts, warm);
    const dueAt = Date.now() + AHEAD_MS;
    for (let left = count; left > 0; left -= 1_000) {
      await session.scheduleMany(Array.from({ length: Math.min(left, 1_000) }, () => dueJob(dueAt)));
    }
    if (Date.now() >= dueAt) throw new Error(`Scheduling took longer than the ${AHEAD_MS} ms ahead.`);
    await starts.reached(warm + count);
    return { last: Math.max(...starts.lateMs.slice(warm)) };
  },
};
