import type { Benchmark, Context } from '../benchmark.js';
import type { Session } from '../contestants/contestant.js';
import { dueJob, passed, Starts } from '../measure/starts.js';

const CASES = [1, 4, 16, 64];

export const idle: Benchmark = {
  name: 'idle',
  about:
    'Workers of one queue that have nothing to do: commands that they send, those inside scripts not counted. Then a job every ' +
    '250 ms, due 100 ms after it is scheduled: commands for each job, the scheduling included, what the idle workers send anyway taken off.',
  contestants: ['ours', 'bullmq', 'bee-queue'],
  cases: CASES.map((workers) => ({
    name: String(workers),
    size: { workers, seconds: workers === 1 ? 40 : 20, jobs: workers === 1 ? 0 : 40 },
    quick: { seconds: 5, jobs: workers === 1 ? 0 : 8 },
  })),
  figures: [
    { key: 'rate1', title: 'Commands of one idle worker', unit: '/s', better: 'less' },
    { key: 'rate4', title: 'Commands of 4 idle workers', unit: '/s', better: 'less' },
    { key: 'perJob4', title: 'Commands a due job, 4 idle workers', unit: '', better: 'less' },
    { key: 'perJob16', title: 'Commands a due job, 16 idle workers', unit: '', better: 'less' },
    { key: 'perJob64', title: 'Commands a due job, 64 idle workers', unit: '', better: 'less' },
  ],
  bars: [
    // A look every 5 s, and every 10 s a PING of the connection that hears the others.
    { figure: 'rate1', atMost: 0.32 },
    { figure: 'perJob64', over: { figure: 'perJob4' }, atMost: 1.5 },
  ],
  timeoutMs: 150_000,

  async run(context) {
    const { size, probe } = context;
    const starts = new Starts();
    const sessions: Session[] = [];
    for (let i = 0; i < size('workers'); i++) sessions.push(await openOne(context, starts));
    await passed(3_000);

    const counter = await probe.countCommands();
    await passed(500);
    counter.take();
    await passed(size('seconds') * 1_000);
    const rate = counter.take() / size('seconds');
    const figures: Record<string, number> = { [`rate${context.case}`]: rate };
    if (size('jobs') > 0) figures[`perJob${context.case}`] = await perJob();
    counter.close();
    return figures;

    async function perJob(): Promise<number> {
      const started = performance.now();
      for (let i = 1; i <= size('jobs'); i++) {
        await sessions[0]!.schedule(dueJob(Date.now() + 100));
        await passed(started + i * 250 - performance.now());
      }
      await starts.reached(size('jobs'));
      const commands = counter.take();
      return (commands - (rate * (performance.now() - started)) / 1_000) / size('jobs');
    }
  },
};

async function openOne(context: Context, starts: Starts): Promise<Session> {
  const session = await context.open({ concurrency: 10, handle: starts.handle, delayed: true });
  await session.start();
  return session;
}
