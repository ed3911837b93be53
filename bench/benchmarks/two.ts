import type { Benchmark } from '../benchmark.js';
import { EVERYBODY } from '../contestants/contestant.js';
import { payloadOf } from '../measure/payloads.js';
import { fill } from '../measure/throughput.js';
import { WorkerProcesses } from '../measure/worker-processes.js';

export const two: Benchmark = {
  name: 'two',
  about:
    'As drain, by one worker process and by two on the same queue, concurrency 100 in each, with a handler that waits 1 ms. Once ' +
    'wherever the kernel puts them; once with Redis on a core of its own, as on a machine of its own, and the processes on the others.',
  contestants: EVERYBODY,
  cases: [
    { name: 'By1', size: { workers: 1, jobs: 300_000 }, quick: { jobs: 10_000 } },
    { name: 'By2', size: { workers: 2, jobs: 300_000 }, quick: { jobs: 10_000 } },
    { name: 'By1Tied', size: { workers: 1, jobs: 300_000 }, quick: { jobs: 10_000 }, isTied: true },
    { name: 'By2Tied', size: { workers: 2, jobs: 300_000 }, quick: { jobs: 10_000 }, isTied: true },
  ],
  figures: [
    { key: 'rateBy1', title: 'Drain by one process', unit: 'jobs/s', better: 'more' },
    { key: 'rateBy2', title: 'Drain by two processes', unit: 'jobs/s', better: 'more' },
    { key: 'redisCpuBy1', title: 'Redis CPU a job, one process', unit: 'µs', better: 'less' },
    { key: 'redisCpuBy2', title: 'Redis CPU a job, two processes', unit: 'µs', better: 'less' },
    { key: 'rateBy1Tied', title: 'One process, Redis on its own core', unit: 'jobs/s', better: 'more' },
    { key: 'rateBy2Tied', title: 'Two processes, Redis on its own core', unit: 'jobs/s', better: 'more' },
    {
      key: 'redisCpuBy1Tied',
      title: 'Redis CPU a job, one process, Redis on its own core',
      unit: 'µs',
      better: 'less',
    },
    {
      key: 'redisCpuBy2Tied',
      title: 'Redis CPU a job, two processes, Redis on its own core',
      unit: 'µs',
      better: 'less',
    },
  ],
  bars: [
    { figure: 'rateBy2', over: { figure: 'rateBy1' }, atLeast: 0.9, aim: 1 },
    { figure: 'redisCpuBy2', over: { figure: 'redisCpuBy1' }, atMost: 1 },
  ],
  timeoutMs: 180_000,

  async run({ open, probe, name, redis, size, case: which }) {
    const count = size('jobs');
    const session = await open({ concurrency: 1, handle: () => {} });
    await fill(session, count, { payload: payloadOf() });
    const workers = await WorkerProcesses.start(size('workers'), {
      contestant: name,
      redis,
      concurrency: 100,
      handlerMs: 1,
    });
    workers.begin();
    const warm = await workers.settled(count / 10);
    const before = await probe.cpuMicros();
    const end = await workers.settled(count);
    const after = await probe.cpuMicros();
    return {
      [`rate${which}`]: ((end.count - warm.count) / (end.at - warm.at)) * 1_000,
      [`redisCpu${which}`]: (after - before) / (end.count - warm.count),
    };
  },
};
