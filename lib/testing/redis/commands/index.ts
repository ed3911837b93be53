import type { CommandOfScripts } from '../lua/programs.js';
import { type Command } from './command.js';
import { HASH_COMMANDS } from './hashes.js';
import { KEY_COMMANDS } from './keys.js';
import { LIST_COMMANDS } from './lists.js';
import { SET_COMMANDS } from './sets.js';
import { SORTED_SET_COMMANDS } from './sorted-sets.js';
import { STREAM_COMMANDS } from './streams.js';
import { STRING_COMMANDS } from './strings.js';

/** By their names in capitals, all that scripts name; PUBLISH needs more than keys. */
export const COMMANDS: Record<Exclude<CommandOfScripts, 'PUBLISH'>, Command> & Record<string, Command> = {
  ...KEY_COMMANDS,
  ...STRING_COMMANDS,
  ...HASH_COMMANDS,
  ...SET_COMMANDS,
  ...LIST_COMMANDS,
  ...SORTED_SET_COMMANDS,
  ...STREAM_COMMANDS,
};
