import type { ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';

/** A Queue of BullMQ is one. */
interface OldQueue {
  name: string;
  getDelayed(start: number, end: number): Promise<OldJob[]>;
}

interface OldJob {
  id?: string;
  name: string;
  data: unknown;
  timestamp: number;
  delay: number;
  remove(): Promise<unknown>;
}

/** Moves what waits for its time. If it dies half-way, call it again. */
export async function moveDelayed(
  old: OldQueue,
  producer: ScheduledQueueProducer,
) {
  for (;;) {
    const jobs = await old.getDelayed(0, 99);
    if (jobs.length === 0) return;
    for (const { id, name, data, timestamp, delay } of jobs) {
      const at = timestamp + delay;
      // A second call with this id makes no second job.
      await producer.schedule(name, data, { queue: old.name, id, at });
    }
    await Promise.all(jobs.map((job) => job.remove()));
  }
}
