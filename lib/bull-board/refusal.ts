import { type InvalidScheduleError, invalidSchedule, ScheduledQueueError } from '../core/errors.js';

/** An error that bull-board answers with this status, and with the message, which its page shows. */
export type BoardError = ScheduledQueueError & { statusCode: 400 | 405 | 409 };

/** What this library cannot do from the board. */
export const refused = (message: string) => withStatus(invalidSchedule(message), 405);

/** What came too late: the job is not any more as the board showed it. */
export const outdated = (message: string) => withStatus(invalidSchedule(message), 409);

/** What the board asked wrongly. */
export const mistaken = (message: string) => withStatus(invalidSchedule(message), 400);

const MISTAKES = new Set(['INVALID_SCHEDULE', 'INVALID_PAYLOAD', 'PAYLOAD_TOO_LARGE']);

/** Waits for a call whose arguments somebody has typed: a mistake in them is theirs, and no fault of the server. */
export async function asked<T>(call: Promise<T>, statusCode: BoardError['statusCode'] = 400): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw MISTAKES.has((error as InvalidScheduleError).code)
      ? withStatus(error as InvalidScheduleError, statusCode)
      : error;
  }
}

function withStatus(error: ScheduledQueueError, statusCode: BoardError['statusCode']): BoardError {
  return Object.assign(error, { statusCode });
}
