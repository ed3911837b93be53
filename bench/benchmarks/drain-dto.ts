import type { Benchmark } from '../benchmark.js';
import { validatedPayload } from '../measure/payloads.js';
import { drain } from '../measure/throughput.js';

export const drainDto: Benchmark = {
  name: 'drain-dto',
  about:
    'As drain, but the payload of this library is made an instance of a class (a number, an e-mail address, a text) and validated ' +
    'by class-validator before each run. BullMQ and the floor validate nothing.',
  contestants: ['ours', 'bullmq', 'floor'],
  cases: [{ name: 'all', size: { jobs: 200_000 }, quick: { jobs: 10_000 } }],
  figures: [
    { key: 'rate', title: 'Drain due jobs, payload validated', unit: 'jobs/s', better: 'more' },
    { key: 'nodeCpu', title: 'Node CPU a drained job, payload validated', unit: 'µs', better: 'less' },
  ],
  bars: [{ figure: 'rate', over: { contestant: 'bullmq' }, atLeast: 2.5 }],
  timeoutMs: 120_000,

  async run(context) {
    const { rate, nodeCpu } = await drain(context, {
      count: context.size('jobs'),
      concurrency: 100,
      payload: validatedPayload(),
      session: { validated: true },
    });
    return { rate, nodeCpu };
  },
};
