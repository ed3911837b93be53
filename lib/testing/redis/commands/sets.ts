import { type Command, requireArguments } from './command.js';

export const SET_COMMANDS = {
  SADD(keys, args) {
    requireArguments('sadd', args, 2);
    const [key, ...members] = args;
    const set = keys.findOrMake(key!, 'set');
    const before = set.size;
    for (const member of members) set.add(member);
    return set.size - before;
  },

  SCARD: (keys, [key]) => keys.find(key!, 'set')?.size ?? 0,
  SISMEMBER: (keys, [key, member]) => Number(keys.find(key!, 'set')?.has(member!) ?? false),
  SMEMBERS: (keys, [key]) => [...(keys.find(key!, 'set') ?? [])],

  SMISMEMBER(keys, args) {
    requireArguments('smismember', args, 2);
    const set = keys.find(args[0]!, 'set');
    const found: number[] = [];
    for (let i = 1; i < args.length; i++) found.push(set?.has(args[i]!) ? 1 : 0);
    return found;
  },
} satisfies Record<string, Command>;
