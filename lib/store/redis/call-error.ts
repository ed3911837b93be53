import { QueueUnavailableError, type ScheduledQueueErrorFields } from '../../core/errors.js';

/** Why a call that waited for others is refused. */
export const NOT_SENT = 'no time was left to send it';

/** The error of a call, said of the job that it was about: under that id it may be called again. */
export function aboutJob(error: unknown, fields: ScheduledQueueErrorFields): unknown {
  if (!(error instanceof QueueUnavailableError)) return error;
  return new QueueUnavailableError(error.message, error.outcome, { ...fields, redisCode: error.redisCode });
}

/** A call whose error says what it was about. */
export async function saying<T>(call: Promise<T>, fields: ScheduledQueueErrorFields): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw aboutJob(error, fields);
  }
}

/** Redis said no. The client's own error is not kept as a cause: it carries the arguments, payloads among them, into logs. */
export function refused(message: string, mayHaveRun: boolean): QueueUnavailableError {
  return new QueueUnavailableError(
    `Redis refused the call: ${firstLine(message)}`,
    mayHaveRun ? 'unknown' : 'refused',
    {
      redisCode: message.split(' ', 1)[0],
    },
  );
}

/** No answer came, or none that would do. */
export function unavailable(message: string, mayHaveRun: boolean): QueueUnavailableError {
  const outcome = mayHaveRun ? 'unknown' : 'refused';
  const consequence = mayHaveRun ? 'the call may have happened all the same' : 'the call has not happened';
  return new QueueUnavailableError(`Redis is unavailable (${firstLine(message)}); ${consequence}.`, outcome);
}

export function firstLine(text: string): string {
  return text.split('\n', 1)[0]!.slice(0, 300);
}
