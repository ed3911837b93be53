import { QueueUnavailableError, type ScheduledQueueErrorFields } from '../../core/errors.js';
import { oneLine } from '../../core/one-line.js';

/** Answers that mean "not now": the script did not run, and may when sent again. */
export const NOT_NOW =
  /^(LOADING|BUSY|READONLY|CLUSTERDOWN|TRYAGAIN|MASTERDOWN|MOVED|ASK|UNBLOCKED)\b|^Stream isn't writeable|non local key in a cluster|Cluster isn't ready|None of startup nodes|Failed to refresh slots cache|Too many Cluster redirections/;
/** Answers that mean "no": the script did not run and sending it again would not help. */
export const REFUSED = /^(OOM|MISCONF|NOREPLICAS|NOPERM|NOAUTH|WRONGPASS|WRONGTYPE|NOPROTO|ERR|CROSSSLOT|DENIED)\b/;

export const NO_CONNECTION = 'no connection in time';

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

/** Why a connection was refused or lost. ioredis does not name the database that cannot be used, so its number is added here. */
export function reasonOf(error: Error & { code?: string; command?: { name: string; args: unknown[] } }): string {
  const { message, code, command } = error;
  return command?.name === 'select' ? `database ${command.args[0]}: ${message}` : message || code || '';
}

/** Redis refused a command or a key to this user, outside of scripts or in one. */
export function isPermission(message: string): boolean {
  return /^NOPERM\b|^ERR ACL failure|^ERR The user executing the script can't|^ERR Error running script.*The user executing/.test(
    message,
  );
}

export function firstLine(text: string): string {
  return oneLine(text.trim().split('\n', 1)[0]!.trimEnd().slice(0, 300));
}
