import { OK, ReplyError, syntaxError } from '../reply.js';
import { type Command, integerOf } from './command.js';

export const STRING_COMMANDS = {
  GET: (keys, args) => keys.find(args[0]!, 'string')?.text ?? null,
  MGET: (keys, args) => args.map((key) => (keys.kindOf(key) === 'string' ? keys.find(key, 'string')!.text : null)),

  SET(keys, args) {
    let expiresAt = Number.POSITIVE_INFINITY;
    if (args.length > 2) {
      if (args.length !== 4 || args[2]!.toUpperCase() !== 'PX') throw syntaxError();
      const ms = integerOf(args[3]);
      if (ms <= 0) throw new ReplyError("ERR invalid expire time in 'set' command");
      expiresAt = keys.now() + ms;
    }
    keys.put(args[0]!, args[1]!, expiresAt);
    return OK;
  },
} satisfies Record<string, Command>;
