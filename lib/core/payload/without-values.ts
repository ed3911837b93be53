import { InvalidPayloadError, type PayloadFinding } from '../errors.js';

/** How an error about a payload reads in logs and in Redis: with no value of the payload. */
export interface ShownError {
  readonly message: string;
  readonly findings: PayloadFinding[];
}

/** Both builds of this package must find what the other has noted. */
const SHOWN = Symbol.for('nestjs-redis-scheduled-queue:shown');

/** Notes how an error is to be shown wherever it is logged or stored, by whatever it was let through. Its cause is shown nowhere. */
export function showAs<Shown extends Error>(error: Shown, shown: ShownError): Shown {
  // A foreign error may be frozen; one that is shared is noted again.
  Reflect.defineProperty(error, SHOWN, { value: shown, configurable: true });
  return error;
}

/** How an error is to be shown; `undefined` where it may be shown as it is. */
export function shownOf(error: object): ShownError | undefined {
  return (error as { [SHOWN]?: ShownError })[SHOWN];
}

/** The same error as listeners, logs and Redis may have it. */
export function withoutValues(error: unknown): unknown {
  const shown = error instanceof InvalidPayloadError ? shownOf(error) : undefined;
  if (!shown) return error;
  const { queue, jobName, jobId } = error as InvalidPayloadError;
  return new InvalidPayloadError(shown.message, shown.findings, { queue, jobName, jobId });
}

/** Of a larger payload, or in a longer text, values are not looked for: the text is left out instead. */
const MOST_VALUES = 1_000;
const MOST_CHARACTERS = 10_000;
/** A shorter value is only taken for one where it stands as a word: 'a' is in most words. */
const LEAST_INSIDE_A_WORD = 4;
/** Longer values are looked for piece by piece, so that a look into the text costs the same whatever was sent. */
const PIECE_CHARACTERS = 16;
const ERASED = '[value]';
const ENDS_IN_WORD = /[\p{L}\p{N}]$/u;
const BEGINS_IN_WORD = /^[\p{L}\p{N}]/u;

/** Makes a function that takes the values of this payload out of a text that somebody else has written about it. */
export function valueEraser(payload: unknown): (text: string) => string {
  const values = new Set<string>();
  const isWhole = collectAll(payload, values);
  const pieces = new Set([...values].flatMap(piecesOf));
  // Longer ones first: a short one may be a part of a long one.
  const lengths = [...new Set([...pieces].map(({ length }) => length))].sort((a, b) => b - a);
  return (text) => {
    if (!isWhole || text.length > MOST_CHARACTERS)
      return `a text of ${text.length} characters, not searched for values`;
    return erase(text, pieces, lengths);
  };
}

/** False where not all of them are known: a getter of what a codec made may throw. */
function collectAll(payload: unknown, into: Set<string>): boolean {
  try {
    return collect(payload, into, new Set());
  } catch {
    return false;
  }
}

/** False where there are too many. Not booleans: they say little, and stand in many sentences. */
function collect(value: unknown, into: Set<string>, seen: Set<object>): boolean {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') into.add(String(value));
  if (into.size + seen.size > MOST_VALUES) return false;
  if (typeof value !== 'object' || value === null || seen.has(value)) return true;
  seen.add(value);
  if (value instanceof Date && !Number.isNaN(value.getTime())) into.add(value.toISOString());
  // Most payloads are JSON; a codec may make others.
  const parts = value instanceof Map || value instanceof Set ? [...value] : Object.values(value);
  return parts.every((each) => collect(each, into, seen));
}

/** Side by side, the last one up to the end: where the value stands whole, they cover all of it. */
function piecesOf(value: string): string[] {
  // In no text that is searched.
  if (value.length > MOST_CHARACTERS) return [];
  const last = Math.max(0, value.length - PIECE_CHARACTERS);
  const count = Math.ceil(value.length / PIECE_CHARACTERS);
  return Array.from({ length: count }, (_, i) => {
    const from = Math.min(i * PIECE_CHARACTERS, last);
    return value.slice(from, from + PIECE_CHARACTERS);
  });
}

/** In one pass over the text as it was: a value may be a part of `[value]`, and each search in the outcome would make it longer. */
function erase(text: string, pieces: ReadonlySet<string>, lengths: readonly number[]): string {
  let erased = '';
  let coveredTo = -1;
  for (let at = 0; at < text.length; at++) {
    const to = at + lengthAt(text, at, pieces, lengths);
    // Values side by side, as the pieces of a long one are, become one.
    if (to > at && at > coveredTo) erased += ERASED;
    else if (to === at && at >= coveredTo) erased += text[at];
    coveredTo = Math.max(coveredTo, to === at ? -1 : to);
  }
  return erased;
}

/** Of the longest piece that stands here; 0 where there is none. */
function lengthAt(text: string, at: number, pieces: ReadonlySet<string>, lengths: readonly number[]): number {
  const stands = (length: number) => {
    const to = at + length;
    return (
      to <= text.length && pieces.has(text.slice(at, to)) && (length >= LEAST_INSIDE_A_WORD || isWord(text, at, to))
    );
  };
  return lengths.find(stands) ?? 0;
}

/** Looks at two code units on each side, which may be one letter. */
function isWord(text: string, from: number, to: number): boolean {
  return !ENDS_IN_WORD.test(text.slice(Math.max(0, from - 2), from)) && !BEGINS_IN_WORD.test(text.slice(to, to + 2));
}
