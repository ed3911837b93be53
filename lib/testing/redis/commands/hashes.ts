import { ReplyError } from '../reply.js';
import { type Command, integerOf, requireArguments } from './command.js';
import { scan } from './scan.js';

export const HASH_COMMANDS = {
  HGET: (keys, args) => keys.find(args[0]!, 'hash')?.get(args[1]!) ?? null,
  HLEN: (keys, args) => keys.find(args[0]!, 'hash')?.size ?? 0,
  HEXISTS: (keys, args) => Number(keys.find(args[0]!, 'hash')?.has(args[1]!) ?? false),
  HGETALL: (keys, [key]) => [...(keys.find(key!, 'hash') ?? [])].flat(),

  HMGET(keys, args) {
    requireArguments('hmget', args, 2);
    const hash = keys.find(args[0]!, 'hash');
    const values: (string | null)[] = [];
    for (let i = 1; i < args.length; i++) values.push(hash?.get(args[i]!) ?? null);
    return values;
  },

  HSET(keys, args) {
    requireArguments('hset', args, 3, 1);
    const hash = keys.findOrMake(args[0]!, 'hash');
    const before = hash.size;
    for (let i = 1; i < args.length; i += 2) hash.set(args[i]!, args[i + 1]!);
    return hash.size - before;
  },

  HDEL(keys, args) {
    requireArguments('hdel', args, 2);
    const hash = keys.find(args[0]!, 'hash');
    if (!hash) return 0;
    let deleted = 0;
    for (let i = 1; i < args.length; i++) if (hash.delete(args[i]!)) deleted++;
    keys.dropIfEmpty(args[0]!, hash.size);
    return deleted;
  },

  HINCRBY(keys, args) {
    requireArguments('hincrby', args, 3);
    const added = integerOf(args[2]);
    const known = keys.find(args[0]!, 'hash')?.get(args[1]!) ?? '0';
    if (!/^-?\d+$/.test(known)) throw new ReplyError('ERR hash value is not an integer');
    const value = Number(known) + added;
    keys.findOrMake(args[0]!, 'hash').set(args[1]!, String(value));
    return value;
  },

  HSCAN: (keys, args) =>
    scan(
      keys,
      args,
      'hash',
      (hash) => hash.keys(),
      (hash, field) => (hash.has(field) ? [field, hash.get(field)!] : []),
    ),
} satisfies Record<string, Command>;
