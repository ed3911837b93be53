import { describe, nearest } from '../core/read/describe.js';
import { jobId } from '../core/read/names.js';
import { asSentence } from '../core/read/shape.js';

/** The command line was typed in a way that means nothing here; nothing has happened. */
export class UsageError extends Error {}

/** Says that a word is none of the known ones, and which of these may have been meant. */
export function unknownWord(kind: string, word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  return `unknown ${kind} ${describe(word)}, ${near === undefined ? `known are ${known.join(', ')}` : `did you mean '${near}'?`}`;
}

/** Throws `UsageError` where there is no operand behind the queue, or one that can be no id: found among others later, it would leave half done. */
export function requireIds(command: string, operands: readonly string[]): void {
  if (operands.length === 0) throw new UsageError(`${command}: got no id, expected ${command} <queue> <id>.`);
  for (const id of operands) {
    const read = jobId(id);
    if ('problem' in read) throw new UsageError(asSentence(`${command}: id: ${read.problem}`));
  }
}
