import { formatG, toNumber } from '../lua/numbers.js';
import { ReplyError } from '../reply.js';
import type { Scored } from '../sorted-set.js';

/** How many digits tell a number apart from each other one. */
const PRECISION = 17;

export function scoreText(score: number): string {
  return Number.isSafeInteger(score) && !Object.is(score, -0) ? String(score) : formatG(score, PRECISION);
}

export function readScore(text: string): number {
  return readFloat(/^\s/.test(text) ? '' : text, 'value is not a valid float');
}

/** As C reads it, which skips spaces before a number, and Redis allows nothing behind. */
function readFloat(text: string, what: string): number {
  const score = /\s$/.test(text) ? undefined : toNumber(text);
  if (score === undefined || Number.isNaN(score)) throw new ReplyError(`ERR ${what}`);
  return score;
}

type Bound = (item: Scored) => boolean;

/** True for the items below a range that begins there. `isOpen` by a '(' before it. */
export function belowScore(text: string): Bound {
  const [score, isOpen] = readBound(text);
  return isOpen ? (item) => item.score <= score : (item) => item.score < score;
}

/** True for the items that are not behind a range that ends there. */
export function upToScore(text: string): Bound {
  const [score, isOpen] = readBound(text);
  return isOpen ? (item) => item.score < score : (item) => item.score <= score;
}

function readBound(text: string): [score: number, isOpen: boolean] {
  const isOpen = text.startsWith('(');
  return [readFloat(isOpen ? text.slice(1) : text, 'min or max is not a float'), isOpen];
}

export function belowText(text: string): Bound {
  if (text === '-') return () => false;
  if (text === '+') return () => true;
  const member = memberOf(text);
  return text.startsWith('(') ? (item) => item.member <= member : (item) => item.member < member;
}

export function upToText(text: string): Bound {
  if (text === '-') return () => false;
  if (text === '+') return () => true;
  const member = memberOf(text);
  return text.startsWith('(') ? (item) => item.member < member : (item) => item.member <= member;
}

function memberOf(text: string): string {
  if (!/^[[(]/.test(text)) throw new ReplyError('ERR min or max not valid string range item');
  return text.slice(1);
}
