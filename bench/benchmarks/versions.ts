import type { Benchmark, Context } from '../benchmark.js';
import { drain } from '../measure/throughput.js';
import { ratesInTurns } from '../measure/turns.js';

const CASES = ['own', 'upgraded'];

/** Less than the benchmark may take, so that no stopped process is left. */
const IN_TURNS_DEADLINE_MS = 110_000;

export const versions: Benchmark = {
  name: 'versions',
  about:
    'As drain, of this library alone: jobs of the version of their handler, and jobs of the version before, whose payloads one step of ' +
    '`upgrade` copies. Counted until the last handler is called. In turns: a process for each of these drains by turns of 100 ms.',
  contestants: ['ours'],
  cases: [
    ...CASES.map((name) => ({ name, size: { jobs: 200_000 }, quick: { jobs: 10_000 } })),
    { name: 'inTurns', size: { jobs: 200_000 }, quick: { jobs: 10_000 } },
  ],
  figures: [
    { key: 'own', title: 'Drain due jobs of the version of their handler', unit: 'jobs/s', better: 'more' },
    { key: 'upgraded', title: 'Drain due jobs, one step of upgrade', unit: 'jobs/s', better: 'more' },
    { key: 'ownInTurns', title: 'In turns: jobs of the version of their handler', unit: 'jobs/s', better: 'more' },
    { key: 'upgradedInTurns', title: 'In turns: one step of upgrade', unit: 'jobs/s', better: 'more' },
    { key: 'ownCpu', title: 'Node CPU a drained job, of the version of its handler', unit: 'µs', better: 'less' },
    { key: 'upgradedCpu', title: 'Node CPU a drained job, one step of upgrade', unit: 'µs', better: 'less' },
  ],
  bars: [{ figure: 'upgradedInTurns', over: { figure: 'ownInTurns' }, atLeast: 0.95 }],
  timeoutMs: 120_000,

  async run(context) {
    if (context.case === 'inTurns') return inTurns(context);
    const { rate, nodeCpu } = await drain(context, {
      count: context.size('jobs'),
      concurrency: 100,
      counts: 'handled',
      session: { upgrades: context.case === 'upgraded' },
    });
    return { [context.case]: rate, [`${context.case}Cpu`]: nodeCpu };
  },
};

async function inTurns({ name, redis, size }: Context): Promise<Record<string, number>> {
  const tasks = CASES.map((queue) => ({
    contestant: name,
    redis,
    queue,
    jobs: size('jobs'),
    options: { upgrades: queue === 'upgraded' },
    listens: false,
  }));
  const rates = await ratesInTurns(tasks, IN_TURNS_DEADLINE_MS);
  return Object.fromEntries(CASES.map((each, i) => [`${each}InTurns`, rates[i]!]));
}
