import { formatF, formatG, textOfNumber, toNumber } from './numbers.js';
import { text } from './operators.js';
import { isPlain, toRegExp } from './patterns.js';
import { get, isTable, type LuaFunction, type LuaResult, type LuaValue, typeOf } from './table.js';

/** A pattern that stands in a script is a regular expression already. */
type Pattern = LuaValue | RegExp;

const made = new Map<string, RegExp>();

/** A pattern that a script has put together. There are few, so each is made once. */
function regExpOf(pattern: Pattern): RegExp {
  if (pattern instanceof RegExp) return pattern;
  const source = text(pattern);
  const known = made.get(source);
  if (known) return known;
  const regExp = toRegExp(source);
  made.set(source, regExp);
  return regExp;
}

/** The index of a place as Lua counts: from 1, or from the end where it is negative. */
function indexOf(length: number, place: LuaValue, without: number): number {
  const given = place === undefined ? without : toNumber(place);
  if (given === undefined) throw new TypeError(`bad argument: number expected, got ${typeOf(place)}`);
  const whole = Math.trunc(given);
  return whole >= 0 ? whole : Math.max(0, length + whole + 1);
}

function search(value: LuaValue, pattern: Pattern, from: LuaValue): RegExpExecArray | null {
  const subject = text(value);
  const regExp = regExpOf(pattern);
  regExp.lastIndex = from === undefined ? 0 : Math.max(0, indexOf(subject.length, from, 1) - 1);
  return regExp.lastIndex > subject.length ? null : regExp.exec(subject);
}

const capturesOf = (found: RegExpExecArray): string[] => (found.length === 1 ? [found[0]] : found.slice(1));

export function match(value: LuaValue, pattern: Pattern, from?: LuaValue): LuaResult {
  const found = search(value, pattern, from);
  if (found === null) return undefined;
  return found.length <= 2 ? found[found.length - 1] : found.slice(1);
}

export function find(value: LuaValue, pattern: Pattern, from?: LuaValue, plain?: LuaValue): LuaResult {
  if (typeof pattern === 'string' && ((plain !== undefined && plain !== false) || isPlain(pattern))) {
    const subject = text(value);
    const start = Math.max(0, indexOf(subject.length, from, 1) - 1);
    const at = start > subject.length ? -1 : subject.indexOf(pattern, start);
    return at < 0 ? undefined : [at + 1, at + pattern.length];
  }
  const found = search(value, pattern, from);
  return found === null ? undefined : [found.index + 1, found.index + found[0].length, ...found.slice(1)];
}

const NONE: readonly string[] = [];

/** The captures of a match, none where there is no match. */
export function captures(value: LuaValue, pattern: Pattern, from?: LuaValue): readonly string[] {
  const found = search(value, pattern, from);
  return found === null ? NONE : capturesOf(found);
}

/** The first of them. */
export function matchOne(value: LuaValue, pattern: Pattern, from?: LuaValue): LuaValue {
  const found = search(value, pattern, from);
  return found === null ? undefined : found[found.length > 1 ? 1 : 0];
}

/** Where a plain text begins: the first that `string.find` answers for one. */
export function findFrom(value: LuaValue, plain: string, from: number): LuaValue {
  const at = text(value).indexOf(plain, from - 1);
  return at < 0 ? undefined : at + 1;
}

/** What each match captures; for `for`. */
export function gmatch(value: LuaValue, pattern: Pattern): string[][] {
  const all: string[][] = [];
  const subject = text(value);
  const regExp = regExpOf(pattern);
  if (regExp.sticky) throw new TypeError("a pattern of gmatch has no '^'");
  for (let from = 0; from <= subject.length; ) {
    regExp.lastIndex = from;
    const found = regExp.exec(subject);
    if (found === null) break;
    from = found.index + Math.max(1, found[0].length);
    all.push(capturesOf(found));
  }
  return all;
}

export function gsub(value: LuaValue, pattern: Pattern, by: LuaValue, most?: LuaValue): LuaResult {
  const subject = text(value);
  const regExp = regExpOf(pattern);
  const limit = most === undefined ? Number.POSITIVE_INFINITY : (toNumber(most) ?? 0);
  let result = '';
  let count = 0;
  let at = 0;
  while (count < limit) {
    regExp.lastIndex = at;
    const found = regExp.exec(subject);
    if (found === null) break;
    count++;
    result += subject.slice(at, found.index) + replacement(found, by);
    at = found.index + found[0].length;
    // Behind an empty match the next character goes over as it is.
    if (found[0] === '') result += subject[at++] ?? '';
    if (regExp.sticky || at > subject.length) break;
  }
  return [result + subject.slice(at), count];
}

function replacement(found: RegExpExecArray, by: LuaValue): string {
  const captures = capturesOf(found);
  if (typeof by === 'string' || typeof by === 'number')
    return text(by).replace(/%([\s\S])/g, (_, char: string) => {
      if (char === '0') return found[0];
      return /\d/.test(char) ? captures[Number(char) - 1]! : char;
    });
  const value = isTable(by) ? get(by, captures[0]) : firstOf((by as LuaFunction)(...captures));
  return value === undefined || value === false ? found[0] : text(value);
}

const firstOf = (result: LuaResult): LuaValue => (Array.isArray(result) ? result[0] : result);

export function sub(value: LuaValue, from: LuaValue, to?: LuaValue): string {
  const subject = text(value);
  // Mostly from the beginning up to a known place.
  if (typeof from === 'number' && from > 0 && typeof to === 'number' && to >= 0) return subject.slice(from - 1, to);
  return subject.slice(Math.max(0, indexOf(subject.length, from, 1) - 1), indexOf(subject.length, to, -1));
}

export function byte(value: LuaValue, from?: LuaValue): LuaValue {
  const code = text(value).charCodeAt(indexOf(text(value).length, from, 1) - 1);
  return Number.isNaN(code) ? undefined : code;
}

export const rep = (value: LuaValue, times: LuaValue): string => text(value).repeat(Math.max(0, toNumber(times) ?? 0));
/** Of bytes: letters beyond ASCII stay as they are. */
export const lower = (value: LuaValue): string => text(value).replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
export const upper = (value: LuaValue): string => text(value).replace(/[a-z]+/g, (letters) => letters.toUpperCase());
export const len = (value: LuaValue): number => text(value).length;

export function format(pattern: LuaValue, ...values: LuaValue[]): string {
  // Most are numbers of the scripts' `digits`, and the time with its fraction.
  const [value] = values;
  if (pattern === '%d' && Number.isSafeInteger(value)) return String(value);
  if (typeof value === 'number' && (pattern === '%.0f' || pattern === '%.3f'))
    return formatF(value, pattern === '%.0f' ? 0 : 3);
  let at = 0;
  return text(pattern).replace(DIRECTIVE, (directive, zeros?: string, digits?: string, kind?: string) => {
    if (kind === '%') return '%';
    const value = values[at++];
    if (kind === 's') return tostring(value);
    const number = toNumber(value);
    if (number === undefined) throw new TypeError(`bad argument #${at + 1} to 'format': number expected`);
    if (kind === 'd') return integerWith(Number(zeros ?? 0), number);
    if (kind === 'f') return formatF(number, Number(digits ?? 6));
    if (kind === 'g') return formatG(number, Number(digits ?? 6));
    throw new TypeError(`'${directive}' is none of the formats %d, %03d, %s, %f and %g`);
  });
}

/** A width is known of whole numbers alone, and filled with zeros. */
const DIRECTIVE = /%(?:0(\d+)(?=d))?(?:\.(\d+))?([\s\S])/g;

/** The width counts the sign. */
function integerWith(width: number, number: number): string {
  const whole = Number.isSafeInteger(number)
    ? String(Math.abs(number))
    : BigInt(Math.trunc(Math.abs(number))).toString();
  const sign = number <= -1 ? '-' : '';
  return sign + whole.padStart(width - sign.length, '0');
}

export function tostring(value: LuaValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return textOfNumber(value);
  if (value === undefined) return 'nil';
  if (typeof value === 'boolean') return String(value);
  throw new TypeError(`tostring of a ${typeOf(value)} would be the place where it lies`);
}
