import type { LuaValue } from './table.js';

/** As C's `strtod` reads it: decimal or hexadecimal, infinite too. */
const NUMBER =
  /^[ \t\n\v\f\r]*([+-]?(?:0x[\da-f]+|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan))[ \t\n\v\f\r]*$/i;
const ZERO = 0x30;
const NINE = 0x39;
/** So many digits are a whole number that JavaScript holds exactly. */
const MOST_DIGITS = 15;
const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;

/**
 * A text that begins and ends with digits as JavaScript reads it; NaN where that is no number or where it may be another one than for C, such
 * as `0x10` and `0b1`.
 */
export function plainNumber(text: string): number {
  const { length } = text;
  if (length === 0) return Number.NaN;
  if (length <= MOST_DIGITS) {
    let number = 0;
    let at = 0;
    for (; at < length; at++) {
      const code = text.charCodeAt(at);
      if (!isDigit(code)) break;
      number = number * 10 + (code - ZERO);
    }
    if (at === length) return number;
  }
  if (!isDigit(text.charCodeAt(0)) || !isDigit(text.charCodeAt(length - 1))) return Number.NaN;
  return length > 1 && text.charCodeAt(1) > NINE ? Number.NaN : +text;
}

/** The number that a value of Lua is, or that its text says; `undefined` where it says none. */
export function toNumber(value: LuaValue): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return undefined;
  const plain = plainNumber(value);
  if (!Number.isNaN(plain)) return plain;
  const text = NUMBER.exec(value)?.[1]?.toLowerCase();
  if (text === undefined) return undefined;
  if (text.includes('inf')) return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (text.includes('nan')) return Number.NaN;
  const [, sign, hex] = /^([+-]?)(0x.+)$/.exec(text) ?? [];
  if (hex === undefined) return Number(text);
  return sign === '-' ? -Number(hex) : Number(hex);
}

/** Lua's `tonumber`: with a base, digits and letters alone. */
export function tonumber(value: LuaValue, base: LuaValue = 10): number | undefined {
  if (base === 10) return toNumber(value);
  const digits = String(value).trim().toLowerCase();
  const most = Number(base);
  const areDigits = digits !== '' && [...digits].every((digit) => Number.parseInt(digit, 36) < most);
  return areDigits ? Number.parseInt(digits, most) : undefined;
}

/** How many digits Lua writes of a number. */
const PRECISION = 14;
/** Whole numbers below this are written in full. */
const LONG = 1e14;

/** A number as Lua writes it, `%.14g`. */
export function textOfNumber(number: number): string {
  if (number % 1 === 0 && number < LONG && number > -LONG && !Object.is(number, -0)) return String(number);
  return formatG(number, PRECISION);
}

/** `%.<precision>g` of C. */
export function formatG(number: number, precision: number): string {
  if (!Number.isFinite(number)) return nameOf(number);
  if (number === 0) return Object.is(number, -0) ? '-0' : '0';
  const [digits, power] = number.toExponential(precision - 1).split('e') as [string, string];
  const exponent = Number(power);
  if (exponent < -4 || exponent >= precision) {
    const least = String(Math.abs(exponent)).padStart(2, '0');
    return `${withoutZeros(digits)}e${exponent < 0 ? '-' : '+'}${least}`;
  }
  return withoutZeros(number.toFixed(Math.max(0, precision - 1 - exponent)));
}

/** `%.<digits>f` of C: a tie goes to the even digit. */
export function formatF(number: number, digits: number): string {
  if (!Number.isFinite(number)) return nameOf(number);
  if (Math.abs(number) >= 1e21) return BigInt(number).toString() + (digits > 0 ? `.${'0'.repeat(digits)}` : '');
  if (digits === 0 && Number.isSafeInteger(number) && !Object.is(number, -0)) return String(number);
  const scaled = number * 10 ** digits;
  if (Math.abs(scaled % 1) !== 0.5 || scaled / 10 ** digits !== number) return signed(number, number.toFixed(digits));
  const down = Math.floor(scaled);
  const even = down % 2 === 0 ? down : down + 1;
  return signed(number, (even / 10 ** digits).toFixed(digits));
}

const signed = (number: number, text: string) =>
  (number < 0 || Object.is(number, -0)) && !text.startsWith('-') ? `-${text}` : text;

const withoutZeros = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);

function nameOf(number: number): string {
  if (Number.isNaN(number)) return 'nan';
  return number < 0 ? '-inf' : 'inf';
}
