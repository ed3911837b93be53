import { setTimeout } from 'node:timers/promises';
import { ping, startOwnServer } from '../../test/support/redis-server.js';
import type { Benchmark, Context } from '../benchmark.js';
import { drain, ratesBeside, scatteredJobs } from '../measure/throughput.js';

export const scale: Benchmark = {
  name: 'scale',
  about:
    'Schedule and drain with 10 000 and with 10 000 000 jobs that wait, due at random over thirty days; and the last million of these, ' +
    'scheduled 5 000 a call. Of this library with the latter also what Redis uses for each, and a snapshot: how long the fork holds ' +
    'Redis, how long the rest takes beside it, and how long another Redis takes to load it. And the bytes that the AOF, and so a ' +
    'replica too, gets for a job from its schedule to its end.',
  contestants: ['ours', 'floor'],
  cases: [
    { name: '10k', size: { waiting: 10_000, jobs: 100_000 }, quick: { waiting: 1_000, jobs: 5_000 } },
    { name: '10m', size: { waiting: 10_000_000, jobs: 100_000 }, quick: { waiting: 20_000, jobs: 5_000 } },
    { name: 'aof', size: { jobs: 100_000 }, quick: { jobs: 5_000 }, contestants: ['ours'] },
  ],
  figures: [
    { key: 'schedule10k', title: 'Schedule, 10 000 waiting', unit: 'jobs/s', better: 'more' },
    { key: 'schedule10m', title: 'Schedule, 10 000 000 waiting', unit: 'jobs/s', better: 'more' },
    { key: 'scheduleCpu10k', title: 'Redis CPU a scheduled job, 10 000 waiting', unit: 'µs', better: 'less' },
    { key: 'scheduleCpu10m', title: 'Redis CPU a scheduled job, 10 000 000 waiting', unit: 'µs', better: 'less' },
    { key: 'bulk10m', title: 'Schedule, 5 000 a call, to 10 000 000 waiting', unit: 'jobs/s', better: 'more' },
    { key: 'drain10k', title: 'Drain, 10 000 waiting', unit: 'jobs/s', better: 'more' },
    { key: 'drain10m', title: 'Drain, 10 000 000 waiting', unit: 'jobs/s', better: 'more' },
    { key: 'bytes', title: 'Redis memory a waiting job, of 10 000 000', unit: 'bytes', better: 'less' },
    { key: 'fork', title: 'Fork for a snapshot, 10 000 000 waiting', unit: 'ms', better: 'less' },
    { key: 'snapshot', title: 'Snapshot of 10 000 000 jobs', unit: 's', better: 'less' },
    { key: 'snapshotBytes', title: 'Bytes of the snapshot a job', unit: 'bytes', better: 'less' },
    { key: 'load', title: 'Loading that snapshot', unit: 's', better: 'less' },
    { key: 'aof', title: 'Bytes of the AOF a job, from schedule to end', unit: 'bytes', better: 'less' },
  ],
  // The first bar is out of reach where due times are scattered: HSET and ZADD alone then take longer than it leaves for the whole
  // call (bench/README.md, "How to read `scale`"). The floor sends the same two commands, so it shows what the rest of a call costs.
  bars: [
    { figure: 'schedule10m', over: { figure: 'schedule10k' }, atLeast: 0.7 },
    { figure: 'schedule10m', over: { contestant: 'floor' }, atLeast: 1 },
    { figure: 'bulk10m', over: { contestant: 'floor' }, atLeast: 0.8 },
    { figure: 'drain10m', over: { figure: 'drain10k' }, atLeast: 0.7 },
    { figure: 'drain10m', over: { contestant: 'floor' }, atLeast: 0.55 },
  ],
  timeoutMs: 1_800_000,

  run: (context) => (context.case === 'aof' ? aof(context) : waiting(context)),
};

async function waiting(context: Context): Promise<Record<string, number>> {
  const { probe, size } = context;
  const before = await probe.dataBytes();
  const rates = await ratesBeside(context, scatteredJobs());
  if (context.case === '10k' || context.name !== 'ours') return rates;
  // Those that were scheduled to see how fast that is wait as well.
  const jobs = size('waiting') + 1.1 * size('jobs');
  const bytes = ((await probe.dataBytes()) - before) / jobs;
  const { forkMs, seconds, bytes: snapshotBytes, directory } = await probe.snapshot();
  return {
    ...rates,
    bytes,
    fork: forkMs,
    snapshot: seconds,
    snapshotBytes: snapshotBytes / jobs,
    load: await loadSeconds(directory),
  };
}

/** How long a Redis that starts beside this one takes until it answers. */
async function loadSeconds(directory: string): Promise<number> {
  const startedAt = performance.now();
  const server = await startOwnServer('--dir', directory);
  try {
    while ((await ping(server.port)) !== '+PONG') await setTimeout(20);
    return (performance.now() - startedAt) / 1_000;
  } finally {
    await server.stop();
  }
}

async function aof(context: Context): Promise<Record<string, number>> {
  const { probe, size } = context;
  await probe.writeAof();
  const before = await probe.aofBytes();
  await drain(context, { count: size('jobs'), concurrency: 100 });
  return { aof: ((await probe.aofBytes()) - before) / size('jobs') };
}
