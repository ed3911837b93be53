import { hostname } from 'node:os';
import { InvalidOptionsError, InvalidScheduleError, QueueClosedError } from '../../core/errors.js';
import { JobIdMaker } from '../../core/job/job-id.js';
import type { QueueSettings } from '../../core/options/queue-options.js';
import { Codecs } from '../../core/payload/codecs.js';
import type {
  JobStore,
  NewJob,
  QueueDeclarations,
  QueueJobs,
  QueueManagement,
  QueueRecurrences,
  QueueStore,
  QueueView,
  SeenQueue,
} from '../../store/job-store.js';
import { MemoryEvents } from './memory-events.js';
import { MemoryJobs, type SingleJobs } from './memory-jobs.js';
import { MemoryManagement } from './memory-management.js';
import { MemoryQueue, Outage } from './memory-queue.js';
import { MemoryView } from './memory-view.js';
import { MemoryDeclarations } from './recur/memory-declarations.js';
import { MemoryRecurrences } from './recur/memory-recurrences.js';
import type { StoreClock } from './sleepers.js';
import { callsOf } from './steps.js';
import { MemorySession } from './turn/memory-session.js';

export interface MemoryJobStoreOptions {
  /** The options of a queue, the defaults where it has none. */
  settingsOf(queue: string): QueueSettings;
  clock: StoreClock;
  /** `writes`: the codec that payloads are written with. Default: JSON. */
  codecs?: Pick<Codecs, 'writes'>;
  /**
   * Whether a session that listens sleeps until it is told, and takes no looks in case a message was lost: none is here. With a virtual clock each
   * of these looks would be an instant at which nothing changes. Default `false`.
   */
  trustsHints?: boolean;
}

interface OpenedQueue {
  readonly queue: MemoryQueue;
  readonly view: MemoryView;
  readonly store: QueueStore;
}

/**
 * The definition of what a store of jobs does, in as few words as it takes: a Map of jobs, and a sorted list of those that wait at each
 * priority. Every method is one step, which nothing interrupts; nothing is ever lost on the way, so no call is sent twice. Jobs live as
 * long as this object. It has no streams or lists to relay jobs to.
 */
export class MemoryJobStore implements JobStore {
  /** Told of each waiting job that is cancelled or deleted, by whatever call. */
  onCancel?: (job: { queue: string; id: string; name: string }) => void;
  private readonly opened = new Map<string, OpenedQueue>();
  private readonly ids = new JobIdMaker();
  private isClosed = false;
  /** While it is on, each call fails. */
  readonly outage = new Outage();

  constructor(private readonly options: MemoryJobStoreOptions) {}

  connect(): void {}

  queue(name: string): QueueStore {
    return this.inside(name).store;
  }

  /** There are no replicas. */
  get confirmed(): this {
    return this;
  }

  transaction(): never {
    throw new InvalidScheduleError(
      'in: the test kit has no Redis that could run a MULTI, expected a real one: test what schedules in a MULTI against Redis, or prepare the job.',
    );
  }

  /** A queue itself, and what can be read of it, also while it is away. */
  inside(name: string): OpenedQueue {
    const opened = this.opened.get(name) ?? this.open(name);
    this.opened.set(name, opened);
    return opened;
  }

  async queues(): Promise<SeenQueue[]> {
    if (this.isClosed) throw new QueueClosedError('The connection is closed.');
    this.outage.requireThere();
    return [...this.opened.values()]
      .flatMap(({ queue: { name, usedAtMs } }) => (usedAtMs === undefined ? [] : [{ name, lastSeenAtMs: usedAtMs }]))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Its clock is the process's. */
  async clockOffsetMs(): Promise<number> {
    if (this.isClosed) throw new QueueClosedError('The connection is closed.');
    this.outage.requireThere();
    return 0;
  }

  async answering(queues: readonly string[]): Promise<string[]> {
    return this.isClosed || this.outage.isOn ? [] : [...queues];
  }

  get trouble(): Error | undefined {
    return this.outage.trouble;
  }

  /** The queues that have been opened, for whoever looks into the memory itself. */
  openedQueues(): MemoryQueue[] {
    return [...this.opened.values()].map(({ queue }) => queue);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const { queue } of this.opened.values()) queue.close();
  }

  private open(name: string): OpenedQueue {
    const { settingsOf, clock, trustsHints, codecs = new Codecs() } = this.options;
    const queue = new MemoryQueue(name, settingsOf(name), clock, codecs.writes, this.outage, trustsHints);
    queue.ledger.onCancel = ({ id, envelope }) => this.onCancel?.({ queue: name, id, name: envelope.name });
    if (this.isClosed) queue.close();
    const jobs = new MemoryJobs(queue, this.ids);
    const view = new MemoryView(queue, { host: hostname(), pid: process.pid });
    const store: QueueStore = {
      jobs: withMany(callsOf<SingleJobs>(queue, jobs, whichJob)),
      management: callsOf<QueueManagement>(queue, new MemoryManagement(queue, jobs)),
      view: callsOf<QueueView>(queue, view),
      sessions: {
        worker: (id, names) => new MemorySession(queue, id, 'worker', names.names, names),
        pull: (id, names) => new MemorySession(queue, id, 'pull', names),
        relay: () => {
          throw noTargets(name);
        },
      },
      recurrences: callsOf<QueueRecurrences>(queue, new MemoryRecurrences(queue)),
      declarations: callsOf<QueueDeclarations>(queue, new MemoryDeclarations(queue)),
      events: new MemoryEvents(queue),
    };
    return { queue, view, store };
  }
}

const whichJob = (job: NewJob | string) =>
  typeof job === 'string' ? { jobId: job } : { jobId: job.id, jobName: job.name };

function withMany({ schedule, ...others }: SingleJobs): QueueJobs {
  const scheduleMany: QueueJobs['scheduleMany'] = async (jobs, answered) => {
    const told = jobs.map((job, index) =>
      schedule(job).then(
        (answer) => answered(index, answer),
        (error) => answered(index, undefined, error),
      ),
    );
    await Promise.all(told);
  };
  return { ...others, schedule, scheduleMany };
}

const noTargets = (queue: string) =>
  new InvalidOptionsError(
    `relay: the queue '${queue}' lies in memory, where there are no streams or lists; expected a queue in Redis.`,
    { queue },
  );
