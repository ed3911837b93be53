import { JobIdMaker } from '../../core/job/job-id.js';
import type { Log } from '../../core/log.js';
import type { QueueSettings } from '../../core/options/queue-options.js';
import type { Due } from '../../core/read/due.js';
import type {
  Answered,
  DeadSelection,
  JobCounts,
  JobState,
  JobStore,
  LimitsUse,
  LiveWorker,
  NewJob,
  PriorityCounts,
  ScheduledAnswer,
  SeatNames,
  StoredJob,
  WorkerSeat,
} from '../job-store.js';
import { OutageLog } from './checks/outage-log.js';
import { PermissionLog } from './checks/permission-log.js';
import { Preflight } from './checks/preflight.js';
import { ReadyCheck } from './checks/ready-check.js';
import { annotated } from './link/call-error.js';
import { ClientFactory } from './link/client.js';
import { RedisConnection } from './link/connection.js';
import { WakeListener } from './link/wake-listener.js';
import { openQueueParts, type QueueParts } from './queue-parts.js';
import { RedisSeats } from './session/seats.js';

export interface RedisJobStoreOptions {
  connection: unknown;
  prefix: string;
  commandTimeoutMs: number;
  /** The options of a queue, the defaults where it has none. */
  settingsOf(queue: string): QueueSettings;
  log: Log;
  /** Called with the address, never with a password, whenever a connection for commands can be used again, the first time included. */
  reached?(address: string): void;
}

/** Redis may be busy with somebody's long script for as long as this. */
const LEAST_SILENCE_MS = 1_000;

/** Jobs in Redis. Producers and workers have a connection each, so that neither waits behind the other. */
export class RedisJobStore implements JobStore {
  private readonly clients: ClientFactory;
  private readonly outages: OutageLog;
  private readonly preflight: Preflight;
  private readonly permissions: PermissionLog;
  private readonly silenceMs: number;
  private readonly ids = new JobIdMaker();
  private readonly queues = new Map<string, QueueParts>();
  private closed = false;
  private producing?: RedisConnection;
  private seats?: RedisSeats;

  /** Connects to nothing yet. Throws `InvalidOptionsError`. */
  constructor(private readonly options: RedisJobStoreOptions) {
    // Half of a call's time: one that meets a dead connection can still be sent again on a new one.
    this.silenceMs = Math.max(LEAST_SILENCE_MS, options.commandTimeoutMs / 2);
    this.clients = new ClientFactory(options.connection, this.silenceMs);
    this.outages = new OutageLog(options.log);
    this.preflight = new Preflight(options.log);
    this.permissions = new PermissionLog(options.log);
  }

  connect(): void {
    if (!this.closed) this.forProducers().connect();
  }

  schedule(queue: string, jobs: readonly NewJob[]): Promise<ScheduledAnswer>[] {
    const { outbox, control } = this.queue(queue);
    return jobs.map((job) =>
      job.replace && job.id !== undefined ? control.replace({ ...job, id: job.id }) : outbox.add(job),
    );
  }

  scheduleMany(queue: string, jobs: readonly NewJob[], answered: Answered): Promise<void> {
    return this.queue(queue).outbox.addMany(jobs, answered);
  }

  cancel(queue: string, id: string): Promise<boolean> {
    return this.queue(queue).control.cancel(id);
  }

  cancelRunning(queue: string, id: string): Promise<boolean> {
    return this.queue(queue).control.cancelRunning(id);
  }

  remove(queue: string, id: string): Promise<boolean> {
    return this.queue(queue).control.remove(id);
  }

  clear(queue: string): Promise<number> {
    return annotated(this.queue(queue).clearing.clear(), { queue });
  }

  reschedule(queue: string, id: string, due: Due): Promise<boolean> {
    return this.queue(queue).control.reschedule(id, due);
  }

  seat(queue: string, worker: string, names: SeatNames, settings: QueueSettings): WorkerSeat {
    return this.openSeats().forWorker(queue, worker, names, settings);
  }

  pullSeat(queue: string, worker: string, names: readonly string[] | undefined, settings: QueueSettings): WorkerSeat {
    return this.openSeats().forPuller(queue, worker, names, settings);
  }

  relaySeat(...place: Parameters<JobStore['relaySeat']>): WorkerSeat {
    return this.openSeats().forRelay(...place);
  }

  replayDead(queue: string, which: string | DeadSelection = {}, due: Due, perSecond?: number): Promise<number> {
    const { deadLetters } = this.queue(queue);
    if (typeof which === 'string') return annotated(deadLetters.replayOne(which, due), { queue, jobId: which });
    return annotated(deadLetters.replayMany(which, due, perSecond), { queue });
  }

  purgeDead(queue: string, which: DeadSelection = {}): Promise<number> {
    return annotated(this.queue(queue).deadLetters.purge(which), { queue });
  }

  pause(queue: string, forMs?: number): Promise<void> {
    return annotated(this.queue(queue).gate.pause(forMs), { queue });
  }

  resume(queue: string): Promise<void> {
    return annotated(this.queue(queue).gate.resume(), { queue });
  }

  pausedUntil(queue: string): Promise<number | undefined> {
    return annotated(this.queue(queue).gate.pausedUntil(), { queue });
  }

  limits(queue: string): Promise<LimitsUse> {
    return annotated(this.queue(queue).gate.limits(this.options.settingsOf(queue).rateLimit), { queue });
  }

  cancelTagged(queue: string, tag: string, told: (ids: readonly string[]) => void): Promise<number> {
    return annotated(this.queue(queue).tagged.cancel(tag, told), { queue });
  }

  shiftTagged(queue: string, tag: string, byMs: number): Promise<number> {
    return annotated(this.queue(queue).tagged.shift(tag, byMs), { queue });
  }

  counts(queue: string): Promise<JobCounts> {
    return annotated(this.queue(queue).inspection.counts(), { queue });
  }

  countsByPriority(queue: string): Promise<PriorityCounts[]> {
    return annotated(this.queue(queue).inspection.countsByPriority(), { queue });
  }

  nextDue(queue: string): Promise<{ dueAtMs: number | undefined; nowMs: number }> {
    return annotated(this.queue(queue).inspection.nextDue(), { queue });
  }

  stats(queue: string): Promise<Record<string, number>> {
    return annotated(this.queue(queue).inspection.stats(), { queue });
  }

  job(queue: string, id: string): Promise<StoredJob | undefined> {
    return annotated(this.queue(queue).inspection.job(id), { queue, jobId: id });
  }

  handledBy(queue: string, name: string): Promise<{ count: number; workers: string[] }> {
    return annotated(this.queue(queue).presence.handledBy(name), { queue, jobName: name });
  }

  workers(queue: string): Promise<LiveWorker[]> {
    return annotated(this.queue(queue).presence.workers(), { queue });
  }

  list<T = StoredJob>(
    queue: string,
    state: JobState,
    offset: number,
    limit: number,
    as = (job: StoredJob) => job as T,
  ): Promise<T[]> {
    const { ordering } = this.options.settingsOf(queue);
    return annotated(this.queue(queue).inspection.list(state, offset, limit, ordering, as), { queue });
  }

  peek<T>(queue: string, count: number, as: (job: StoredJob) => T): Promise<T[]> {
    const { ordering } = this.options.settingsOf(queue);
    return annotated(this.queue(queue).inspection.peek(count, ordering, as), { queue });
  }

  async close(): Promise<void> {
    this.closed = true;
    this.producing?.close();
    this.seats?.close();
  }

  private forProducers(): RedisConnection {
    this.producing ??= this.open();
    return this.producing;
  }

  private open(): RedisConnection {
    const client = this.clients.commands();
    this.preflight.watch(client);
    const connection = new RedisConnection(
      client,
      this.outages,
      this.silenceMs,
      new ReadyCheck(client, this.permissions),
      this.options.reached,
    );
    // First used after the application has closed: its calls say so, and no connection is left open.
    if (this.closed) connection.close();
    return connection;
  }

  private openSeats(): RedisSeats {
    this.seats ??= new RedisSeats(
      this.open(),
      new WakeListener(this.clients.subscriber(), this.outages),
      this.options.prefix,
      this.clients.clustered,
    );
    return this.seats;
  }

  private queue(name: string): QueueParts {
    let parts = this.queues.get(name);
    if (!parts) {
      parts = this.openQueue(name);
      this.queues.set(name, parts);
    }
    return parts;
  }

  private openQueue(name: string): QueueParts {
    const { prefix, commandTimeoutMs, settingsOf } = this.options;
    const { clustered } = this.clients;
    const connection = this.forProducers();
    return openQueueParts(name, connection, this.ids, settingsOf(name), { prefix, commandTimeoutMs, clustered });
  }
}
