import type { Command } from './command.js';
import { queues } from './commands/queues.js';
import { stats } from './commands/stats.js';

/** By name, in the order of help. */
export const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>(Object.entries({ queues, stats }));
