import { ReplyError, syntaxError } from '../reply.js';
import type { Bound, Scored, SortedSet } from '../sorted-set.js';
import { integerOf } from './command.js';
import { fromScore, fromText, scoreTextOf, toScore, toText } from './score.js';

/** A range as ZRANGE is given it. */
export class Range {
  withScores = false;
  private by: 'rank' | 'score' | 'text' = 'rank';
  private isReversed = false;
  private offset = 0;
  /** Infinite where there is no limit. */
  private count = Number.POSITIVE_INFINITY;
  /** Ranks, the lowest first. A negative one counts from the end. */
  private first = 0;
  private last = 0;
  private lowest?: Bound;
  private highest?: Bound;

  /** `options` begin at an index of `args`. Throws `ReplyError`. */
  constructor(from: string, to: string, args: readonly string[], index: number) {
    let isLimited = false;
    for (let i = index; i < args.length; i++) {
      const option = nameOf(args[i]!);
      if (option === 'WITHSCORES') this.withScores = true;
      else if (option === 'REV') this.isReversed = true;
      else if (option === 'BYSCORE' || option === 'BYLEX') this.readBy(option === 'BYSCORE' ? 'score' : 'text');
      else if (option === 'LIMIT') {
        isLimited = true;
        this.offset = integerOf(args[++i]);
        const count = integerOf(args[++i]);
        this.count = count < 0 ? Number.POSITIVE_INFINITY : count;
      } else throw syntaxError();
    }
    if (this.by === 'rank' && isLimited)
      throw new ReplyError('ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX');
    if (this.by === 'text' && this.withScores)
      throw new ReplyError('ERR syntax error, WITHSCORES not supported in combination with BYLEX');
    this.readBounds(from, to);
  }

  /** The members that are in it, with their scores where it says so. */
  of(set: SortedSet | undefined): string[] {
    if (set === undefined || this.offset < 0) return [];
    const { size } = set;
    let [from, to] = [0, 0];
    if (this.by === 'rank') {
      from = Math.max(0, rankOf(this.first, size));
      to = Math.min(rankOf(this.last, size) + 1, size);
      if (this.isReversed) [from, to] = [size - to, size - from];
    } else {
      from = set.rank(this.lowest!);
      to = set.rank(this.highest!);
    }
    if (this.isReversed)
      return this.told(set.slice(Math.max(from, to - this.offset - this.count), to - this.offset).reverse());
    return this.told(set.slice(from + this.offset, Math.min(to, from + this.offset + this.count)));
  }

  private readBy(by: 'score' | 'text'): void {
    if (this.by !== 'rank' && this.by !== by) throw syntaxError();
    this.by = by;
  }

  private readBounds(from: string, to: string): void {
    if (this.by === 'rank') {
      this.first = integerOf(from);
      this.last = integerOf(to);
      return;
    }
    const [low, high] = this.isReversed ? [to, from] : [from, to];
    this.lowest = this.by === 'score' ? fromScore(low) : fromText(low);
    this.highest = this.by === 'score' ? toScore(high) : toText(high);
  }

  private told(items: readonly Scored[]): string[] {
    const texts: string[] = [];
    for (const item of items) {
      texts.push(item.member);
      if (this.withScores) texts.push(scoreTextOf(item));
    }
    return texts;
  }
}

const OPTIONS = new Set(['WITHSCORES', 'REV', 'BYSCORE', 'BYLEX', 'LIMIT']);

/** The scripts write them in capitals. */
const nameOf = (option: string): string => (OPTIONS.has(option) ? option : option.toUpperCase());

/** A negative one counts from the end. */
export const rankOf = (rank: number, size: number): number => (rank < 0 ? size + rank : rank);
