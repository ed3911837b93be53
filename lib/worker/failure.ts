import { describe } from '../core/describe.js';
import type { DeadReason } from '../core/events.js';

/** A failed attempt as it is kept with the job. */
export interface Failure {
  name: string;
  message: string;
  /** The first lines only. */
  stack?: string;
  /** Why the job died with this attempt, if it did. */
  reason?: DeadReason;
}

const MESSAGE_CHARACTERS = 1_000;
const STACK_LINES = 6;
const STACK_CHARACTERS = 2_000;

/** Whatever a handler may throw, as something that can be kept: short, and never a throw of its own. */
export function toFailure(thrown: unknown, reason?: DeadReason): Failure {
  try {
    if (thrown instanceof Error || (typeof thrown === 'object' && thrown !== null && 'message' in thrown)) {
      const { name, message, stack } = thrown as Error;
      return {
        name: cut(name || 'Error', 100),
        message: cut(message, MESSAGE_CHARACTERS),
        stack:
          typeof stack === 'string'
            ? cut(stack.split('\n').slice(0, STACK_LINES).join('\n'), STACK_CHARACTERS)
            : undefined,
        reason,
      };
    }
    return {
      name: typeof thrown,
      message: typeof thrown === 'string' ? cut(thrown, MESSAGE_CHARACTERS) : describe(thrown),
      reason,
    };
  } catch {
    return { name: 'Error', message: 'what was thrown could not be read', reason };
  }
}

function cut(text: unknown, characters: number): string {
  return String(text ?? '').slice(0, characters);
}
