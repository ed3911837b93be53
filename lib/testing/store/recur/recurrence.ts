import type { Rule } from '../../../core/calendar/rule.js';
import { ENDED_LISTED_MS } from '../../../core/constants.js';
import { readOccurrenceId } from '../../../core/job/occurrence-id.js';
import type { Declarer, Envelope, OccurrenceTemplate, RecurrenceState } from '../../../store/job-store.js';
import { envelopeOf, type Job } from '../job.js';

/** What each occurrence is made of, but for when it is made. */
export type Template = Omit<Envelope, 'createdAtMs'>;

/** A recurrence, and how far it has come. */
export interface Recurrence {
  readonly id: string;
  rule: Rule;
  template: Template;
  /** Equal for equal rules and jobs. */
  fingerprint: string;
  /** When it was made, or changed last. */
  changedAtMs: number;
  /** `off`: switched off by a declaration. It stays, so that an older build cannot switch it on again, and is told to nobody. */
  state: RecurrenceState | 'off';
  /** Why it is paused. */
  reason?: string | undefined;
  /** The nominal instant of the occurrence that is armed: it waits, and begins next. */
  armedAtMs?: number | undefined;
  /**
   * When the armed one was due, while it waits for the end of the previous one: the due time of its job is that of the next look. However
   * long that takes it is not missed, but where all missed ones run.
   */
  blockedDueAtMs?: number | undefined;
  /** The latest nominal instant that is decided: it began, was left out, or was cancelled. Only later ones are armed. */
  reachedAtMs: number;
  /** The latest nominal instant that began by the rule. */
  beganAtMs?: number | undefined;
  /** How many began by the rule, across changes of it. */
  count: number;
  endedAtMs?: number | undefined;
  /** `undefined` where it was upserted. */
  owner?: Declarer | undefined;
  /** It was told that nobody declares this any more. */
  isToldOrphan?: boolean;
}

export const isLongEnded = ({ state, endedAtMs }: Recurrence, nowMs: number) =>
  state === 'ended' && nowMs - endedAtMs! >= ENDED_LISTED_MS;

export const isAtLimit = ({ rule: { limit = Number.POSITIVE_INFINITY }, count }: Recurrence) => count >= limit;

/** Of which recurrence a job is an occurrence, and at which nominal instant; `undefined` where it is none. */
export const readOccurrence = ({ id, envelope }: Job) => (envelope.occurrence ? readOccurrenceId(id) : undefined);

export function templateOf(job: OccurrenceTemplate, nowMs: number): Template {
  const { createdAtMs: _, ...envelope } = envelopeOf(job, nowMs, true);
  return { ...envelope, occurrence: { isMissed: false } };
}

/** The rule and the job of a recurrence that was declared as switched off before it ever was on. */
export const NO_RULE: Rule = {
  timing: { timeZone: 'UTC', offsetMs: 0, exclude: [] },
  onMissed: 'skip',
  overlap: 'allow',
  jitterMs: 0,
};
export const NO_JOB: OccurrenceTemplate = { name: '', priority: 5, settings: {}, payload: '' };
