import { QueueUnavailableError } from '../../core/errors.js';

/** By check, in the order of the answer: what is true where it finds no problem. */
const FINE = {
  server: 'Every server is a primary of a supported version.',
  eviction: 'Redis deletes nothing when its memory is full.',
  persistence: 'A restart of Redis keeps jobs, by an AOF or by a replica, and the last write of its files went well.',
  permissions: 'The Redis user may send every command that the library uses.',
  clock: 'The clocks of Redis and of this machine agree.',
  'stray-keys': 'Every key under the prefix belongs to a queue that somebody has used.',
  counters: 'Every job has its content, stands where somebody finds it, and is counted.',
  recurrences: 'Every active recurrence has an occurrence armed.',
  unhandled: 'Every job that has been due for a minute is handled by a live worker, or the queue is shut.',
  options: 'All live workers have the same options.',
  'big-queue': 'Every key can be moved between the nodes of the cluster.',
} as const;

export type CheckName = keyof typeof FINE;

/** What one check has found. A check that finds several problems has a finding for each. */
export interface Finding {
  readonly check: CheckName;
  /** `unknown`: the Redis user may not ask, or Redis does not tell. */
  readonly level: 'ok' | 'problem' | 'unknown';
  /** Missing where it is about all queues. */
  readonly queue?: string;
  /** Of a problem also what to do about it. */
  readonly message: string;
}

/** Thrown where a check cannot know. */
export class NotKnown extends Error {}

/** Runs a check, which answers a sentence for each problem. Rejects where Redis does not answer. */
export async function judge(
  check: CheckName,
  look: () => Promise<readonly string[]>,
  queue?: string,
): Promise<Finding[]> {
  const finding = (level: Finding['level'], message: string): Finding => ({
    check,
    level,
    ...(queue !== undefined && { queue }),
    message,
  });
  try {
    const problems = await look();
    return problems.length > 0 ? problems.map((problem) => finding('problem', problem)) : [finding('ok', FINE[check])];
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof NotKnown || isRefusal(error)) return [finding('unknown', message)];
    throw error;
  }
}

/** Redis has answered, and said no. */
export function isRefusal(error: unknown): boolean {
  return error instanceof QueueUnavailableError && error.redisCode !== undefined;
}
