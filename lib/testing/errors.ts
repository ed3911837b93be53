import { ScheduledQueueError } from '../core/errors.js';

/** An expectation of the test kit is not met, or a test or a handler does what the test kit cannot go on with. */
export class ScheduledQueueTestError extends ScheduledQueueError {
  readonly code = 'TEST_FAILED';
}
