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
