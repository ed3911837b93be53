import type { DeadReason } from '../../../core/job/events.js';
import type { Failure, StoredFailure } from '../../envelope.js';

// A stored failure is a line: "<epoch ms> <attempt> <JSON>". The scripts write the numbers, and the JSON of jobs that no worker
// settled; they find the dead by the text of their reason, so it is JSON without spaces.

/** The JSON of a failure. It holds no line break. */
export function encodeFailure({ name, message, code, cause, stack, reason }: Failure): string {
  return JSON.stringify({ name, message, code, cause, stack, reason });
}

/** Reads a line. What somebody has damaged of it is missing. Never throws. */
export function decodeFailure(line: string): StoredFailure {
  const [at, attempt, ...json] = line.split(' ');
  return { atMs: Number(at), attempt: Number(attempt), ...decodeText(json.join(' ')) };
}

function decodeText(json: string): Partial<Failure> {
  let read: Partial<Record<keyof Failure, unknown>> | null;
  try {
    read = JSON.parse(json);
  } catch {
    return {};
  }
  const { name, message, code, cause, stack, reason } = read ?? {};
  return {
    ...(typeof name === 'string' && { name }),
    ...(typeof message === 'string' && { message }),
    ...(typeof code === 'string' && { code }),
    ...(typeof cause === 'string' && { cause }),
    ...(typeof stack === 'string' && { stack }),
    ...(typeof reason === 'string' && { reason: reason as DeadReason }),
  };
}
