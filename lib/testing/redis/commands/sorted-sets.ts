import type { Keyspace } from '../keyspace.js';
import { ReplyError, syntaxError } from '../reply.js';
import type { Bound } from '../sorted-set.js';
import { type Command, integerOf, requireArguments } from './command.js';
import { Range, rankOf } from './range.js';
import { scan } from './scan.js';
import { fromScore, fromText, readScore, scoreTextOf, toScore, toText } from './score.js';

const FLAGS = new Set(['NX', 'XX', 'GT', 'LT', 'CH']);

/** How many there are from one bound up to another. */
function countBetween(keys: Keyspace, key: string, from: Bound, to: Bound): number {
  const set = keys.find(key, 'zset');
  return set ? Math.max(0, set.rank(to) - set.rank(from)) : 0;
}

function removeRanks(keys: Keyspace, key: string, from: number, to: number): number {
  const set = keys.find(key, 'zset');
  if (!set) return 0;
  const removed = set.slice(from, to);
  for (const { member } of removed) set.delete(member);
  keys.dropIfEmpty(key, set.size);
  return removed.length;
}

/** Where the flags of ZADD end, which stand behind its key. */
function endOfFlags(args: readonly string[]): number {
  let end = 1;
  while (args[end]?.length === 2 && FLAGS.has(args[end]!.toUpperCase())) end++;
  return end;
}

function requireTogether(flags: Set<string>): void {
  if (flags.has('NX') && flags.has('XX'))
    throw new ReplyError('ERR XX and NX options at the same time are not compatible');
  if ((flags.has('GT') && flags.has('LT')) || (flags.has('NX') && (flags.has('GT') || flags.has('LT'))))
    throw new ReplyError('ERR GT, LT, and/or NX options at the same time are not compatible');
}

/** Whether a member with a score, or without one, gets this one. */
function isSet(before: number | undefined, score: number, flags: Set<string> | undefined): boolean {
  if (flags === undefined) return true;
  if (before === undefined) return !flags.has('XX');
  return !flags.has('NX') && !(flags.has('GT') && score <= before) && !(flags.has('LT') && score >= before);
}

export const SORTED_SET_COMMANDS = {
  ZADD(keys, args) {
    const key = args[0]!;
    const from = endOfFlags(args);
    const flags = from > 1 ? new Set(args.slice(1, from).map((flag) => flag.toUpperCase())) : undefined;
    if (args.length <= from || (args.length - from) % 2 !== 0) throw syntaxError();
    if (flags) requireTogether(flags);
    const scores: number[] = [];
    for (let i = from; i < args.length; i += 2) scores.push(readScore(args[i]!));
    if (flags?.has('XX') && !keys.find(key, 'zset')) return 0;
    const set = keys.findOrMake(key, 'zset');
    let added = 0;
    let changed = 0;
    for (let i = 0; i < scores.length; i++) {
      const member = args[from + 2 * i + 1]!;
      const score = scores[i]!;
      const before = set.score(member);
      if (!isSet(before, score, flags)) continue;
      set.set(member, score);
      if (before === undefined) added++;
      else if (before !== score) changed++;
    }
    keys.dropIfEmpty(key, set.size);
    return flags?.has('CH') ? added + changed : added;
  },

  ZREM(keys, args) {
    requireArguments('zrem', args, 2);
    const set = keys.find(args[0]!, 'zset');
    if (!set) return 0;
    let removed = 0;
    for (let i = 1; i < args.length; i++) if (set.delete(args[i]!)) removed++;
    keys.dropIfEmpty(args[0]!, set.size);
    return removed;
  },

  ZCARD: (keys, args) => keys.find(args[0]!, 'zset')?.size ?? 0,

  ZSCORE(keys, args) {
    const item = keys.find(args[0]!, 'zset')?.item(args[1]!);
    return item === undefined ? null : scoreTextOf(item);
  },

  ZMSCORE(keys, args) {
    requireArguments('zmscore', args, 2);
    const set = keys.find(args[0]!, 'zset');
    const items = args.slice(1).map((member) => set?.item(member));
    return items.map((item) => (item === undefined ? null : scoreTextOf(item)));
  },

  ZCOUNT: (keys, [key, from, to]) => countBetween(keys, key!, fromScore(from!), toScore(to!)),
  ZLEXCOUNT: (keys, [key, from, to]) => countBetween(keys, key!, fromText(from!), toText(to!)),

  ZRANGE(keys, args) {
    requireArguments('zrange', args, 3);
    const range = new Range(args[1]!, args[2]!, args, 3);
    return range.of(keys.find(args[0]!, 'zset'));
  },

  ZREVRANGE(keys, [key, from, to]) {
    return new Range(from!, to!, ['REV'], 0).of(keys.find(key!, 'zset'));
  },

  ZREMRANGEBYSCORE(keys, [key, from, to]) {
    const [low, high] = [fromScore(from!), toScore(to!)];
    const set = keys.find(key!, 'zset');
    return set ? removeRanks(keys, key!, set.rank(low), set.rank(high)) : 0;
  },

  ZREMRANGEBYRANK(keys, [key, from, to]) {
    const [first, last] = [integerOf(from), integerOf(to)];
    const size = keys.find(key!, 'zset')?.size ?? 0;
    return removeRanks(keys, key!, Math.max(0, rankOf(first, size)), rankOf(last, size) + 1);
  },

  ZSCAN: (keys, args) =>
    scan(
      keys,
      args,
      'zset',
      (set) => set.members(),
      (set, member) => {
        const item = set.item(member);
        return item ? [member, scoreTextOf(item)] : [];
      },
    ),
} satisfies Record<string, Command>;
