import type { ScheduledQueueErrorFields } from '../../core/errors.js';
import type { MemoryQueue } from './memory-queue.js';

/** The methods of a part of a queue as steps in memory, each of which answers at once. */
export type Steps<T> = {
  [Name in keyof T]: T[Name] extends (...given: infer Given) => Promise<infer Answer>
    ? (...given: Given) => Answer
    : never;
};

/** The calls of a part of a queue: each takes one step. `about`: which job a call is for, by its first argument. */
export function callsOf<T>(
  queue: MemoryQueue,
  steps: Steps<T>,
  about: (first: never) => ScheduledQueueErrorFields = () => ({}),
): T {
  const methods = steps as Record<string, (...given: never[]) => unknown>;
  const call =
    (name: string) =>
    (...given: never[]) =>
      queue.answer(() => methods[name]!(...given), about(given[0]!));
  return Object.fromEntries(
    Object.getOwnPropertyNames(Object.getPrototypeOf(steps)).map((name) => [name, call(name)]),
  ) as T;
}
