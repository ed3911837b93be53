import type { Benchmark } from '../benchmark.js';
import { payloadOf } from '../measure/payloads.js';
import { passed, Starts } from '../measure/starts.js';

export const queues: Benchmark = {
  name: 'queues',
  about:
    'One process with handlers for one queue and for 1 000 queues, all idle. Start-up is from the making of the application until a job ' +
    'of the last queue has started that was scheduled as soon as the workers began.',
  contestants: ['ours'],
  cases: [
    { name: 'Of1', size: { queues: 1, seconds: 20 }, quick: { seconds: 5 } },
    { name: 'Of1000', size: { queues: 1_000, seconds: 20 }, quick: { queues: 50, seconds: 5 } },
  ],
  figures: [
    { key: 'connectionsOf1', title: 'Connections, one queue', unit: '', better: 'less' },
    { key: 'connectionsOf1000', title: 'Connections, 1 000 queues', unit: '', better: 'less' },
    { key: 'rateOf1000', title: 'Commands, 1 000 idle queues', unit: '/s', better: 'less' },
    { key: 'startOf1', title: 'Start-up, one queue', unit: 'ms', better: 'less' },
    { key: 'startOf1000', title: 'Start-up, 1 000 queues', unit: 'ms', better: 'less' },
  ],
  bars: [
    { figure: 'connectionsOf1000', over: { figure: 'connectionsOf1' }, atMost: 1 },
    { figure: 'rateOf1000', atMost: 250 },
    { figure: 'startOf1000', atMost: 2_000 },
  ],
  timeoutMs: 90_000,

  async run({ open, probe, size, case: which }) {
    const names = Array.from({ length: size('queues') }, (_, i) => `queue${i}`);
    const starts = new Starts();
    const began = performance.now();
    const session = await open({ concurrency: 10, handle: starts.handle, queues: names });
    await session.start();
    await session.schedule({ payload: payloadOf({ dueAt: Date.now() }), queue: names.at(-1)! });
    await starts.reached(1);
    const start = performance.now() - began;

    await passed(3_000);
    const connections = await probe.connections();
    const counter = await probe.countCommands();
    await passed(500);
    counter.take();
    await passed(size('seconds') * 1_000);
    const rate = counter.take() / size('seconds');
    counter.close();
    return { [`connections${which}`]: connections, [`rate${which}`]: rate, [`start${which}`]: start };
  },
};
