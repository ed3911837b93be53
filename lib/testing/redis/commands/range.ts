import { ReplyError, syntaxError } from '../reply.js';
import type { Scored, SortedSet } from '../sorted-set.js';
import { integerOf } from './command.js';
import { belowScore, belowText, scoreText, upToScore, upToText } from './score.js';

/** A range as ZRANGE is given it. */
export interface RangeOptions {
  /** The ranks of a sorted set that are in it, from the lowest; the second is left out. */
  ranks(set: SortedSet): [from: number, to: number];
  readonly isReversed: boolean;
  readonly offset: number;
  /** Infinite where there is no limit. */
  readonly count: number;
  readonly withScores: boolean;
}

export function readRange(from: string, to: string, options: readonly string[]): RangeOptions {
  const given = new Set<string>();
  let [offset, count] = [0, Number.POSITIVE_INFINITY];
  for (let i = 0; i < options.length; i++) {
    const option = options[i]!.toUpperCase();
    if (option === 'LIMIT') {
      offset = integerOf(options[i + 1]);
      count = integerOf(options[i + 2]);
      if (count < 0) count = Number.POSITIVE_INFINITY;
      i += 2;
    } else if (!['BYSCORE', 'BYLEX', 'REV', 'WITHSCORES'].includes(option)) throw syntaxError();
    given.add(option);
  }
  if (given.has('BYSCORE') && given.has('BYLEX')) throw syntaxError();
  const isByRank = !given.has('BYSCORE') && !given.has('BYLEX');
  if (isByRank && given.has('LIMIT'))
    throw new ReplyError('ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX');
  if (given.has('BYLEX') && given.has('WITHSCORES'))
    throw new ReplyError('ERR syntax error, WITHSCORES not supported in combination with BYLEX');
  const isReversed = given.has('REV');
  const shared = { isReversed, offset, count, withScores: given.has('WITHSCORES') };
  if (isByRank) return { ...shared, ranks: byRank(integerOf(from), integerOf(to), isReversed) };
  const [lowest, highest] = isReversed ? [to, from] : [from, to];
  const isByScore = given.has('BYSCORE');
  const below = isByScore ? belowScore(lowest) : belowText(lowest);
  const upTo = isByScore ? upToScore(highest) : upToText(highest);
  return { ...shared, ranks: (set) => [set.rank(below), set.rank(upTo)] };
}

function byRank(first: number, last: number, isReversed: boolean): RangeOptions['ranks'] {
  return ({ size }) => {
    const from = Math.max(0, rankOf(first, size));
    const to = Math.min(rankOf(last, size) + 1, size);
    return isReversed ? [size - to, size - from] : [from, to];
  };
}

/** A negative one counts from the end. */
export const rankOf = (rank: number, size: number): number => (rank < 0 ? size + rank : rank);

export function rangeOf(set: SortedSet | undefined, { ranks, isReversed, offset, count }: RangeOptions): Scored[] {
  if (!set || offset < 0) return [];
  const [from, to] = ranks(set);
  if (isReversed) return set.slice(Math.max(from, to - offset - count), to - offset).reverse();
  return set.slice(from + offset, Math.min(to, from + offset + count));
}

export function told(items: readonly Scored[], withScores: boolean): string[] {
  return items.flatMap(({ member, score }) => (withScores ? [member, scoreText(score)] : [member]));
}
