import type { LatenessRule } from '../core/job/definition.js';
import type { DeadReason } from '../core/job/events.js';
import type { NewJob } from '../core/job/new-job.js';

/** All that is stored of a job from its schedule to its end. */
export interface Envelope {
  readonly name: string;
  /** The version of the payload; missing for 1. */
  readonly version?: number;
  readonly priority: number;
  /** The worker that it prefers. */
  readonly worker?: string;
  /** Whose job it is. */
  readonly group?: string;
  /** By the store's clock. */
  readonly createdAtMs: number;
  readonly idWasChosen: boolean;
  readonly tags: readonly string[];
  /** Of an occurrence of a recurrence, whose id is "<recurrence id>@<nominal instant, epoch ms>". */
  readonly occurrence?: { readonly isMissed: boolean };
  readonly settings: EnvelopeSettings;
  readonly lateness?: LatenessRule;
  /** The id of the codec that made the payload what it is; `undefined` for JSON. */
  readonly codec?: string;
  /**
   * As it was scheduled. A codec's bytes are those bytes only where the process reads any codec (see `Codecs.decodes`); in other
   * processes nobody can decode them, and something else may stand here.
   */
  readonly payload: string | Uint8Array;
}

/** What the call to `schedule` itself said; the definition's part is decided where the handler runs. */
export type EnvelopeSettings = NewJob['settings'];

/** In the place of an envelope that is missing, or that somebody has damaged. */
export interface Unreadable {
  /** What is wrong with it, without anything that it holds. */
  readonly unreadable: string;
}

/** True for an envelope, false for what stands in the place of one. */
export function isReadable(envelope: Envelope | Unreadable): envelope is Envelope {
  return !('unreadable' in envelope);
}

/** A failed attempt, or why a job is dead, as it is kept with the job. */
export interface Failure {
  name: string;
  message: string;
  code?: string;
  cause?: string;
  /** Its first line, escaped, and then the first lines that name a place. */
  stack?: string;
  /** Why the job died with this attempt, if it did. */
  reason?: DeadReason;
}

/** A failure that is stored; of one that somebody has damaged only the numbers are known. */
export interface StoredFailure extends Partial<Failure> {
  atMs: number;
  attempt: number;
}
