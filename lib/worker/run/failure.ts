import { describeError } from '../../core/error-description.js';
import type { DeadReason } from '../../core/job/events.js';
import type { Failure } from '../../store/failure.js';

/** How many places of a stack are kept: up to 20 failures are kept with each job, so they are short. */
const PLACES_KEPT = 5;
const STACK_CHARACTERS = 2_000;

/** Whatever a handler may throw, as something that can be kept: short, and never a throw of its own. */
export function toFailure(thrown: unknown, reason?: DeadReason): Failure {
  const { name, message, code, cause, stack } = describeError(thrown, PLACES_KEPT);
  return { name, message, code, cause, stack: stack?.slice(0, STACK_CHARACTERS), reason };
}
