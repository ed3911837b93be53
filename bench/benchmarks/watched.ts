import type { Benchmark, Context } from '../benchmark.js';
import type { OpenOptions } from '../contestants/contestant.js';
import { drain } from '../measure/throughput.js';
import { ratesInTurns } from '../measure/turns.js';

const CASES = ['untracked', 'tracked', 'listened', 'streamed', 'metered', 'observed', 'byHand'];

/** Less than the benchmark may take, so that no stopped process is left. */
const IN_TURNS_DEADLINE_MS = 110_000;

export const watched: Benchmark = {
  name: 'watched',
  about:
    'As drain, of this library alone: with `trackCurrentJob: false` and nobody who listens to events; with the current job tracked, ' +
    'as by default; with that and a listener on `events$`; with that and `streamEvents` instead, so that each event is also ' +
    'written to Redis, of which the latest 100 000 are kept; with that and metrics instead; and with metrics and traces, whose spans a ' +
    'batch processor of the OpenTelemetry SDK takes and an exporter throws away; and with metrics, and such spans made in the handler by the SDK alone, the least that they cost. Counted until the last handler is called. In turns: a process for each of these ' +
    'drains by turns of 100 ms, so that all meet the same swings of the machine.',
  contestants: ['ours'],
  cases: [
    ...CASES.map((name) => ({ name, size: { jobs: 200_000 }, quick: { jobs: 10_000 } })),
    { name: 'inTurns', size: { jobs: 400_000 }, quick: { jobs: 10_000 } },
  ],
  figures: [
    { key: 'untracked', title: 'Drain due jobs, the current job not tracked', unit: 'jobs/s', better: 'more' },
    { key: 'tracked', title: 'Drain due jobs, the current job tracked', unit: 'jobs/s', better: 'more' },
    { key: 'listened', title: 'Drain due jobs, with a listener on events$', unit: 'jobs/s', better: 'more' },
    { key: 'streamed', title: 'Drain due jobs, with streamEvents', unit: 'jobs/s', better: 'more' },
    { key: 'metered', title: 'Drain due jobs, with metrics', unit: 'jobs/s', better: 'more' },
    { key: 'observed', title: 'Drain due jobs, with metrics and traces', unit: 'jobs/s', better: 'more' },
    { key: 'byHand', title: 'Drain due jobs, with metrics and spans by hand', unit: 'jobs/s', better: 'more' },
    { key: 'untrackedInTurns', title: 'In turns: the current job not tracked', unit: 'jobs/s', better: 'more' },
    { key: 'trackedInTurns', title: 'In turns: the current job tracked', unit: 'jobs/s', better: 'more' },
    { key: 'listenedInTurns', title: 'In turns: with a listener on events$', unit: 'jobs/s', better: 'more' },
    { key: 'streamedInTurns', title: 'In turns: with streamEvents', unit: 'jobs/s', better: 'more' },
    { key: 'meteredInTurns', title: 'In turns: with metrics', unit: 'jobs/s', better: 'more' },
    { key: 'observedInTurns', title: 'In turns: with metrics and traces', unit: 'jobs/s', better: 'more' },
    { key: 'byHandInTurns', title: 'In turns: with metrics and spans by hand', unit: 'jobs/s', better: 'more' },
    { key: 'untrackedCpu', title: 'Node CPU a drained job, not tracked', unit: 'µs', better: 'less' },
    { key: 'trackedCpu', title: 'Node CPU a drained job, tracked', unit: 'µs', better: 'less' },
    { key: 'listenedCpu', title: 'Node CPU a drained job, with a listener', unit: 'µs', better: 'less' },
    { key: 'streamedCpu', title: 'Node CPU a drained job, with streamEvents', unit: 'µs', better: 'less' },
    { key: 'meteredCpu', title: 'Node CPU a drained job, with metrics', unit: 'µs', better: 'less' },
    { key: 'observedCpu', title: 'Node CPU a drained job, with metrics and traces', unit: 'µs', better: 'less' },
    { key: 'byHandCpu', title: 'Node CPU a drained job, with metrics and spans by hand', unit: 'µs', better: 'less' },
    { key: 'trackedRedis', title: 'Redis CPU a drained job, without streamEvents', unit: 'µs', better: 'less' },
    { key: 'streamedRedis', title: 'Redis CPU a drained job, with streamEvents', unit: 'µs', better: 'less' },
  ],
  bars: [
    { figure: 'trackedInTurns', over: { figure: 'untrackedInTurns' }, atLeast: 0.97 },
    { figure: 'listenedInTurns', over: { figure: 'trackedInTurns' }, atLeast: 0.95 },
    { figure: 'streamedInTurns', over: { figure: 'trackedInTurns' }, atLeast: 0.6 },
    { figure: 'meteredInTurns', over: { figure: 'trackedInTurns' }, atLeast: 0.9 },
    { figure: 'observedInTurns', over: { figure: 'byHandInTurns' }, atLeast: 0.9 },
  ],
  timeoutMs: 120_000,

  async run(context) {
    if (context.case === 'inTurns') return inTurns(context);
    const { rate, nodeCpu, redisCpu } = await drain(context, {
      count: context.size('jobs'),
      concurrency: 100,
      counts: 'handled',
      session: { ...optionsOf(context.case), ...(context.case === 'listened' && { settled() {} }) },
    });
    const redis =
      context.case === 'tracked' || context.case === 'streamed' ? { [`${context.case}Redis`]: redisCpu } : {};
    return { [context.case]: rate, [`${context.case}Cpu`]: nodeCpu, ...redis };
  },
};

async function inTurns({ name, redis, size }: Context): Promise<Record<string, number>> {
  const tasks = CASES.map((queue) => ({
    contestant: name,
    redis,
    queue,
    jobs: size('jobs'),
    options: optionsOf(queue),
    listens: queue === 'listened',
  }));
  const rates = await ratesInTurns(tasks, IN_TURNS_DEADLINE_MS);
  return Object.fromEntries(CASES.map((each, i) => [`${each}InTurns`, rates[i]!]));
}

function optionsOf(which: string): Pick<OpenOptions, 'trackCurrentJob' | 'streamEvents' | 'metered' | 'traced'> {
  return {
    trackCurrentJob: which !== 'untracked',
    ...(which === 'streamed' && { streamEvents: { maxLength: 100_000 } }),
    ...(['metered', 'observed', 'byHand'].includes(which) && { metered: true }),
    ...(which === 'observed' && { traced: 'by the module' }),
    ...(which === 'byHand' && { traced: 'by hand' }),
  };
}
