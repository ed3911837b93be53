import { type Command, requireArguments } from './command.js';

export const LIST_COMMANDS = {
  RPUSH(keys, args) {
    requireArguments('rpush', args, 2);
    const [key, ...elements] = args;
    return keys.findOrMake(key!, 'list').push(...elements);
  },
} satisfies Record<string, Command>;
