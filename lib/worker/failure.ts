import { describe } from '../core/describe.js';
import type { DeadReason } from '../core/events.js';
import { oneLine } from '../core/one-line.js';

/** A failed attempt as it is kept with the job. */
export interface Failure {
  name: string;
  message: string;
  /** Its first line, escaped, and then the first lines that name a place. */
  stack?: string;
  /** Why the job died with this attempt, if it did. */
  reason?: DeadReason;
}

const MESSAGE_CHARACTERS = 1_000;
const STACK_LINES = 6;
const STACK_CHARACTERS = 2_000;
const PLACE = '    at ';
const BEFORE_PLACE = `\n${PLACE}`;

/** Whatever a handler may throw, as something that can be kept: short, and never a throw of its own. */
export function toFailure(thrown: unknown, reason?: DeadReason): Failure {
  try {
    if (thrown instanceof Error || (typeof thrown === 'object' && thrown !== null && 'message' in thrown)) {
      const { name, message, stack } = thrown as Error;
      return {
        name: cut(name || 'Error', 100),
        message: cut(message, MESSAGE_CHARACTERS),
        stack: typeof stack === 'string' ? cutStack(stack) : undefined,
        reason,
      };
    }
    return {
      name: typeof thrown,
      message: typeof thrown === 'string' ? cut(thrown, MESSAGE_CHARACTERS) : oneLine(describe(thrown)),
      reason,
    };
  } catch {
    return { name: 'Error', message: 'what was thrown could not be read', reason };
  }
}

function cut(text: unknown, characters: number): string {
  return oneLine(String(text ?? '').slice(0, characters)).slice(0, characters);
}

/** A stack repeats the message, whose lines could pass for others: only lines that name a place stay lines, all before is one line. */
function cutStack(stack: string): string {
  const placesFrom = stack.indexOf(BEFORE_PLACE);
  const places = placesFrom < 0 ? [] : stack.slice(placesFrom + 1).split('\n');
  const head = cut(placesFrom < 0 ? stack : stack.slice(0, placesFrom), MESSAGE_CHARACTERS);
  const kept = places.filter((line) => line.startsWith(PLACE)).slice(0, STACK_LINES - 1);
  return [head, ...kept.map(oneLine)].join('\n').slice(0, STACK_CHARACTERS);
}
