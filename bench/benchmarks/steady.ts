import { setImmediate as turnOfLoop } from 'node:timers/promises';
import type { Benchmark, Context } from '../benchmark.js';
import type { Session } from '../contestants/contestant.js';
import { payloadOf } from '../measure/payloads.js';
import { passed } from '../measure/starts.js';
import { preciseNow, SteadyWorkers } from '../measure/steady-workers.js';
import { percentile } from '../report/statistics.js';

const HANDLER_MS = 5;
const CONCURRENCY = 100;
/** A worker is warm after so many jobs. */
const WARM_JOBS = 1_000;
/** What the jobs that warm up leave behind, such as workers that look for more, is over by then. */
const WARM_SECONDS = 1;
const TICK_MS = 1;
/** How often is looked whether the last job has been settled: seldom enough to be free beside seconds of work. */
const LOOK_MS = 100;

const RATES = [200, 2_000];
const WORKERS = [1, 8];
const CASES = RATES.flatMap((perSecond) =>
  WORKERS.map((workers) => ({ key: `${perSecond}By${workers}`, perSecond, workers })),
);

export const steady: Benchmark = {
  name: 'steady',
  about:
    'Jobs that are due at once come at a steady rate, one call for each, from a process of their own; 1 and 8 worker processes run them, with a ' +
    'handler that waits 5 ms. What a job costs, from its schedule to its end: CPU time of Redis and of the workers, commands that clients ' +
    'send (a script is one), time in scripts, and commands inside them. And how long after its schedule a job starts.',
  contestants: ['ours', 'bullmq'],
  cases: CASES.map(({ key, perSecond, workers }) => ({
    name: key,
    size: { perSecond, workers, warm: WARM_JOBS * workers, seconds: 8 },
    quick: { workers: Math.min(workers, 2), warm: 100, seconds: 1 },
  })),
  figures: CASES.flatMap(({ key, perSecond, workers }) => {
    const at = `${perSecond === 200 ? '200' : '2 000'} jobs/s, ${workers === 1 ? '1 worker' : `${workers} workers`}`;
    const figure = (name: string, title: string, unit: string) =>
      ({ key: name + key, title: `${title}, ${at}`, unit, better: 'less' }) as const;
    return [
      figure('redisCpu', 'Redis CPU a job', 'µs'),
      figure('nodeCpu', 'Workers’ CPU a job', 'µs'),
      figure('calls', 'Commands sent a job', ''),
      figure('scripts', 'Time in scripts a job', 'µs'),
      figure('inside', 'Commands inside scripts a job', ''),
      figure('p50at', 'Lateness, p50', 'ms'),
      figure('p99at', 'Lateness, p99', 'ms'),
    ];
  }),
  bars: CASES.flatMap(({ key, perSecond }) => [
    { figure: `redisCpu${key}`, over: { contestant: 'bullmq' as const }, atMost: perSecond === 200 ? 0.7 : 0.55 },
    ...(perSecond === 200 ? [{ figure: `inside${key}`, atMost: 40 }] : []),
  ]),
  timeoutMs: 90_000,

  async run(context) {
    const { case: key, name, open, probe, redis, size } = context;
    const session = await open({ concurrency: 1, handle: () => {} });
    const workers = await SteadyWorkers.start(size('workers'), {
      contestant: name,
      redis,
      concurrency: CONCURRENCY,
      handlerMs: HANDLER_MS,
    });
    await warmUp(context, session);
    const warm = await allSettled(workers, size('warm') + size('perSecond') * WARM_SECONDS);

    const [cpu, commands] = [await probe.cpuMicros(), await probe.commands()];
    const jobs = await scheduleOneByOne(session, size('perSecond'), size('seconds'));
    const end = await allSettled(workers, warm.settled + jobs);
    const [cpuAfter, commandsAfter] = [await probe.cpuMicros(), await probe.commands()];
    return {
      [`redisCpu${key}`]: (cpuAfter - cpu) / jobs,
      [`nodeCpu${key}`]: (end.cpuMicros - warm.cpuMicros) / jobs,
      [`calls${key}`]: (commandsAfter.sent - commands.sent) / jobs,
      [`scripts${key}`]: (commandsAfter.scriptMicros - commands.scriptMicros) / jobs,
      [`inside${key}`]: (commandsAfter.inside - commands.inside) / jobs,
      [`p50at${key}`]: percentile(end.lateMs, 50),
      [`p99at${key}`]: percentile(end.lateMs, 99),
    };
  },
};

async function warmUp({ size }: Context, session: Session): Promise<void> {
  // As many as run at once, so that each of several workers gets some.
  for (let left = size('warm'); left > 0; left -= CONCURRENCY) {
    await session.scheduleMany(Array.from({ length: Math.min(left, CONCURRENCY) }, jobDueNow));
    await passed(HANDLER_MS);
  }
  await scheduleOneByOne(session, size('perSecond'), WARM_SECONDS);
}

/**
 * At even distances, so that at 200 a second each job is a lonely one: where two meet, one call does for both, which is cheaper. And each in a
 * turn of the event loop of its own, as requests come. Resolves once Redis has all.
 */
async function scheduleOneByOne(session: Session, perSecond: number, seconds: number): Promise<number> {
  const count = perSecond * seconds;
  const from = performance.now();
  const calls: Promise<unknown>[] = [];
  for (let i = 0; i < count; i++) {
    while (performance.now() < from + (i * 1_000) / perSecond) await passed(TICK_MS);
    calls.push(session.schedule(jobDueNow()));
    await turnOfLoop();
  }
  await Promise.all(calls);
  return count;
}

const jobDueNow = () => ({ payload: payloadOf({ dueAt: preciseNow() }) });

/** Resolves once so many have been settled since the workers began. The lateness that it tells is of those since the last call. */
async function allSettled(workers: SteadyWorkers, count: number) {
  const lateMs: number[] = [];
  for (;;) {
    const report = await workers.report();
    lateMs.push(...report.lateMs);
    if (report.settled >= count) return { ...report, lateMs };
    await passed(LOOK_MS);
  }
}
