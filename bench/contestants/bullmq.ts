import { loadPeer } from '../peers.js';
import type { Contestant, Job, Recurrence } from './contestant.js';

/** As much of BullMQ as is used here: its own types are there only once it is installed. */
interface BullMQ {
  Queue: new (name: string, options: object) => BullQueue;
  Worker: new (name: string, processor: (job: { data: object }) => Promise<unknown>, options: object) => BullWorker;
}
interface BullQueue {
  add(name: string, data: object, options?: object): Promise<unknown>;
  addBulk(jobs: { name: string; data: object; opts?: object }[]): Promise<unknown>;
  upsertJobScheduler(id: string, repeat: object, template: { name: string; data: object }): Promise<unknown>;
  waitUntilReady(): Promise<unknown>;
}
interface BullWorker {
  on(event: 'completed' | 'error', listener: (value: unknown) => void): void;
  run(): Promise<void>;
  waitUntilReady(): Promise<unknown>;
}

const QUEUE = 'bench';

export const bullmq: Contestant = {
  configured:
    'one Queue and one Worker, `concurrency` as given, `addBulk` for many, `removeOnComplete: { count: 0 }` and ' +
    '`removeOnFail` on the worker, jobs that are due now without a delay; all else at its default',

  async open({ redis, concurrency, handle, settled }) {
    const { Queue, Worker } = loadPeer<BullMQ>('bullmq');
    const { hostname: host, port } = new URL(redis);
    const connection = { host, port: Number(port), maxRetriesPerRequest: null };
    const queue = new Queue(QUEUE, { connection });
    await queue.waitUntilReady();
    return {
      schedule: ({ payload, dueAt }) => queue.add('job', payload, optionsOf(dueAt)),
      scheduleMany: (jobs) =>
        queue.addBulk(jobs.map(({ payload, dueAt }) => ({ name: 'job', data: payload, opts: optionsOf(dueAt) }))),
      upsertRecurrence: ({ id, payload, rule }) =>
        queue.upsertJobScheduler(id, repeatOf(rule), { name: 'job', data: payload }),
      async start() {
        const worker = new Worker(QUEUE, async ({ data }) => handle(data as never), {
          connection,
          concurrency,
          autorun: false,
          removeOnComplete: { count: 0 },
          removeOnFail: { count: 0 },
        });
        worker.on('error', (error) => console.error(error));
        if (settled) worker.on('completed', settled);
        await worker.waitUntilReady();
        void worker.run();
      },
    };
  },
};

function repeatOf(rule: Recurrence['rule']): object {
  if ('cron' in rule) return { pattern: rule.cron, tz: rule.timeZone };
  return { every: rule.everyMs, offset: rule.offsetMs };
}

/** A delay counts from the job's own timestamp, so both are told. */
function optionsOf(dueAt: Job['dueAt']): object | undefined {
  if (dueAt === undefined) return undefined;
  const timestamp = Date.now();
  return { timestamp, delay: Math.max(0, dueAt - timestamp) };
}
