import { formatG, plainNumber, toNumber } from '../lua/numbers.js';
import { ReplyError } from '../reply.js';
import type { Bound, Scored } from '../sorted-set.js';

/** How many digits tell a number apart from each other one. */
const PRECISION = 17;

export function scoreText(score: number): string {
  return Number.isSafeInteger(score) && !Object.is(score, -0) ? String(score) : formatG(score, PRECISION);
}

export function scoreTextOf(item: Scored): string {
  item.text ??= scoreText(item.score);
  return item.text;
}

export const readScore = (text: string): number => readFloat(text, 'value is not a valid float');

/** Decimal, or infinite, with nothing around it. */
function readFloat(text: string, what: string): number {
  const plain = plainNumber(text);
  if (!Number.isNaN(plain)) return plain;
  const score = /\s|0x/i.test(text) ? undefined : toNumber(text);
  if (score === undefined || Number.isNaN(score)) throw new ReplyError(`ERR ${what}`);
  return score;
}

/** Where a range of scores begins. A '(' before it leaves the bound itself out. */
export const fromScore = (text: string): Bound => scoreBound(text, text.startsWith('('));

/** Where it ends. */
export const toScore = (text: string): Bound => scoreBound(text, !text.startsWith('('));

function scoreBound(text: string, after: boolean): Bound {
  return { score: readFloat(text.startsWith('(') ? text.slice(1) : text, 'min or max is not a float'), after };
}

/** The same for a range of members. */
export const fromText = (text: string): Bound => textBound(text, text.startsWith('('));
export const toText = (text: string): Bound => textBound(text, !text.startsWith('('));

const BELOW_ALL: Bound = { score: Number.NEGATIVE_INFINITY, after: false };
const BEHIND_ALL: Bound = { score: Number.POSITIVE_INFINITY, after: true };

function textBound(text: string, after: boolean): Bound {
  if (text === '-') return BELOW_ALL;
  if (text === '+') return BEHIND_ALL;
  if (!/^[[(]/.test(text)) throw new ReplyError('ERR min or max not valid string range item');
  return { member: text.slice(1), after };
}
