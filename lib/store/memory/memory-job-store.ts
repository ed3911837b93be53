import { hostname } from 'node:os';
import type { Clock } from '../../core/clock.js';
import { QueueClosedError } from '../../core/errors.js';
import { JobIdMaker } from '../../core/job/job-id.js';
import type { QueueSettings } from '../../core/options/queue-options.js';
import type { JobStore, QueueStore, SeenQueue } from '../job-store.js';
import { MemoryEvents } from './events/memory-events.js';
import { MemoryJobs } from './memory-jobs.js';
import { MemoryManagement } from './memory-management.js';
import { MemoryQueue } from './memory-queue.js';
import { MemorySessions } from './memory-sessions.js';
import { MemoryView } from './memory-view.js';
import { MemoryDeclarations } from './recur/memory-declarations.js';
import { MemoryRecurrences } from './recur/memory-recurrences.js';

export interface MemoryJobStoreOptions {
  /** The options of a queue, the defaults where it has none. */
  settingsOf(queue: string): QueueSettings;
  clock: Clock;
}

/**
 * The definition of what a store of jobs does, in as few words as it takes: a Map of jobs, and a sorted list of those that wait at each
 * priority. Every method is one step, which nothing interrupts; nothing is ever lost on the way, so no call is sent twice. Jobs live as
 * long as this object. It has no streams or lists to relay jobs to.
 */
export class MemoryJobStore implements JobStore {
  /** Told of each waiting job that is cancelled or deleted, by whatever call. */
  onCancel?: (job: { queue: string; id: string; name: string }) => void;
  private readonly opened = new Map<string, { queue: MemoryQueue; store: QueueStore }>();
  private readonly ids = new JobIdMaker();
  private isClosed = false;

  constructor(private readonly options: MemoryJobStoreOptions) {}

  connect(): void {}

  queue(name: string): QueueStore {
    const opened = this.opened.get(name) ?? this.open(name);
    this.opened.set(name, opened);
    return opened.store;
  }

  async queues(): Promise<SeenQueue[]> {
    if (this.isClosed) throw new QueueClosedError('The connection is closed.');
    return [...this.opened.values()]
      .flatMap(({ queue: { name, usedAtMs } }) => (usedAtMs === undefined ? [] : [{ name, lastSeenAtMs: usedAtMs }]))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The queues that have been opened, for whoever looks into the memory itself. */
  openedQueues(): MemoryQueue[] {
    return [...this.opened.values()].map(({ queue }) => queue);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const { queue } of this.opened.values()) queue.close();
  }

  private open(name: string): { queue: MemoryQueue; store: QueueStore } {
    const queue = new MemoryQueue(name, this.options.settingsOf(name), this.options.clock);
    queue.ledger.onCancel = ({ id, envelope }) => this.onCancel?.({ queue: name, id, name: envelope.name });
    if (this.isClosed) queue.close();
    const jobs = new MemoryJobs(queue, this.ids);
    const store = {
      jobs,
      management: new MemoryManagement(queue, jobs),
      view: new MemoryView(queue, { host: hostname(), pid: process.pid }),
      sessions: new MemorySessions(queue),
      recurrences: new MemoryRecurrences(queue),
      declarations: new MemoryDeclarations(queue),
      events: new MemoryEvents(queue),
    };
    return { queue, store };
  }
}
