import type { ScheduledQueueEvent } from '../../core/job/events.js';
import { isOfKind, type JobKind } from './job-kind.js';

const ENDS = ['completed', 'dead', 'cancelled', 'discarded'] as const;

/** How a job may leave its queue. */
export type End = (typeof ENDS)[number];

export interface NamedById {
  readonly id: string;
  readonly queue: string;
}

/** A waiting job that a script has cancelled or deleted. Deletions are told by no event. */
export interface CancelledJob extends NamedById {
  readonly type: 'cancelled';
}

interface HeardJob extends NamedById {
  /** `''` until an event has told it. */
  name: string;
  /** The latest, where an id was used again. */
  end?: End;
}

/** A job that has left its queue without being completed. */
export type GoneJob = HeardJob & { readonly end: 'cancelled' | 'discarded' };

/** The jobs of which the events of one module instance have told. */
export class HeardJobs {
  /** By queue, then by id. */
  private readonly jobs = new Map<string, Map<string, HeardJob>>();
  private readonly left = new Set<HeardJob>();

  hear(event: ScheduledQueueEvent | CancelledJob): void {
    const job = this.jobOf(event.queue, event.id);
    if ('name' in event) job.name = event.name;
    if (!isEnd(event.type)) return;
    job.end = event.type;
    // Anew, so that an id that was used again stands where its latest end is.
    this.left.delete(job);
    if (isGone(job)) this.left.add(job);
  }

  endOf({ queue, id }: NamedById): End | undefined {
    return this.jobs.get(queue)?.get(id)?.end;
  }

  /** Those of a kind that were cancelled or discarded, in this order. */
  gone(kind: JobKind): GoneJob[] {
    return [...this.left].filter(isGone).filter((job) => isOfKind(job, kind));
  }

  queuesOf(id: string): string[] {
    return [...this.jobs].filter(([, jobs]) => jobs.has(id)).map(([queue]) => queue);
  }

  private jobOf(queue: string, id: string): HeardJob {
    const ofQueue = this.jobs.get(queue);
    const known = ofQueue?.get(id);
    if (known) return known;
    const job = { queue, id, name: '', end: undefined };
    if (ofQueue) ofQueue.set(id, job);
    else this.jobs.set(queue, new Map([[id, job]]));
    return job;
  }
}

export const isEnd = (state: string): state is End => (ENDS as readonly string[]).includes(state);

const isGone = (job: HeardJob): job is GoneJob => job.end === 'cancelled' || job.end === 'discarded';
