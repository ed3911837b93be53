import type { CallOff, Clock } from '../../core/clock.js';
import { describeError } from '../../core/error-description.js';
import { QueueClosedError, QueueUnavailableError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { firstFew } from '../../core/read/describe.js';
import type { Declaration, DeclareStatus, JobStore, QueueDeclarations } from '../../store/job-store.js';

/** What this process declares: one declarer for each queue in which it declares anything. May be started and stopped again and again. */
export class Declarers {
  private readonly declarers: Declarer[] = [];

  constructor(
    private readonly store: JobStore,
    private readonly clock: Clock,
    private readonly log: Log,
    private readonly options: DeclarerOptions,
  ) {}

  /** To be called before `start`, once for each queue. */
  add(queue: string, declared: readonly Declared[]): void {
    const { store, clock, log, options } = this;
    this.declarers.push(new Declarer(queue, store.queue(queue).declarations, declared, clock, log, options));
  }

  start(): void {
    for (const declarer of this.declarers) declarer.start();
  }

  stop(): void {
    for (const declarer of this.declarers) declarer.stop();
  }
}

/** A declaration, and the method that makes it. */
export interface Declared {
  readonly declaration: Declaration;
  readonly place: string;
}

export interface DeclarerOptions {
  readonly app: string;
  readonly revision?: number;
  readonly orphanedRecurrences: 'report' | 'remove';
  readonly orphanAfterMs: number;
}

/** How often a process says that it still declares. What Redis has lost is armed again after so long. */
const DECLARE_EVERY_MS = 5_000;
/** At least so often within `orphanAfterMs`: a call or two that fail make no orphan. */
const CALLS_WITHIN = 5;
const TRY_AGAIN_MS = 1_000;
/** Of orphans in one log line. */
const NAMES_TOLD = 50;

/**
 * Declares the recurrences of one queue for as long as this process claims, and tells people what came of it. Calls follow each
 * other; one that fails is tried again.
 */
export class Declarer {
  /** What was told last of each id. Those that always win are told nothing of. */
  private readonly told = new Map<string, DeclareStatus>();
  /** By the store's clock. Kept over a stop: the process is the same. */
  private startedAtMs?: number;
  private trouble?: string;
  /** Calls off what the last `start` began. */
  private end?: CallOff;

  constructor(
    private readonly queue: string,
    private readonly store: QueueDeclarations,
    private readonly declared: readonly Declared[],
    private readonly clock: Clock,
    private readonly log: Log,
    private readonly options: DeclarerOptions,
  ) {}

  /** Declares now, and from now on. */
  start(): void {
    if (this.end) return;
    let isOver = false;
    let callOff: CallOff | undefined;
    this.end = () => {
      isOver = true;
      callOff?.();
    };
    const declare = async () => {
      const nextInMs = await this.declare(() => isOver);
      // Others keep the process alive; and so a `stop` that nobody calls does no harm.
      if (!isOver) callOff = this.clock.after(nextInMs, () => void declare(), { keepsAlive: false });
    };
    void declare();
  }

  /** A call that is under way is not waited for. */
  stop(): void {
    this.end?.();
    this.end = undefined;
  }

  /** Answers in how many ms to declare again. Never rejects. */
  private async declare(isOver: () => boolean): Promise<number> {
    const { orphanAfterMs, orphanedRecurrences } = this.options;
    try {
      const { app, revision } = this.options;
      const { statuses, orphans, startedAtMs } = await this.store.declare(
        this.declared.map(({ declaration }) => declaration),
        { app, revision, startedAtMs: this.startedAtMs },
        orphanAfterMs,
        orphanedRecurrences === 'remove',
      );
      this.startedAtMs = startedAtMs;
      if (isOver()) return 0;
      for (const [i, status] of statuses.entries()) this.tell(this.declared[i]!, status);
      if (orphanedRecurrences === 'remove') await this.remove(orphans);
      else this.report(orphans);
      this.trouble = undefined;
      return Math.min(DECLARE_EVERY_MS, orphanAfterMs / CALLS_WITHIN);
    } catch (error) {
      if (!isOver()) this.failed(error);
      return TRY_AGAIN_MS;
    }
  }

  private tell({ declaration: { id }, place }: Declared, status: DeclareStatus): void {
    const before = this.told.get(id) ?? 'wins';
    this.told.set(id, status);
    if (status === before) return;
    const which = `Recurrence '${id}' of queue '${this.queue}'`;
    if (status === 'upserted') {
      this.log.error(
        `${which} was made by upsertRecurrence, so the declaration by ${place} is not done. Call removeRecurrence, or give the declaration another recurrenceId.`,
      );
    } else if (status === 'loses') {
      this.log.log(
        `${which}: the declaration by ${place} gives way to that of another process, which has a higher revision or started later.`,
      );
    } else this.log.log(`${which}: the declaration by ${place} holds from now on.`);
  }

  private report(orphans: readonly string[]): void {
    if (orphans.length === 0) return;
    this.log.warn(
      `${this.orphans(orphans)}. ${orphans.length === 1 ? 'It goes' : 'They go'} on. Set orphanedRecurrences: 'remove' to delete such recurrences, or declare ${orphans.length === 1 ? 'it' : 'them'} again.`,
    );
  }

  private async remove(orphans: readonly string[]): Promise<void> {
    const removed: string[] = [];
    try {
      for (const id of orphans)
        if (await this.store.removeOrphan(id, this.options.app, this.options.orphanAfterMs)) removed.push(id);
    } finally {
      if (removed.length > 0) this.log.warn(`${this.orphans(removed)}: removed.`);
    }
  }

  private orphans(ids: readonly string[]): string {
    const names = firstFew(
      ids.map((id) => `'${id}'`),
      NAMES_TOLD,
    );
    return `No process of app '${this.options.app}' has declared ${ids.length === 1 ? 'this recurrence' : 'these recurrences'} of queue '${this.queue}' for ${this.options.orphanAfterMs} ms: ${names}`;
  }

  /** That Redis cannot be reached, its connection tells; that the application closes, nobody need be told. */
  private failed(error: unknown): void {
    if (error instanceof QueueClosedError) return;
    if (error instanceof QueueUnavailableError && error.redisCode === undefined) return;
    const { message } = describeError(error);
    if (message === this.trouble) return;
    this.trouble = message;
    this.log.error(`The recurrences of queue '${this.queue}' cannot be declared, which is tried again: ${message}`);
  }
}
