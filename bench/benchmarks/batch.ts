import { setTimeout } from 'node:timers/promises';
import type { Benchmark, Context } from '../benchmark.js';
import { drain } from '../measure/throughput.js';

const SIZE = 100;
/** How long a statement takes, be it for one row or for a hundred. */
const STATEMENT_MS = 5;

interface Case {
  size?: number;
  concurrency: number;
  handle(): unknown;
}

const CASES: Readonly<Record<string, Case>> = {
  single: { concurrency: 100, handle: () => {} },
  batch: { size: SIZE, concurrency: 100, handle: () => {} },
  singleStatement: { concurrency: 10, handle: () => setTimeout(STATEMENT_MS) },
  batchStatement: { size: SIZE, concurrency: 10, handle: () => setTimeout(STATEMENT_MS) },
};

const NAMES = Object.keys(CASES);

export const batch: Benchmark = {
  name: 'batch',
  about:
    `As drain, of this library alone: with a handler that gets one job a call, and with \`batch: { size: ${SIZE} }\`; with a handler that ` +
    `does nothing, 100 at once, and with one that waits for ${STATEMENT_MS} ms a call, 10 at once.`,
  contestants: ['ours'],
  cases: NAMES.map((name) => {
    const isSlow = name === 'singleStatement';
    return { name, size: { jobs: isSlow ? 10_000 : 100_000 }, quick: { jobs: 2_000 } };
  }),
  figures: [
    { key: 'single', title: 'Drain due jobs, one a call', unit: 'jobs/s', better: 'more' },
    { key: 'batch', title: `Drain due jobs, ${SIZE} a call`, unit: 'jobs/s', better: 'more' },
    { key: 'singleStatement', title: `Drain, ${STATEMENT_MS} ms a call, one a call`, unit: 'jobs/s', better: 'more' },
    {
      key: 'batchStatement',
      title: `Drain, ${STATEMENT_MS} ms a call, ${SIZE} a call`,
      unit: 'jobs/s',
      better: 'more',
    },
    { key: 'calls', title: 'Calls for 10 000 jobs', unit: 'calls', better: 'less' },
  ],
  bars: [
    { figure: 'batch', over: { figure: 'single' }, atLeast: 0.8 },
    { figure: 'batchStatement', over: { figure: 'singleStatement' }, atLeast: 20 },
  ],
  timeoutMs: 120_000,

  async run(context: Context) {
    const { size, concurrency, handle } = CASES[context.case]!;
    const count = context.size('jobs');
    let calls = 0;
    const counted = () => {
      calls++;
      return handle();
    };
    const session = { handle: counted, ...(size !== undefined && { batch: { size } }) };
    const { rate } = await drain(context, { count, concurrency, session });
    const figures = { [context.case]: rate };
    return context.case === 'batch' ? { ...figures, calls: (calls / count) * 10_000 } : figures;
  },
};
