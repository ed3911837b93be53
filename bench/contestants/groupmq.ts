import { Redis } from 'ioredis';
import { loadPeer } from '../peers.js';
import type { Contestant, Job } from './contestant.js';

/** As much of groupmq as is used here: its own types are there only once it is installed. */
interface GroupMQ {
  Queue: new (options: object) => GroupQueue;
  Worker: new (options: object) => GroupWorker;
}
interface GroupQueue {
  add(options: { groupId: string; data: object; runAt?: number }): Promise<unknown>;
}
interface GroupWorker {
  on(event: 'completed' | 'error', listener: (value: unknown) => void): void;
  run(): Promise<void>;
}

/** Of jobs whose group is not said: every job of this queue has one. */
const GROUP = 'bench';

export const groupmq: Contestant = {
  configured:
    'one Queue and one Worker, `concurrency` as given, one `add` a job also where there are many, all of them sent before the first is answered; ' +
    'all else at its default: completed jobs are removed, the completion of a job takes the next one of its group',

  async open({ redis, concurrency, handle, settled }) {
    const { Queue, Worker } = loadPeer<GroupMQ>('groupmq');
    const queue = new Queue({ redis: new Redis(redis, { maxRetriesPerRequest: null }), namespace: 'bench' });
    const add = ({ payload, group = GROUP, dueAt }: Job) =>
      queue.add({ groupId: group, data: payload, ...(dueAt !== undefined && { runAt: dueAt }) });
    return {
      schedule: add,
      scheduleMany: (jobs) => Promise.all(jobs.map(add)),
      async start() {
        const worker = new Worker({
          queue,
          concurrency,
          handler: async ({ data }: { data: object }) => handle(data as never),
        });
        worker.on('error', (error) => console.error(error));
        if (settled) worker.on('completed', settled);
        void worker.run();
      },
    };
  },
};
