import { ReplyError } from '../reply.js';
import { type Command, inPairs, integerOf, requireArguments } from './command.js';
import { readScan } from './scan.js';

export const HASH_COMMANDS = {
  HGET: (keys, [key, field]) => keys.find(key!, 'hash')?.get(field!) ?? null,
  HLEN: (keys, [key]) => keys.find(key!, 'hash')?.size ?? 0,
  HEXISTS: (keys, [key, field]) => Number(keys.find(key!, 'hash')?.has(field!) ?? false),
  HGETALL: (keys, [key]) => [...(keys.find(key!, 'hash') ?? [])].flat(),

  HMGET(keys, args) {
    requireArguments('hmget', args, 2);
    const [key, ...fields] = args;
    const hash = keys.find(key!, 'hash');
    return fields.map((field) => hash?.get(field) ?? null);
  },

  HSET(keys, args) {
    requireArguments('hset', args, 3, 1);
    const [key, ...fields] = args;
    const hash = keys.findOrMake(key!, 'hash');
    const before = hash.size;
    for (const [field, value] of inPairs(fields)) hash.set(field, value);
    return hash.size - before;
  },

  HDEL(keys, args) {
    requireArguments('hdel', args, 2);
    const [key, ...fields] = args;
    const hash = keys.find(key!, 'hash');
    if (!hash) return 0;
    const deleted = fields.filter((field) => hash.delete(field)).length;
    keys.dropIfEmpty(key!, hash.size);
    return deleted;
  },

  HINCRBY(keys, args) {
    requireArguments('hincrby', args, 3);
    const [key, field, by] = args;
    const added = integerOf(by);
    const known = keys.find(key!, 'hash')?.get(field!) ?? '0';
    if (!/^-?\d+$/.test(known)) throw new ReplyError('ERR hash value is not an integer');
    const value = Number(known) + added;
    keys.findOrMake(key!, 'hash').set(field!, String(value));
    return value;
  },

  HSCAN(keys, args) {
    const { key, cursor, count } = readScan(args);
    const hash = keys.find(key, 'hash');
    const { cursor: next, names } = keys.walks.step(cursor, count, () => hash?.keys() ?? []);
    return [next, names.flatMap((field) => (hash?.has(field) ? [field, hash.get(field)!] : []))];
  },
} satisfies Record<string, Command>;
