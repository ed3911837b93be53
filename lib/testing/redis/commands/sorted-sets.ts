import type { Keyspace } from '../keyspace.js';
import { ReplyError, syntaxError } from '../reply.js';
import type { Scored } from '../sorted-set.js';
import { type Command, inPairs, integerOf, requireArguments } from './command.js';
import { type RangeOptions, rangeOf, rankOf, readRange, told } from './range.js';
import { readScan } from './scan.js';
import { belowScore, belowText, readScore, scoreText, upToScore, upToText } from './score.js';

const FLAGS = ['NX', 'XX', 'GT', 'LT', 'CH'];

type Bound = (item: Scored) => boolean;

/** How many there are from one bound up to another. */
function countBetween(keys: Keyspace, key: string, [below, upTo]: [Bound, Bound]): number {
  const set = keys.find(key, 'zset');
  return set ? Math.max(0, set.rank(upTo) - set.rank(below)) : 0;
}

function removeRanks(keys: Keyspace, key: string, from: number, to: number): number {
  const set = keys.find(key, 'zset');
  if (!set) return 0;
  const removed = set.slice(from, to);
  for (const { member } of removed) set.delete(member);
  keys.dropIfEmpty(key, set.size);
  return removed.length;
}

export const SORTED_SET_COMMANDS = {
  ZADD(keys, args) {
    const [key, ...rest] = args;
    const flags = new Set<string>();
    while (FLAGS.includes(rest[0]?.toUpperCase() ?? '')) flags.add(rest.shift()!.toUpperCase());
    if (rest.length === 0 || rest.length % 2 !== 0) throw syntaxError();
    if (flags.has('NX') && flags.has('XX'))
      throw new ReplyError('ERR XX and NX options at the same time are not compatible');
    if ((flags.has('GT') && flags.has('LT')) || (flags.has('NX') && (flags.has('GT') || flags.has('LT'))))
      throw new ReplyError('ERR GT, LT, and/or NX options at the same time are not compatible');
    const scored = [...inPairs(rest)].map(([score, member]) => ({ score: readScore(score), member }));
    if (flags.has('XX') && !keys.find(key!, 'zset')) return 0;
    const set = keys.findOrMake(key!, 'zset');
    let added = 0;
    let changed = 0;
    for (const { score, member } of scored) {
      const before = set.score(member);
      if (before === undefined ? flags.has('XX') : flags.has('NX')) continue;
      if (before !== undefined && ((flags.has('GT') && score <= before) || (flags.has('LT') && score >= before)))
        continue;
      set.set(member, score);
      if (before === undefined) added++;
      else if (before !== score) changed++;
    }
    keys.dropIfEmpty(key!, set.size);
    return flags.has('CH') ? added + changed : added;
  },

  ZREM(keys, args) {
    requireArguments('zrem', args, 2);
    const [key, ...members] = args;
    const set = keys.find(key!, 'zset');
    if (!set) return 0;
    const removed = members.filter((member) => set.delete(member)).length;
    keys.dropIfEmpty(key!, set.size);
    return removed;
  },

  ZCARD: (keys, [key]) => keys.find(key!, 'zset')?.size ?? 0,

  ZSCORE(keys, [key, member]) {
    const score = keys.find(key!, 'zset')?.score(member!);
    return score === undefined ? null : scoreText(score);
  },

  ZMSCORE(keys, args) {
    requireArguments('zmscore', args, 2);
    const [key, ...members] = args;
    const set = keys.find(key!, 'zset');
    const scores = members.map((member) => set?.score(member));
    return scores.map((score) => (score === undefined ? null : scoreText(score)));
  },

  ZCOUNT: (keys, [key, from, to]) => countBetween(keys, key!, [belowScore(from!), upToScore(to!)]),
  ZLEXCOUNT: (keys, [key, from, to]) => countBetween(keys, key!, [belowText(from!), upToText(to!)]),

  ZRANGE(keys, args) {
    requireArguments('zrange', args, 3);
    const [key, from, to, ...options] = args;
    const range = readRange(from!, to!, options);
    return told(rangeOf(keys.find(key!, 'zset'), range), range.withScores);
  },

  ZREVRANGE(keys, [key, from, to]) {
    const range: RangeOptions = readRange(from!, to!, ['REV']);
    return told(rangeOf(keys.find(key!, 'zset'), range), false);
  },

  ZREMRANGEBYSCORE(keys, [key, from, to]) {
    const [below, upTo] = [belowScore(from!), upToScore(to!)];
    const set = keys.find(key!, 'zset');
    return set ? removeRanks(keys, key!, set.rank(below), set.rank(upTo)) : 0;
  },

  ZREMRANGEBYRANK(keys, [key, from, to]) {
    const [first, last] = [integerOf(from), integerOf(to)];
    const size = keys.find(key!, 'zset')?.size ?? 0;
    return removeRanks(keys, key!, Math.max(0, rankOf(first, size)), rankOf(last, size) + 1);
  },

  ZSCAN(keys, args) {
    const { key, cursor, count } = readScan(args);
    const set = keys.find(key, 'zset');
    const { cursor: next, names } = keys.walks.step(cursor, count, () => set?.members() ?? []);
    const there = names.map((member) => ({ member, score: set?.score(member) }));
    return [next, there.flatMap(({ member, score }) => (score === undefined ? [] : [member, scoreText(score)]))];
  },
} satisfies Record<string, Command>;
