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
  let [isByScore, isByLex, isReversed, withScores, isLimited] = [false, false, false, false, false];
  let [offset, count] = [0, Number.POSITIVE_INFINITY];
  for (let i = 0; i < options.length; i++)
    switch (options[i]!.toUpperCase()) {
      case 'BYSCORE':
        isByScore = true;
        break;
      case 'BYLEX':
        isByLex = true;
        break;
      case 'REV':
        isReversed = true;
        break;
      case 'WITHSCORES':
        withScores = true;
        break;
      case 'LIMIT':
        isLimited = true;
        offset = integerOf(options[++i]);
        count = integerOf(options[++i]);
        if (count < 0) count = Number.POSITIVE_INFINITY;
        break;
      default:
        throw syntaxError();
    }
  if (isByScore && isByLex) throw syntaxError();
  const isByRank = !isByScore && !isByLex;
  if (isByRank && isLimited)
    throw new ReplyError('ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX');
  if (isByLex && withScores)
    throw new ReplyError('ERR syntax error, WITHSCORES not supported in combination with BYLEX');
  const shared = { isReversed, offset, count, withScores };
  if (isByRank) return { ...shared, ranks: byRank(integerOf(from), integerOf(to), isReversed) };
  const [lowest, highest] = isReversed ? [to, from] : [from, to];
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
  const texts: string[] = [];
  for (const { member, score } of items) {
    texts.push(member);
    if (withScores) texts.push(scoreText(score));
  }
  return texts;
}
