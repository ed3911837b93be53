import { Status } from '../reply.js';
import { type Command, integerOf } from './command.js';

const remove: Command = (keys, args) => args.filter((key) => keys.delete(key)).length;

export const KEY_COMMANDS = {
  DEL: remove,
  UNLINK: remove,
  EXISTS(keys, args) {
    let count = 0;
    for (const key of args) if (keys.kindOf(key) !== undefined) count++;
    return count;
  },

  TYPE: (keys, [key]) => new Status(keys.kindOf(key!) ?? 'none'),

  PEXPIRE(keys, [key, ms]) {
    const at = keys.now() + integerOf(ms);
    if (at > keys.now()) return Number(keys.expire(key!, at));
    return Number(keys.delete(key!));
  },

  TIME(keys) {
    const micros = Math.floor(keys.now() * 1_000);
    return [String(Math.floor(micros / 1_000_000)), String(micros % 1_000_000)];
  },
} satisfies Record<string, Command>;
