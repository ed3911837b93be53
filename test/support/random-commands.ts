/** A command with its arguments, of few keys and members: so that they meet each other. */
export type RandomCommand = readonly [name: string, ...args: string[]];

const KEYS = ['zset', 'hash', 'set', 'string', 'list', 'stream'];
const MEMBERS = ['', 'a', 'b', 'B', 'a\tb', 'ä', 'é€', '0', '10', '9', 'constructor', '__proto__', '\u00ff'];
/**
 * Only what all servers understand alike: since 8.0 Redis takes neither hexadecimal numbers nor spaces before one, and writes 0.1 in its
 * shortest form, as Valkey does.
 */
const SCORES = ['0', '1', '-1', '1.5', '1e3', 'inf', '-inf', '+inf', '1767225600000', '3', 'x', '1 '];
const BOUNDS = [...SCORES, '(1', '(0', '(1.5', '(-inf', '(inf', '((1'];
const TEXT_BOUNDS = ['-', '+', '[a', '(a', '[b', '(B', '[', '(', 'a'];
const RANKS = ['0', '1', '2', '-1', '-2', '5', '-9', 'x'];
const COUNTS = ['0', '1', '2', '-1', '10', 'x'];
const IDS = ['-', '+', '0', '5-1', '(5-1', '(5', '7-3', '9', '(9-0', 'x'];

/** What the scripts and the classes over them may send, with all options that the small Redis knows; a part of it is wrong. */
export function randomCommand(random: () => number): RandomCommand {
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const some = (list: readonly string[], least = 1) =>
    Array.from({ length: least + Math.floor(random() * 3) }, () => one(list));
  const maybe = (...args: string[]) => (random() < 0.4 ? args : []);
  const cased = (word: string) => (random() < 0.1 ? word.toLowerCase() : word);
  // Now and then a key of another kind.
  const key = (own: string) => (random() < 0.06 ? one(KEYS) : own);
  const limit = () => maybe('LIMIT', one(COUNTS), one(COUNTS));
  const pairs = (first: readonly string[], second: readonly string[]) =>
    some(['']).flatMap(() => [one(first), one(second)]);
  const commands: (() => RandomCommand)[] = [
    () => [
      'ZADD',
      key('zset'),
      ...maybe(one(['NX', 'XX', 'GT', 'LT', 'CH'])),
      ...maybe(one(['XX', 'CH', 'GT'])),
      ...pairs(SCORES, MEMBERS),
    ],
    () => ['ZADD', 'zset', ...pairs(['0', '1', '1.5', '3'], MEMBERS)],
    () => ['ZADD', 'texts', ...pairs(['0'], MEMBERS)],
    () => ['ZREM', key('zset'), ...some(MEMBERS)],
    () => ['ZCARD', key('zset')],
    () => ['ZSCORE', key('zset'), one(MEMBERS)],
    () => ['ZMSCORE', key('zset'), ...some(MEMBERS)],
    () => ['ZCOUNT', key('zset'), one(BOUNDS), one(BOUNDS)],
    () => ['ZLEXCOUNT', 'texts', one(TEXT_BOUNDS), one(TEXT_BOUNDS)],
    () => ['ZRANGE', key('zset'), one(RANKS), one(RANKS), ...maybe(cased('REV')), ...maybe('WITHSCORES')],
    () => [
      'ZRANGE',
      key('zset'),
      one(BOUNDS),
      one(BOUNDS),
      cased('BYSCORE'),
      ...maybe('REV'),
      ...limit(),
      ...maybe('WITHSCORES'),
    ],
    () => ['ZRANGE', 'texts', one(TEXT_BOUNDS), one(TEXT_BOUNDS), 'BYLEX', ...maybe('REV'), ...limit()],
    () => ['ZRANGE', 'zset', one(RANKS), one(RANKS), ...maybe('LIMIT', '0', '1'), ...maybe('NONSENSE')],
    () => ['ZREVRANGE', key('zset'), one(RANKS), one(RANKS)],
    () => ['ZREMRANGEBYSCORE', key('zset'), one(BOUNDS), one(BOUNDS)],
    () => ['ZREMRANGEBYRANK', key('zset'), one(RANKS), one(RANKS)],
    () => ['HSET', key('hash'), ...pairs(MEMBERS, MEMBERS)],
    () => ['HGET', key('hash'), one(MEMBERS)],
    () => ['HMGET', key('hash'), ...some(MEMBERS)],
    () => ['HDEL', key('hash'), ...some(MEMBERS)],
    () => ['HLEN', key('hash')],
    () => ['HEXISTS', key('hash'), one(MEMBERS)],
    () => ['HGETALL', key('hash')],
    // So many that one step tells all.
    () => ['HSCAN', key('hash'), one(['0', '0', 'x']), 'COUNT', one(['100', '100', '0', 'x'])],
    () => ['ZSCAN', key('zset'), one(['0', '0', 'x']), 'COUNT', one(['100', '100', '0', 'x'])],
    () => ['HINCRBY', key('hash'), one(MEMBERS), one(['1', '-2', 'x', '1.5'])],
    () => ['SADD', key('set'), ...some(MEMBERS)],
    () => ['SCARD', key('set')],
    () => ['SMEMBERS', key('set')],
    () => ['SISMEMBER', key('set'), one(MEMBERS)],
    () => ['SMISMEMBER', key('set'), ...some(MEMBERS)],
    () => ['SET', key('string'), one(MEMBERS), ...maybe(cased('PX'), one(['1000000', '0', '-1', 'x']))],
    () => ['GET', key('string')],
    () => ['MGET', ...some(KEYS)],
    () => ['RPUSH', key('list'), ...some(MEMBERS)],
    () => [
      'XADD',
      key('stream'),
      ...maybe('MAXLEN', one(['1', '3', '0'])),
      one(['1-1', '5-1', '5-2', '7-3', '9-1', '9', 'x']),
      ...pairs(MEMBERS, MEMBERS),
    ],
    () => ['XRANGE', key('stream'), one(IDS), one(IDS), ...maybe('COUNT', one(COUNTS))],
    () => ['XREVRANGE', key('stream'), one(IDS), one(IDS), ...maybe('COUNT', one(COUNTS))],
    () => ['XTRIM', key('stream'), 'MINID', one(['1', '5-2', '8', 'x'])],
    () => ['DEL', ...some(KEYS)],
    () => ['UNLINK', one(KEYS)],
    () => ['EXISTS', ...some(KEYS)],
    () => ['TYPE', one(KEYS)],
    () => ['PEXPIRE', one(KEYS), one(['1000000', '0', '-1', 'x'])],
  ];
  return one(commands)();
}
