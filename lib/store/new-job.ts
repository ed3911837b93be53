// A job on its way into a queue, and the answer to that.

import type { LatenessRule } from '../core/job/lateness.js';
import type { ScheduleStatus } from '../core/job/scheduled-job.js';
import type { Due } from '../core/read/due.js';
import type { EnvelopeSettings } from './envelope.js';

/** A job on its way into a queue. */
export interface NewJob {
  name: string;
  priority: number;
  due: Due;
  /** The id that the caller chose; one is made otherwise. */
  id?: string;
  /** The worker that is to run it, if it is there. */
  worker?: string;
  /** Whether it takes the place of a job that has its id. */
  replace: boolean;
  settings: EnvelopeSettings;
  /** How late it may begin, and what becomes of it otherwise. */
  lateness?: LatenessRule;
  tags?: readonly string[];
  payload: string;
}

export interface ScheduledAnswer {
  id: string;
  status: ScheduleStatus;
  /** When the job that has the id now is due; `null` where there is none. */
  dueAtMs: number | null;
  /** With `'taken'`: the name of the job that has the id. */
  takenBy?: string;
  /** A dead job of this id was pushed out to make place. */
  pushedOut?: boolean;
}

/** Hears what became of one of many: its place among them, its answer, or why there is none. */
export type Answered = (place: number, answer: ScheduledAnswer | undefined, error?: unknown) => void;
