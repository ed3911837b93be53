import { loadPeer } from '../peers.js';
import type { Contestant, Job } from './contestant.js';

/** As much of bee-queue as is used here: its own types are there only once it is installed. */
type BeeQueue = new (name: string, settings: object) => Queue;
interface Queue {
  createJob(data: object): BeeJob;
  saveAll(jobs: BeeJob[]): Promise<Map<BeeJob, Error>>;
  ready(): Promise<unknown>;
  process(concurrency: number, handler: (job: { data: object }) => Promise<unknown>): void;
  on(event: 'succeeded' | 'error', listener: (value: unknown) => void): void;
}
interface BeeJob {
  delayUntil(dueAt: number): BeeJob;
  save(): Promise<unknown>;
}

export const beeQueue: Contestant = {
  configured:
    '`removeOnSuccess` and `removeOnFailure` on, `getEvents`, `sendEvents` and `storeJobs` off, `saveAll` for many; where jobs ' +
    'become due meanwhile `activateDelayedJobs` with a `delayedDebounce` of 1 ms instead of its default of 1 000, else without',

  async open({ redis, concurrency, handle, settled, delayed = false }) {
    const Bee = loadPeer<BeeQueue>('bee-queue');
    const queue = new Bee('bench', {
      redis: { url: redis },
      getEvents: false,
      sendEvents: false,
      storeJobs: false,
      removeOnSuccess: true,
      removeOnFailure: true,
      activateDelayedJobs: delayed,
      delayedDebounce: 1,
    });
    queue.on('error', (error) => console.error(error));
    if (settled) queue.on('succeeded', settled);
    await queue.ready();
    const toJob = ({ payload, dueAt }: Job) => {
      const job = queue.createJob(payload);
      return dueAt === undefined ? job : job.delayUntil(dueAt);
    };
    return {
      schedule: (job) => toJob(job).save(),
      async scheduleMany(jobs) {
        const [error] = (await queue.saveAll(jobs.map(toJob))).values();
        if (error) throw error;
      },
      start: async () => queue.process(concurrency, async ({ data }) => handle(data as never)),
    };
  },
};
