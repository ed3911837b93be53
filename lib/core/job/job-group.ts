import { describe } from '../read/describe.js';
import { jobGroup } from '../read/names.js';
import type { Check } from '../read/shape.js';

/** Says whose job it is, by its payload as it was given to the call; `undefined` for nobody's. It answers at once, no promise. */
// biome-ignore lint/suspicious/noExplicitAny: the payload of any definition
export type GroupFunction<Payload = any> = (payload: Payload) => string | undefined;

/** For calls: `null` where the definition's is not to hold. */
export const groupOrNull: Check<string | null> = (value) => (value === null ? { value } : jobGroup(value));

/** For definitions. */
export const groupOrFunction: Check<string | GroupFunction> = (value) =>
  typeof value === 'function' ? { value: value as GroupFunction } : jobGroup(value);

/** Whose job it is, by its definition. */
export function groupByDefinition(
  group: string | GroupFunction,
  payload: unknown,
): { value: string | undefined } | { problem: string; cause?: unknown } {
  if (typeof group === 'string') return { value: group };
  let answer: unknown;
  try {
    answer = group(payload);
  } catch (cause) {
    return {
      problem: `the definition's function threw ${describe(cause)}, expected it to answer a group or undefined`,
      cause,
    };
  }
  // Nobody waits for it: if it rejects, the process would end.
  if (answer instanceof Promise) answer.catch(() => {});
  if (answer === undefined) return { value: undefined };
  const isGroup = 'value' in jobGroup(answer);
  return isGroup
    ? { value: answer as string }
    : {
        problem: `got ${describe(answer)} of the definition's function, expected 1 to 256 printable characters or undefined`,
      };
}
