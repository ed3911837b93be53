import type { CallOff, Clock } from '../../core/clock.js';
import { describeError } from '../../core/error-description.js';
import { QueueUnavailableError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { firstFew } from '../../core/read/describe.js';
import type { JobStore, QueueRecurrences, TurnAnswer } from '../../store/job-store.js';

/**
 * Who looks after recurrences in this module instance: one for each queue that has any and is talked with here, be it by a worker,
 * pulls or relays. A queue without recurrences costs nothing.
 */
export class Caretakers {
  private readonly byQueue = new Map<string, Caretaker>();

  constructor(
    private readonly store: Pick<JobStore, 'queue'>,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** A turn of `listener`, a session of the queue, was answered. Without a word about recurrences nothing follows. */
  hear(queue: string, listener: object, { tendInMs, toTend }: Pick<TurnAnswer, 'tendInMs' | 'toTend'>): void {
    if (tendInMs === undefined && toTend.length === 0) return;
    let caretaker = this.byQueue.get(queue);
    if (!caretaker) {
      const { recurrences } = this.store.queue(queue);
      caretaker = new Caretaker(queue, recurrences, this.clock, this.log, () => this.dismiss(queue));
      this.byQueue.set(queue, caretaker);
    }
    caretaker.hear(listener, tendInMs, toTend);
  }

  /** The session of `listener` has ended. After that of the last one nobody here looks after its queue. */
  leave(queue: string, listener: object): void {
    if (this.byQueue.get(queue)?.leave(listener)) this.dismiss(queue);
  }

  private dismiss(queue: string): void {
    this.byQueue.get(queue)!.stop();
    this.byQueue.delete(queue);
  }
}

const NEVER = Number.POSITIVE_INFINITY;
/** How long a refused call waits before it is made again. */
const PAUSE_MS = 1_000;

/** Of damaged recurrences in one log line. */
const NAMES_TOLD = 50;

/**
 * Looks after the recurrences of one queue, for as long as some session of this process talks with the queue: calls `tend` when the
 * store has said, and at once for recurrences that a turn named. One call at a time. It never keeps a process alive.
 */
export class Caretaker {
  private readonly listeners = new Set<object>();
  /** Ids that turns named since the last call. */
  private readonly toTend = new Set<string>();
  /** When to call, a time of `clock.now()`: the latest word of the store counts. */
  private dueAt = NEVER;
  /** After a refusal: no call before this. */
  private pausedUntil = Number.NEGATIVE_INFINITY;
  private ringsAt = NEVER;
  private callOff?: CallOff;
  private isTending = false;
  private isStopped = false;
  private refusal?: string;

  constructor(
    private readonly queue: string,
    private readonly recurrences: Pick<QueueRecurrences, 'tend'>,
    private readonly clock: Clock,
    private readonly log: Log,
    /** The queue has nothing to look after any more. */
    private readonly done: () => void,
  ) {}

  /** A turn of `listener`, a session of the queue, was answered. */
  hear(listener: object, tendInMs: number | undefined, toTend: readonly string[]): void {
    this.listeners.add(listener);
    if (tendInMs !== undefined) this.dueAt = this.clock.now() + tendInMs;
    for (const id of toTend) this.toTend.add(id);
    this.plan();
  }

  /** Answers whether nobody of the queue is left in this process. */
  leave(listener: object): boolean {
    this.listeners.delete(listener);
    return this.listeners.size === 0;
  }

  stop(): void {
    this.isStopped = true;
    this.callOff?.();
  }

  private plan(): void {
    if (this.isTending || this.isStopped) return;
    const now = this.clock.now();
    const at = Math.max(this.toTend.size > 0 ? now : this.dueAt, this.pausedUntil);
    if (at <= now) void this.tend();
    else this.ringAt(at, now);
  }

  /** A timer that rings early is left alone: setting it anew with every turn costs more than a ring that finds nothing. */
  private ringAt(at: number, now: number): void {
    if (at >= this.ringsAt) return;
    this.callOff?.();
    this.ringsAt = at;
    this.callOff = this.clock.after(Math.ceil(at - now), () => this.ring(), { keepsAlive: false });
  }

  private ring(): void {
    this.ringsAt = NEVER;
    this.plan();
  }

  private async tend(): Promise<void> {
    const toTend = [...this.toTend];
    this.toTend.clear();
    this.isTending = true;
    try {
      const againInMs = await this.recurrences.tend(toTend, (damaged) => this.warnOf(damaged));
      this.dueAt = againInMs === undefined ? NEVER : this.clock.now() + againInMs;
      this.goesOn();
    } catch (error) {
      for (const id of toTend) this.toTend.add(id);
      this.pausedUntil = this.clock.now() + PAUSE_MS;
      this.dueAt = Math.min(this.dueAt, this.pausedUntil);
      this.refused(error);
    }
    this.isTending = false;
    if (this.isStopped) return;
    if (this.dueAt === NEVER && this.toTend.size === 0) this.done();
    else this.plan();
  }

  private warnOf(damaged: readonly string[]): void {
    const { length } = damaged;
    const names = firstFew(
      damaged.map((id) => `'${id}'`),
      NAMES_TOLD,
    );
    this.log.warn(
      `Nobody can read the rule of ${length} ${length === 1 ? 'recurrence' : 'recurrences'} of queue '${this.queue}', which somebody has damaged: ${names}. Unless a handler declares them, call upsertRecurrence to have them go on.`,
    );
  }

  /** Once, until a call goes through again. That Redis is away is told by a line of its own. */
  private refused(error: unknown): void {
    const isAway = error instanceof QueueUnavailableError && error.redisCode === undefined;
    const { message } = describeError(error);
    if (this.isStopped || isAway || this.refusal === message) return;
    this.refusal = message;
    this.log.error(
      `The recurrences of queue '${this.queue}' cannot be looked after, which is tried again every second: ${message}`,
    );
  }

  private goesOn(): void {
    if (this.refusal === undefined) return;
    this.refusal = undefined;
    this.log.log(`The recurrences of queue '${this.queue}' are looked after again.`);
  }
}
