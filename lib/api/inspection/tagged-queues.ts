import { invalidSchedule, QueueUnavailableError, restated } from '../../core/errors.js';
import { DEFAULT_QUEUE } from '../../core/options/queue-options.js';
import { describe } from '../../core/read/describe.js';
import { keyPart } from '../../core/read/names.js';
import { type Check, readOptions } from '../../core/read/shape.js';
import type { JobStore } from '../../store/job-store.js';

/** Which queues are meant. */
export interface TaggedOptions {
  /** One queue, a list of queues, or `'*'` for all that `queues()` tells. Default `'default'`. */
  queue?: string | readonly string[];
}

const EVERY_QUEUE = '*';

const queues: Check<readonly string[] | typeof EVERY_QUEUE> = (value) => {
  if (value === EVERY_QUEUE) return { value };
  if (!Array.isArray(value)) {
    const read = keyPart(value);
    return 'problem' in read
      ? { problem: `${read.problem}; or a list of such, or '*' for all queues` }
      : { value: [read.value] };
  }
  if (value.length === 0) return { problem: "got none, expected a queue, a list of queues, or '*' for all queues" };
  for (const [i, each] of value.entries()) {
    const read = keyPart(each);
    if ('problem' in read)
      return { problem: `queue ${i}: got ${describe(each)}, ${read.problem.split(', ').slice(1).join(', ')}` };
  }
  return { value: [...new Set<string>(value)] };
};

/**
 * Does something to one queue after another, and answers the sum. Where one cannot be reached, the error says how many jobs of the queues
 * before it have been done. Throws `InvalidScheduleError` before anything is done.
 */
export async function inQueues(
  store: JobStore,
  options: TaggedOptions | undefined,
  where: string,
  act: (queue: string) => Promise<number>,
): Promise<number> {
  const { queue = [DEFAULT_QUEUE] } = readOptions(options, { queue: queues }, where, invalidSchedule);
  const names = queue === EVERY_QUEUE ? (await store.queues()).map(({ name }) => name) : queue;
  let sum = 0;
  for (const name of names) {
    try {
      sum += await act(name);
    } catch (error) {
      throw sum > 0 ? partlyDone(error, sum) : error;
    }
  }
  return sum;
}

function partlyDone(error: unknown, count: number): unknown {
  if (!(error instanceof QueueUnavailableError)) return error;
  const message = `${error.message} In the queues before it, ${count} jobs had been done.`;
  return restated(error, {}, { message, outcome: 'unknown' });
}
