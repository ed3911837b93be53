import type { Rule } from '../core/calendar/rule.js';
import type { NewJob } from '../core/job/new-job.js';
import type { Envelope, Unreadable } from './envelope.js';

/** What each occurrence of a recurrence becomes: a job without an id and a due time of its own. */
export type OccurrenceTemplate = Omit<NewJob, 'id' | 'due'>;

/** Which build of which application declares a recurrence. */
export interface Declarer {
  /** The module option `app`. */
  readonly app: string;
  /** The module option `revision`; none counts below any. */
  readonly revision?: number;
  /** When the process first declared something in this queue, by the store's clock; `undefined` until the store has told. */
  readonly startedAtMs?: number;
}

/** A recurrence on its way into a queue. */
export interface NewRecurrence {
  readonly id: string;
  readonly rule: Rule;
  readonly job: OccurrenceTemplate;
}

/** What became of an upsert: `refused` where the recurrence is declared, and nothing has changed. */
export interface UpsertAnswer {
  readonly status: 'created' | 'changed' | 'unchanged' | 'declared';
  /** The nominal instant of the next occurrence; `null` where none is to come. */
  readonly nextAtMs: number | null;
}

/**
 * - `active`: occurrences come;
 * - `paused`: none is armed until it is resumed;
 * - `ended`: none is to come any more. Listed for a day.
 */
export type RecurrenceState = 'active' | 'paused' | 'ended';

/** All that is known of a recurrence. */
export interface StoredRecurrence {
  readonly id: string;
  readonly rule: Rule;
  readonly template: Envelope | Unreadable;
  readonly state: RecurrenceState;
  /** Why it is paused. */
  readonly reason?: string;
  /** The nominal instant of the next occurrence. */
  readonly nextAtMs: number | null;
  /** The nominal instant of the latest occurrence of the rule that has begun. */
  readonly lastAtMs: number | null;
  /** How many occurrences have begun by the rule, across changes of it. */
  readonly count: number;
  /** Who declared it; `undefined` where it was upserted. */
  readonly declaredBy?: Declarer;
}

/** The recurrences of a queue. Each method is one atomic transition for each recurrence, or reads. */
export interface QueueRecurrences {
  /**
   * Creates a recurrence and arms its first occurrence, or changes it. A change of the timing makes up for nothing before the change;
   * without one the armed occurrence stays, with the new job. An equal one writes nothing. Refuses to change a declared one.
   */
  upsert(recurrence: NewRecurrence): Promise<UpsertAnswer>;
  /** Deletes a recurrence and its armed occurrence; what runs goes on. Refuses to delete a declared one. */
  remove(id: string): Promise<'removed' | 'unknown' | 'declared'>;
  /** Takes the armed occurrence away and arms none until it is resumed; false where there is none, or it is paused or has ended. */
  pause(id: string, reason?: string): Promise<boolean>;
  /** Arms the first occurrence after now; false where it is not paused. */
  resume(id: string): Promise<boolean>;
  /** Adds an occurrence beside the rule, due now, though it is paused; `undefined` where there is no such recurrence. */
  runNow(id: string): Promise<{ id: string; name: string; dueAtMs: number } | undefined>;
  /**
   * Adds occurrences at these nominal instants beside the rule, due now and in their order, but for those whose ids are known. Answers
   * how many were added; `undefined` where there is no such recurrence.
   */
  backfill(id: string, instants: readonly number[]): Promise<number | undefined>;
  /** Reads one; `undefined` where there is none. */
  get(id: string): Promise<StoredRecurrence | undefined>;
  /** Reads them by id. */
  list(offset: number, limit: number): Promise<StoredRecurrence[]>;
  /**
   * Looks after the recurrences of the queue: arms what is not armed though it should be, gives those that run short of instants known
   * ahead new ones, recomputes them with newer time-zone data, and forgets the ones that ended a day ago. `named`: ids that a turn named;
   * these at once, the others only where it is time for that and no other process does it. `tellDamaged` is called, once at most, with
   * ids of those that cannot go on because nobody can read their records; each is told once. Answers in how many ms it is to be called
   * again; `undefined` where the queue has nothing to look after.
   */
  tend(named?: readonly string[], tellDamaged?: (ids: readonly string[]) => void): Promise<number | undefined>;
}
