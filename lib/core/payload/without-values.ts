import { InvalidPayloadError, type PayloadFinding } from '../errors.js';

/** How an error about a payload reads in logs and in Redis: with no value of the payload. */
export interface ShownError {
  readonly message: string;
  readonly findings: PayloadFinding[];
}

/** Both builds of this package must find what the other has noted. */
const SHOWN = Symbol.for('nestjs-redis-scheduled-queue:shown');

/** Notes how an error is to be shown wherever it is logged or stored, by whatever it was let through. Its cause is shown nowhere. */
export function showAs(error: InvalidPayloadError, shown: ShownError): InvalidPayloadError {
  return Object.defineProperty(error, SHOWN, { value: shown });
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
const ERASED = '[value]';

/** Makes a function that takes the values of this payload out of a text that somebody else has written about it. */
export function valueEraser(payload: unknown): (text: string) => string {
  const values = new Set<string>();
  const isWhole = collect(payload, values, new Set());
  // Longer ones first: a short one may be a part of a long one.
  const sorted = [...values].sort((a, b) => b.length - a.length);
  return (text) => {
    if (!isWhole || text.length > MOST_CHARACTERS)
      return `a text of ${text.length} characters, not searched for values`;
    return sorted.reduce((left, value) => (left.includes(value) ? erase(left, value) : left), text);
  };
}

/** False where there are too many. Not booleans: they say little, and stand in many sentences. */
function collect(value: unknown, into: Set<string>, seen: Set<object>): boolean {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') into.add(String(value));
  if (into.size + seen.size > MOST_VALUES) return false;
  if (typeof value !== 'object' || value === null || seen.has(value)) return true;
  seen.add(value);
  if (value instanceof Date && !Number.isNaN(value.getTime())) into.add(value.toISOString());
  return Object.values(value).every((each) => collect(each, into, seen));
}

function erase(text: string, value: string): string {
  if (value === '') return text;
  const escaped = value.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const pattern = value.length < LEAST_INSIDE_A_WORD ? `(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])` : escaped;
  return text.replaceAll(new RegExp(pattern, 'gu'), ERASED);
}
