import type { Duration } from '../read/duration.js';

/** A Date, epoch milliseconds, or ISO 8601 with time and `Z` or offset. Instants before 1e11 ms (March 1973) are refused: they look like seconds. */
export type Instant = Date | number | string;

/** What becomes of missed occurrences: none, the latest, or all of them in order (at most the latest 10 000). */
export type OnMissed = 'skip' | 'once' | 'all';

/** What becomes of an occurrence while the one before it has not ended. */
export type Overlap = 'allow' | 'skip' | 'queue';

/**
 * What a rule leaves out: an instant; a day such as `'2027-12-25'`, in the rule's zone; or a range. A range of instants ends before
 * `to`; a range of days includes the day `to`. Both ends are instants, or both are days.
 */
export type ExcludedTime = Instant | { from: Instant; to: Instant };

/** The fields that both kinds of rule have. */
export interface RecurrencePolicy {
  /** The first instant at which an occurrence may lie, this one included. Default: none. */
  startAt?: Instant;
  /** The last instant at which an occurrence may lie, this one included. Not before `startAt`. Default: none. */
  endAt?: Instant;
  /** How many occurrences become jobs by the rule, across changes of it; at least 1. Default: no limit. */
  limit?: number;
  /**
   * What becomes of occurrences that were missed because nobody was there, the queue was paused or there was no room: `'skip'`,
   * `'once'` (the latest one is made up for), or `'all'` (in order, at most the latest 10 000). Default `'once'`.
   */
  onMissed?: OnMissed;
  /**
   * How old a missed occurrence may be to be made up for; 0 makes up for none. Default: 1 day, or the time to the next occurrence if
   * that is longer.
   */
  missedWithin?: Duration;
  /**
   * What becomes of an occurrence while the one before it has not ended, retries included: `'allow'` runs both, `'skip'` drops the new
   * one, `'queue'` lets the latest one wait. Default `'allow'`.
   */
  overlap?: Overlap;
  /**
   * Each job is due up to so much later, at most 1 ms before the next nominal instant. The delay follows from recurrence and instant, so
   * that every process computes the same. Default 0.
   */
  jitterMs?: Duration;
  /** Occurrences to leave out: instants, days in the rule's zone, and ranges of either, at most 10 000. Default: none. */
  exclude?: readonly ExcludedTime[];
}

/** A rule by the wall clock of a zone. */
export interface CronRule extends RecurrencePolicy {
  /**
   * Five fields (minute, hour, day of month, month, day of week), six (seconds first) or seven (a year last), or a nickname such as
   * `@daily`. Names, `L`, `W`, `#` and `?` are known; see docs/recurrence.md. At most 512 characters.
   */
  cron: string;
  /** The IANA name of the zone whose wall clock counts, such as `'Europe/Paris'`. Default `'UTC'`; the zone of the process never counts. */
  timeZone?: string;
  everyMs?: undefined;
  offsetMs?: undefined;
}

/** A rule by a fixed distance, which follows no wall clock and never drifts. */
export interface IntervalRule extends RecurrencePolicy {
  /** The distance: each multiple of it since the epoch is an occurrence. At least 100 ms. */
  everyMs: Duration;
  /** How long after each multiple the occurrence lies. Default 0. */
  offsetMs?: Duration;
  cron?: undefined;
  timeZone?: undefined;
}

/** When a recurring job runs: by a cron expression, or by a fixed distance. */
export type RecurrenceRule = CronRule | IntervalRule;

/** An excluded instant, day, half-open range of instants, or range of days that includes both. */
export type Exclusion = number | string | { readonly from: number; readonly to: number } | DayRange;

export interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** The nominal instants of a rule, in the form in which it is used: all that decides when, and nothing of what happens then. */
export interface Timing {
  /** Missing where `everyMs` is there. */
  readonly cron?: string;
  readonly timeZone: string;
  readonly everyMs?: number;
  /** Less than `everyMs`. */
  readonly offsetMs: number;
  readonly startAtMs?: number;
  readonly endAtMs?: number;
  /** In a fixed order, each once. */
  readonly exclude: readonly Exclusion[];
}

/** A rule that has been read: normalised and with its defaults. It is JSON as it stands. */
export interface Rule {
  readonly timing: Timing;
  readonly limit?: number;
  readonly onMissed: OnMissed;
  readonly missedWithinMs?: number;
  readonly overlap: Overlap;
  readonly jitterMs: number;
}

/** Why an occurrence is left out, by its reason; said of one or of many. */
export const WHY_SKIPPED = {
  missed: 'too late to begin, and the onMissed of the recurrence makes up for no more',
  overlap: 'the previous occurrence had not ended, and the recurrence allows no overlap',
};

export type SkipReason = keyof typeof WHY_SKIPPED;
