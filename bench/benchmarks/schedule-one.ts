import type { Benchmark } from '../benchmark.js';
import { EVERYBODY, type Session } from '../contestants/contestant.js';
import { IN_AN_HOUR, payloadOf } from '../measure/payloads.js';

export const scheduleOne: Benchmark = {
  name: 'schedule-one',
  about:
    'Jobs that are due an hour later are scheduled one after the other, each once the one before has been answered, as a request handler does it.',
  contestants: EVERYBODY,
  cases: [{ name: 'all', size: { jobs: 20_000, warm: 5_000 }, quick: { jobs: 1_000, warm: 100 } }],
  figures: [
    { key: 'rate', title: 'Schedule one after the other', unit: 'calls/s', better: 'more' },
    { key: 'redisCpu', title: 'Redis CPU a call', unit: 'µs', better: 'less' },
    { key: 'nodeCpu', title: 'Node CPU a call', unit: 'µs', better: 'less' },
  ],
  bars: [
    { figure: 'redisCpu', over: { contestant: 'bullmq' }, atMost: 0.75 },
    { figure: 'rate', over: { contestant: 'bullmq' }, atLeast: 1.1 },
  ],
  timeoutMs: 60_000,

  async run({ open, probe, size }) {
    const session = await open({ concurrency: 1, handle: () => {} });
    await scheduleInRow(session, size('warm'));
    const count = size('jobs');
    const [redisCpu, nodeCpu, started] = [await probe.cpuMicros(), process.cpuUsage(), performance.now()];
    await scheduleInRow(session, count);
    const ms = performance.now() - started;
    const { user, system } = process.cpuUsage(nodeCpu);
    return {
      rate: (count / ms) * 1_000,
      redisCpu: ((await probe.cpuMicros()) - redisCpu) / count,
      nodeCpu: (user + system) / count,
    };
  },
};

async function scheduleInRow(session: Session, count: number): Promise<void> {
  const payload = payloadOf();
  for (let i = 0; i < count; i++) await session.schedule({ payload, dueAt: IN_AN_HOUR() });
}
