import type { ScheduleStatus } from '../core/job/scheduled-job.js';

/** What became of a job that was to be scheduled. */
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

/** Hears what became of one of many: its index among them, its answer, or why there is none. */
export type Answered = (index: number, answer: ScheduledAnswer | undefined, error?: unknown) => void;
