import { invalidSchedule } from '../errors.js';
import { describe, nearest } from './describe.js';
import { parseDuration, parseSignedDuration } from './duration.js';
import { ownWordFor, placeOfOption } from './foreign-words.js';

/** How many options are named where something else was given than options. */
const FEW = 4;

/** Checks one value: answers it in the form that is used from then on, or says what is wrong. */
export type Check<T> = (value: unknown) => { value: T } | { problem: string };

/** A check for each option of one kind. An option without a check is refused. */
export type Shape<T> = { readonly [K in keyof T]-?: Check<Exclude<T[K], undefined>> };

/** How a problem becomes the error of whoever asked. */
export type Refuse = (message: string) => Error;

/**
 * Reads options against their shape into a new object that holds just those that were given.
 * Own properties only, so that nothing of a prototype counts as an option.
 */
export function readOptions<T extends object>(
  given: unknown,
  shape: Shape<T>,
  where: string,
  refuse: Refuse,
): Partial<T> {
  if (given === undefined) return {};
  const read = readShape(shape, given);
  if ('value' in read) return read.value;
  throw refuse(asSentence(`${where}: ${read.problem}`));
}

/** One value of a call. Throws what `refuse` makes of a sentence that `where` begins. */
export function readOne<T>(check: Check<T>, value: unknown, where: string, refuse: Refuse = invalidSchedule): T {
  const read = check(value);
  if ('value' in read) return read.value;
  throw refuse(asSentence(`${where}: ${read.problem}`));
}

/** Options inside an option; `expected` says what they are. */
export function options<T extends object>(shape: Shape<T>, expected?: string): Check<Partial<T>> {
  return (given) => readShape(shape, given, expected);
}

/** As `readOptions`, for the hot path of `schedule`: it creates no object that is not needed, and returns the problem instead of throwing. */
export function readShape<T extends object>(
  shape: Shape<T>,
  given: unknown,
  expected?: string,
): ReturnType<Check<Partial<T>>> {
  if (!isRecord(given)) return { problem: `got ${describe(given)}, expected ${expected ?? optionsOf(shape)}` };
  const read: Record<string, unknown> = {};
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(shape, name)) return { problem: unknownOption(name, Object.keys(shape)) };
    const value = (given as Record<string, unknown>)[name];
    if (value === undefined) continue;
    const result = (shape as Record<string, Check<unknown>>)[name]!(value);
    if ('problem' in result) return { problem: `${name}: ${result.problem}` };
    read[name] = result.value;
  }
  return { value: read as Partial<T> };
}

/** Names the options where they are few, as what was given may be meant for one of them; many would hide the rest of the message. */
function optionsOf(shape: object): string {
  const names = Object.keys(shape);
  return names.length > FEW ? 'an object of options' : `an object of options (${names.join(', ')})`;
}

/** Decided by the object's tag: an instance of a class may hold options, but a Date, a Map or a promise cannot. */
export function isRecord(value: unknown): value is object {
  return Object.prototype.toString.call(value) === '[object Object]';
}

/** Ends a problem with a full stop, unless it ends with a question mark. */
export function asSentence(problem: string): string {
  return problem.endsWith('?') ? problem : `${problem}.`;
}

/** Says that an option is none, and which one may have been meant. */
export function unknownOption(name: string, known: readonly string[]): string {
  const place = placeOfOption(name);
  if (place) return `unknown option "${name}": ${place}`;
  const own = ownWordFor(name, known);
  const near = own?.isKnown ? undefined : nearest(name, known);
  // More than a letter's difference is no misspelling where the word is one of another library.
  if (own && (near === undefined || Math.abs(near.length - name.length) > 1))
    return `unknown option ${describe(name)}: ${own.sentence}`;
  return `unknown option ${describe(name)}, ${near ? `did you mean '${near}'?` : `known are ${known.join(', ')}`}`;
}

export function integer(min: number, max = Number.MAX_SAFE_INTEGER): Check<number> {
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  return (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
      ? { value }
      : { problem: `got ${describe(value)}, expected a whole number ${range}` };
}

export function duration(minMs = 0, maxMs = Number.POSITIVE_INFINITY): Check<number> {
  return (value) => {
    const parsed = parseDuration(value);
    if (typeof parsed === 'object') return parsed;
    if (parsed < minMs) return { problem: `got ${describe(value)}, expected at least ${minMs} ms` };
    if (parsed > maxMs) return { problem: `got ${describe(value)}, expected at most ${maxMs} ms` };
    return { value: parsed };
  };
}

export const signedDuration: Check<number> = (value) => {
  const parsed = parseSignedDuration(value);
  return typeof parsed === 'object' ? parsed : { value: parsed };
};

export const flag: Check<boolean> = (value) =>
  typeof value === 'boolean' ? { value } : { problem: `got ${describe(value)}, expected true or false` };

export function oneOf<T extends string>(...allowed: readonly T[]): Check<T> {
  return (value) =>
    allowed.includes(value as T)
      ? { value: value as T }
      : { problem: `got ${describe(value)}, expected ${allowed.map((a) => `'${a}'`).join(' or ')}` };
}

/** For what is read later, together with other options. */
export const anything: Check<unknown> = (value) => ({ value });

/** A class, such as the one of a payload. */
// biome-ignore lint/suspicious/noExplicitAny: a constructor's parameters do not matter here
export const classReference: Check<new (...args: any[]) => any> = (value) =>
  typeof value === 'function' && value.prototype !== undefined
    ? { value: value as new () => unknown }
    : { problem: `got ${describe(value)}, expected a class` };
