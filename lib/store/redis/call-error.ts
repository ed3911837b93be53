import { QueueUnavailableError, type ScheduledQueueErrorFields } from '../../core/errors.js';

/** The error of a call, said of the job that it was about: under that id it may be called again. */
export function aboutJob(error: unknown, fields: ScheduledQueueErrorFields): unknown {
  if (!(error instanceof QueueUnavailableError)) return error;
  return new QueueUnavailableError(error.message, error.outcome, { ...fields, redisCode: error.redisCode });
}
