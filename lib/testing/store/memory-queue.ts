import { QueueClosedError, QueueUnavailableError, type ScheduledQueueErrorFields } from '../../core/errors.js';
import type { QueueSettings } from '../../core/options/queue-options.js';
import type { Due } from '../../core/read/due.js';
import { Gates } from './gates.js';
import { Groups } from './groups.js';
import { type Job, preferredBy } from './job.js';
import { Ledger } from './ledger.js';
import { Presence } from './presence.js';
import { Timetable } from './recur/timetable.js';
import { type Listener, Sleepers, type StoreClock } from './sleepers.js';
import { TurnsOfQueue } from './turns.js';

const AWAY = 'the test has called tester.redisAway()';

/** Whether the store cannot be reached, as a test wants it. All queues share it. */
export class Outage {
  isOn = false;
  private waiting: (() => void)[] = [];

  switch(on: boolean): void {
    this.isOn = on;
    if (!on) for (const resolve of this.waiting.splice(0)) resolve();
  }

  get trouble(): Error | undefined {
    return this.isOn ? new Error(AWAY) : undefined;
  }

  /** Resolves when it is switched off next, or when `signal` aborts. */
  end(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  /** Throws as where Redis has no connection: nothing has been sent. `about`: what the call was for. */
  requireThere(about: ScheduledQueueErrorFields = {}): void {
    if (!this.isOn) return;
    const message = `Redis is unavailable (${AWAY}); the call has not happened.`;
    throw new QueueUnavailableError(message, 'refused', about);
  }
}

/** What all parts of one queue share: its jobs, its recurrences, its gates, who is there, who sleeps, and the time. */
export class MemoryQueue {
  readonly ledger: Ledger;
  readonly gates: Gates;
  readonly groups: Groups;
  readonly turns: TurnsOfQueue;
  readonly presence: Presence;
  readonly sleepers: Sleepers;
  readonly timetable: Timetable;
  /** The processes that are kept for a suspect, and until when. */
  readonly reservations = new Map<string, number>();
  /** When the last turn was, before which time no lease is recovered, and when that was put off last. */
  served?: { atMs: number; recoverFromMs: number; postponedAtMs: number };
  /** The session that was the last to fill sixteen places or more. */
  lastToFill?: string;
  /** Each later one is higher. */
  lastFence = 0;
  /** When somebody last scheduled or worked here. */
  usedAtMs?: number;
  private isClosed = false;

  constructor(
    readonly name: string,
    readonly settings: QueueSettings,
    readonly clock: StoreClock,
    /** The id of the codec that payloads are written with. */
    readonly codec: string,
    readonly outage = new Outage(),
    readonly trustsHints = false,
  ) {
    this.ledger = new Ledger(settings);
    this.gates = new Gates(settings);
    this.groups = new Groups(settings.groups, this.ledger);
    this.turns = new TurnsOfQueue(this.ledger, this.groups, settings.maxCrashes);
    this.ledger.onFreed = (group) => {
      if (this.groups.isFreedByEnds(group)) this.tellOfGroup(group, this.nowMs());
    };
    this.presence = new Presence(settings.leaseMs);
    this.sleepers = new Sleepers(clock, settings.stealAfterMs, () => this.nowMs());
    this.timetable = new Timetable(
      this.ledger,
      () => this.nowMs(),
      (job) => this.tellOf(job),
    );
  }

  /** In whole milliseconds. */
  nowMs(): number {
    return Math.floor(this.clock.wallNow());
  }

  /** Never before the whole millisecond in which its time is over. */
  dueAt(due: Due): number {
    return Math.ceil('at' in due ? due.at : this.nowMs() + due.delayMs);
  }

  /** Tells whoever may run a job that it waits. `except`: that session knows already. */
  tellOf(job: Job, except?: Listener): void {
    this.sleepers.tellOf(job, preferredBy(job, this.settings.maxCrashes), except);
  }

  /** Tells whoever sleeps that due jobs of a group may start now, or from this time on. */
  tellOfGroup(group: string, atMs: number): void {
    if (this.groups.countDue(group, this.nowMs()) > 0) this.sleepers.tellAll(atMs);
  }

  /** A number that grows with each claim, also where the clock has gone back. */
  nextFence(): string {
    this.lastFence = Math.max(this.lastFence, this.nowMs() * 1_000) + 1;
    return String(this.lastFence);
  }

  noteUse(): void {
    this.usedAtMs = this.nowMs();
  }

  /**
   * Hands a running job out once more, as a queue does that has taken its holder for dead: the new fence is answered, and the old one is
   * nobody's any more. The attempt and the lease stay. `undefined` where the job does not run under this fence.
   */
  handOutAgain({ id, fence }: { id: string; fence: string }): string | undefined {
    const job = this.ledger.jobs.get(id);
    if (job?.held?.fence !== fence) return undefined;
    job.held = { ...job.held, fence: this.nextFence() };
    job.progress = undefined;
    return job.held.fence;
  }

  close(): void {
    this.isClosed = true;
  }

  /**
   * Answers as a store does that is somewhere else: later, or with an error once it is closed or cannot be reached. `about`: which job the
   * call is for.
   */
  async answer<T>(step: () => T, about: Pick<ScheduledQueueErrorFields, 'jobName' | 'jobId'> = {}): Promise<T> {
    if (this.isClosed) throw new QueueClosedError('The connection is closed.', { queue: this.name });
    this.outage.requireThere({ queue: this.name, ...about });
    const answered = step();
    this.turns.leave(this.nowMs());
    return answered;
  }
}
