import type { Benchmark, Context } from '../benchmark.js';
import { EVERYBODY } from '../contestants/contestant.js';
import { payloadOf } from '../measure/payloads.js';
import { fill, waitingJob } from '../measure/throughput.js';

/** Where concurrency ends for this library; the others are given the same. */
const RUNNING_EACH = 1_000;

export const memory: Benchmark = {
  name: 'memory',
  about:
    'What Redis uses more, buffers of clients left out, once 250 000 jobs wait, and once 15 000 run, 1 000 in each of 15 workers. ' +
    'Both numbers lie just below where Redis doubles its tables, and long after the last doubling.',
  contestants: EVERYBODY,
  cases: [
    { name: 'waiting', size: { jobs: 250_000 }, quick: { jobs: 20_000 } },
    { name: 'running', size: { workers: 15 }, quick: { workers: 2 } },
  ],
  figures: [
    { key: 'waiting', title: 'Redis memory a waiting job', unit: 'bytes', better: 'less' },
    { key: 'running', title: 'Redis memory a running job', unit: 'bytes', better: 'less' },
  ],
  bars: [
    { figure: 'waiting', over: { contestant: 'floor' }, atMost: 1.35 },
    { figure: 'running', over: { contestant: 'floor' }, atMost: 1.9 },
  ],
  timeoutMs: 120_000,

  run: (context) => (context.case === 'waiting' ? waiting(context) : running(context)),
};

async function waiting({ open, probe, size }: Context) {
  const session = await open({ concurrency: 1, handle: () => {} });
  // Scripts and whatever a queue has once.
  await session.scheduleMany([waitingJob()]);
  const before = await probe.dataBytes();
  await fill(session, size('jobs'), waitingJob());
  return { waiting: ((await probe.dataBytes()) - before) / size('jobs') };
}

async function running({ open, probe, size }: Context) {
  const count = size('workers') * RUNNING_EACH;
  let started = 0;
  let reached!: () => void;
  const allRun = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const handle = () => {
    if (++started === count) reached();
    return new Promise(() => {});
  };
  const sessions = [];
  for (let i = 0; i < size('workers'); i++) sessions.push(await open({ concurrency: RUNNING_EACH, handle }));
  await sessions[0]!.scheduleMany([waitingJob()]);
  const before = await probe.dataBytes();
  await fill(sessions[0]!, count, { payload: payloadOf() });
  for (const session of sessions) await session.start();
  await allRun;
  return { running: ((await probe.dataBytes()) - before) / count };
}
