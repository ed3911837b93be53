import { describeError } from '../../core/error-description.js';
import type { DeadReason } from '../../core/job/events.js';

/** A failed attempt as it is kept with the job. */
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

/** How many places of a stack are kept: up to 20 failures are kept with each job, so they are short. */
const PLACES_KEPT = 5;
const STACK_CHARACTERS = 2_000;

/** Whatever a handler may throw, as something that can be kept: short, and never a throw of its own. */
export function toFailure(thrown: unknown, reason?: DeadReason): Failure {
  const { name, message, code, cause, stack } = describeError(thrown, PLACES_KEPT);
  return { name, message, code, cause, stack: stack?.slice(0, STACK_CHARACTERS), reason };
}
