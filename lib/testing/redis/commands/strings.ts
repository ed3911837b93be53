import { OK, ReplyError, syntaxError } from '../reply.js';
import { type Command, integerOf } from './command.js';

export const STRING_COMMANDS = {
  GET: (keys, [key]) => keys.find(key!, 'string')?.text ?? null,
  MGET: (keys, args) => args.map((key) => (keys.kindOf(key) === 'string' ? keys.find(key, 'string')!.text : null)),

  SET(keys, [key, text, ...options]) {
    let expiresAt = Number.POSITIVE_INFINITY;
    if (options.length > 0) {
      if (options.length !== 2 || options[0]!.toUpperCase() !== 'PX') throw syntaxError();
      const ms = integerOf(options[1]);
      if (ms <= 0) throw new ReplyError("ERR invalid expire time in 'set' command");
      expiresAt = keys.now() + ms;
    }
    keys.delete(key!);
    keys.findOrMake(key!, 'string').text = text!;
    keys.expire(key!, expiresAt);
    return OK;
  },
} satisfies Record<string, Command>;
