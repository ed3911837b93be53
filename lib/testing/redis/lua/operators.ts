import { textOfNumber, toNumber } from './numbers.js';
import { isTable, type LuaResult, type LuaValue, typeOf } from './table.js';

/** The operators of Lua: numbers in texts count as numbers, and what Lua cannot add or compare is an error. */

export const isTrue = (value: LuaValue): boolean => value !== undefined && value !== false;

/** The first of the values that a call has answered. */
export const first = (result: LuaResult): LuaValue => (Array.isArray(result) ? result[0] : result);

/** All of them. A function that answers nothing answers `nil`. */
export const all = (result: LuaResult): LuaValue[] => (Array.isArray(result) ? result : [result]);

function operand(value: LuaValue): number {
  const number = toNumber(value);
  if (number === undefined) throw new TypeError(`attempt to perform arithmetic on a ${typeOf(value)} value`);
  return number;
}

export const add = (a: LuaValue, b: LuaValue): number =>
  typeof a === 'number' && typeof b === 'number' ? a + b : operand(a) + operand(b);
export const sub = (a: LuaValue, b: LuaValue): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : operand(a) - operand(b);
export const mul = (a: LuaValue, b: LuaValue): number => operand(a) * operand(b);
export const div = (a: LuaValue, b: LuaValue): number => operand(a) / operand(b);
export const pow = (a: LuaValue, b: LuaValue): number => operand(a) ** operand(b);
export const neg = (a: LuaValue): number => -operand(a);

/** The rest has the sign of the divisor. */
export function mod(a: LuaValue, b: LuaValue): number {
  const [number, by] = [operand(a), operand(b)];
  return number - Math.floor(number / by) * by;
}

function comparable(a: LuaValue, b: LuaValue): boolean {
  if (typeof a === typeof b && (typeof a === 'number' || typeof a === 'string')) return true;
  const [one, other] = [typeOf(a), typeOf(b)];
  throw new TypeError(
    one === other ? `attempt to compare two ${one} values` : `attempt to compare ${one} with ${other}`,
  );
}

/** Characters are bytes, so JavaScript orders texts as Redis does. */
export const lt = (a: LuaValue, b: LuaValue): boolean =>
  typeof a === 'number' && typeof b === 'number' ? a < b : comparable(a, b) && (a as string) < (b as string);
export const le = (a: LuaValue, b: LuaValue): boolean =>
  typeof a === 'number' && typeof b === 'number' ? a <= b : comparable(a, b) && (a as string) <= (b as string);
export const gt = (a: LuaValue, b: LuaValue): boolean => lt(b, a);
export const ge = (a: LuaValue, b: LuaValue): boolean => le(b, a);

/** What `..` joins. */
export function text(value: LuaValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return textOfNumber(value);
  throw new TypeError(`attempt to concatenate a ${typeOf(value)} value`);
}

/** `#`. */
export function length(value: LuaValue): number {
  if (typeof value === 'string') return value.length;
  if (isTable(value)) return value.$list.length;
  throw new TypeError(`attempt to get length of a ${typeOf(value)} value`);
}

/** A bound of a `for`, which reads numbers in texts too. */
export function bound(value: LuaValue): number {
  const number = toNumber(value);
  if (number === undefined) throw new TypeError("'for' needs numbers");
  return number;
}
