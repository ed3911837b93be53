import {
  QueueClosedError,
  QueueUnavailableError,
  restated,
  type ScheduledQueueErrorFields,
} from '../../../core/errors.js';
import { oneLine } from '../../../core/read/one-line.js';

/** Answers that mean "not now": the script did not run, and may when sent again. */
export const NOT_NOW =
  /^(LOADING|BUSY|READONLY|CLUSTERDOWN|TRYAGAIN|MASTERDOWN|MOVED|ASK|UNBLOCKED)\b|^Stream isn't writeable|non local key in a cluster|Cluster isn't ready|None of startup nodes|Failed to refresh slots cache|Too many Cluster redirections/;
/** Answers that mean "no": the script did not run and sending it again would not help. `SCHEMA` and `UNSUPPORTED` are said by the check of a connection. */
export const REFUSED =
  /^(OOM|MISCONF|NOREPLICAS|NOPERM|NOAUTH|WRONGPASS|WRONGTYPE|NOPROTO|ERR|CROSSSLOT|DENIED|SCHEMA|UNSUPPORTED)\b/;

/** The errors that Redis itself answers begin with a code; those of the client do not. */
export const SAID_BY_REDIS = /^[A-Z]+ /;

/** How Redis before 7.0 begins what a command has answered inside of a script. */
const IN_SCRIPT = /^ERR Error running script \(call to f_\w+\): (?:@user_script: ?\d+: )+-?(?=[A-Z]+ )/;

/** What Redis has answered, with its code in front in every version. */
export function answerOf(error: unknown): string {
  return ((error as Error).message ?? '').replace(IN_SCRIPT, '');
}

export const NO_CONNECTION = 'no connection in time';

/** Why a call that waited for others is refused. */
export const NOT_SENT = 'no time was left to send it';

/** A copy of a call's error, said of the job that it was about: under that id it may be called again. The queue that it tells stays. */
export function aboutJob(error: unknown, about: ScheduledQueueErrorFields): unknown {
  if (!(error instanceof QueueClosedError || error instanceof QueueUnavailableError)) return error;
  const fields = { queue: error.queue, ...about };
  return error instanceof QueueClosedError ? new QueueClosedError(error.message, fields) : restated(error, fields);
}

/** Adds queue and job to a failed call's error. */
export async function annotated<T>(call: Promise<T>, fields: ScheduledQueueErrorFields): Promise<T> {
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

/** Why a connection was lost or could not be made, in one line that holds no password. */
export interface Reason {
  message: string;
  /** Such as `ECONNREFUSED`. */
  code?: string;
}

/** No answer came, or none that would do. `reason`: why Redis cannot be reached at present, if it is known. */
export function unavailable(message: string, mayHaveRun: boolean, reason?: Reason): QueueUnavailableError {
  const outcome = mayHaveRun ? 'unknown' : 'refused';
  const consequence = mayHaveRun ? 'the call may have happened all the same' : 'the call has not happened';
  const said = firstLine(message);
  const why = reason && !said.includes(reason.message) ? `${said.replace(/\.$/, '')}: ${reason.message}` : said;
  const text = `Redis is unavailable (${why}); ${consequence}.`;
  return new QueueUnavailableError(text, outcome, reason && { cause: causeOf(reason) });
}

/** Made anew: the client's own error may carry the arguments of AUTH. It has no stack, which would be this library's. */
export function causeOf({ message, code }: Reason): Error {
  const cause = Object.assign(new Error(message), code === undefined ? {} : { code });
  cause.stack = `Error: ${message}`;
  return cause;
}

/** An error as ioredis emits it: where it tries several addresses or nodes, the message is in the errors of those. */
export type ClientError = Error & {
  code?: string;
  command?: { name: string; args: unknown[] };
  errors?: readonly Error[];
  lastNodeError?: ClientError | null;
};

/** Why a connection was refused or lost. ioredis does not name the database that cannot be used, so its number is added here. */
export function reasonOf({ message, code, command, errors = [], lastNodeError }: ClientError): Reason | undefined {
  const ofNode = lastNodeError ? reasonOf(lastNodeError) : undefined;
  if (ofNode) return { ...ofNode, message: `${message.replace(/\.$/, '')}: ${ofNode.message}` };
  const text = message || errors.map((each) => each.message).join('; ') || code;
  if (!text) return undefined;
  const line = inOwnWords(firstLine(text));
  return {
    message: command?.name === 'select' ? `database ${command.args[0]}: ${line}` : line,
    ...(code !== undefined && { code }),
  };
}

/** What the parsers of both ioredis 5 and 6 say of another protocol is about themselves. 72 is the H of HTTP. */
function inOwnWords(line: string): string {
  const parsed = /^(?:Protocol error, got "(.)"|Unknown RESP type (\d+))/.exec(line);
  if (!parsed) return line;
  const isHttp = parsed[1] === 'H' || parsed[2] === '72';
  return `the server there does not speak the Redis protocol${isHttp ? ' but HTTP' : ''}; check the port`;
}

const SHORTEST_SECRET = 4;

/** Takes passwords out of what a server or a proxy has answered. A shorter one would take words apart, and tell what it is by that. */
export function withoutSecretsOf(text: string, secrets: readonly string[]): string {
  return secrets
    .filter(({ length }) => length >= SHORTEST_SECRET)
    .reduce((rest, secret) => rest.replaceAll(secret, '***'), withoutCredentials(text));
}

/** Takes user and password out of each URL in a text, also where the URL stands in the place of a host and has no scheme. */
export function withoutCredentials(text: string): string {
  return text.replace(/((?:[a-z]+:)?\/\/)?\S+@/gi, (_, scheme = '') => `${scheme}***@`);
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
