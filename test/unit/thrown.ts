import type { ScheduledQueueError } from '../../lib/core/errors.js';

/** What a call throws; a call that throws nothing fails the test. */
export function thrown<E extends Error = ScheduledQueueError>(act: () => unknown): E {
  try {
    act();
  } catch (error) {
    return error as E;
  }
  throw new Error('Nothing was thrown.');
}

/** What a promise rejects with; one that resolves fails the test. */
export async function rejected<E extends Error = ScheduledQueueError>(promise: Promise<unknown>): Promise<E> {
  const outcome = await promise.then(
    () => undefined,
    (error: E) => ({ error }),
  );
  if (!outcome) throw new Error('Nothing was rejected.');
  return outcome.error;
}
