import type { Benchmark, Context } from '../benchmark.js';
import { drain } from '../measure/throughput.js';
import { ratesInTurns } from '../measure/turns.js';

/** Less than the benchmark may take, so that no stopped process is left. */
const IN_TURNS_DEADLINE_MS = 110_000;

export const watched: Benchmark = {
  name: 'watched',
  about:
    'As drain, of this library alone: with `trackCurrentJob: false` and nobody who listens to events; with the current job tracked, ' +
    'as by default; with that and a listener on `events$`; and with that and `streamEvents` instead, so that each event is also ' +
    'written to Redis, of which the latest 100 000 are kept. Counted until the last handler is called. In turns: two processes, ' +
    'one that tracks and one that does not, drain by turns of 100 ms, so that both meet the same swings of the machine.',
  contestants: ['ours'],
  cases: [
    ...['untracked', 'tracked', 'listened', 'streamed'].map((name) => ({
      name,
      size: { jobs: 200_000 },
      quick: { jobs: 10_000 },
    })),
    { name: 'inTurns', size: { jobs: 600_000 }, quick: { jobs: 10_000 } },
  ],
  figures: [
    { key: 'untracked', title: 'Drain due jobs, the current job not tracked', unit: 'jobs/s', better: 'more' },
    { key: 'tracked', title: 'Drain due jobs, the current job tracked', unit: 'jobs/s', better: 'more' },
    { key: 'listened', title: 'Drain due jobs, with a listener on events$', unit: 'jobs/s', better: 'more' },
    { key: 'streamed', title: 'Drain due jobs, with streamEvents', unit: 'jobs/s', better: 'more' },
    { key: 'untrackedInTurns', title: 'In turns with tracked: not tracked', unit: 'jobs/s', better: 'more' },
    { key: 'trackedInTurns', title: 'In turns with not tracked: tracked', unit: 'jobs/s', better: 'more' },
    { key: 'untrackedCpu', title: 'Node CPU a drained job, not tracked', unit: 'µs', better: 'less' },
    { key: 'trackedCpu', title: 'Node CPU a drained job, tracked', unit: 'µs', better: 'less' },
    { key: 'listenedCpu', title: 'Node CPU a drained job, with a listener', unit: 'µs', better: 'less' },
    { key: 'streamedCpu', title: 'Node CPU a drained job, with streamEvents', unit: 'µs', better: 'less' },
    { key: 'trackedRedis', title: 'Redis CPU a drained job, without streamEvents', unit: 'µs', better: 'less' },
    { key: 'streamedRedis', title: 'Redis CPU a drained job, with streamEvents', unit: 'µs', better: 'less' },
  ],
  bars: [
    { figure: 'trackedInTurns', over: { figure: 'untrackedInTurns' }, atLeast: 0.97 },
    { figure: 'listened', over: { figure: 'tracked' }, atLeast: 0.95 },
    { figure: 'streamed', over: { figure: 'tracked' }, atLeast: 0.6 },
  ],
  timeoutMs: 120_000,

  async run(context) {
    if (context.case === 'inTurns') return inTurns(context);
    const { rate, nodeCpu, redisCpu } = await drain(context, {
      count: context.size('jobs'),
      concurrency: 100,
      counts: 'handled',
      session: {
        trackCurrentJob: context.case !== 'untracked',
        ...(context.case === 'listened' && { settled() {} }),
        ...(context.case === 'streamed' && { streamEvents: { maxLength: 100_000 } }),
      },
    });
    const redis =
      context.case === 'tracked' || context.case === 'streamed' ? { [`${context.case}Redis`]: redisCpu } : {};
    return { [context.case]: rate, [`${context.case}Cpu`]: nodeCpu, ...redis };
  },
};

async function inTurns({ name, redis, size }: Context): Promise<Record<string, number>> {
  const tasks = [false, true].map((trackCurrentJob) => ({
    contestant: name,
    redis,
    queue: trackCurrentJob ? 'tracked' : 'untracked',
    jobs: size('jobs'),
    session: { trackCurrentJob },
  }));
  const [untracked, tracked] = await ratesInTurns(tasks, IN_TURNS_DEADLINE_MS);
  return { untrackedInTurns: untracked!, trackedInTurns: tracked! };
}
