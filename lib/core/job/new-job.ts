import type { Due } from '../read/due.js';
import type { JobSettings, LatenessRule } from './definition.js';

/** A job on its way into a queue. */
export interface NewJob {
  name: string;
  /** The version of its payload; missing for 1. */
  version?: number;
  priority: number;
  due: Due;
  /** The id that the caller chose; one is made otherwise. */
  id?: string;
  /** The worker that is to run it, if it is there. */
  worker?: string;
  /** Whose job it is. Not together with `worker`. */
  group?: string;
  tags?: readonly string[];
  /** The set of which it is a member. */
  set?: string;
  /** What follows when it completes, and where it stands in that. */
  chain?: NewChain;
  /** What the call itself says; the definition's part is decided where the handler runs. */
  settings: Pick<JobSettings, 'maxAttempts' | 'backoff' | 'timeoutMs' | 'headers'>;
  /** How late it may begin, and what becomes of it otherwise. */
  lateness?: LatenessRule;
  /** The id of the codec that made the payload what it is; `undefined` for JSON. */
  codec?: string;
  /** As it is stored: JSON, or what the codec answered. `''` where a job has none. */
  payload: string | Uint8Array;
  /** Where it may replace another job: how long after the first of its row it is due at the latest, in ms. Not together with `throttleMs`. */
  maxWaitMs?: number;
  /** Where it may replace another job: how far apart the due times of new jobs of its id are at least, in ms. */
  throttleMs?: number;
}

/** A chain as it is stored with its present job. */
export interface StoredChain {
  /** Missing in the first step: that one's own. */
  readonly id?: string;
  readonly step: number;
  readonly of: number;
  readonly result?: unknown;
  /** The next job; missing where the chain ends. */
  readonly next?: StoredStep;
  /** What follows that, JSON of a step each: a step is read once the job before it is claimed. */
  readonly later: readonly string[];
}

/** A step that waits for the one before it: plain JSON. It has neither an id nor an instant. */
export interface StoredStep
  extends Omit<NewJob, 'id' | 'due' | 'set' | 'chain' | 'payload' | 'maxWaitMs' | 'throttleMs'> {
  readonly delayMs: number;
  readonly payload: string;
  /** Where a codec has written bytes: `payload` holds these as base64. */
  readonly encoding?: 'base64';
}

/** The chain of a job that is new. `result`: JSON of what the job before has returned. `steps`: JSON of each one that follows. */
export interface NewChain extends Pick<StoredChain, 'id' | 'step' | 'of'> {
  readonly result?: string;
  readonly steps: readonly string[];
}
