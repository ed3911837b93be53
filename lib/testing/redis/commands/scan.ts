import { ReplyError, syntaxError } from '../reply.js';
import { integerOf } from './command.js';

const DEFAULT_COUNT = 10;

/** The arguments of HSCAN and ZSCAN; MATCH is not known here. */
export function readScan([key, cursor, ...options]: readonly string[]): { key: string; cursor: string; count: number } {
  if (!/^\d+$/.test(cursor ?? '')) throw new ReplyError('ERR invalid cursor');
  if (options.length === 0) return { key: key!, cursor: cursor!, count: DEFAULT_COUNT };
  const count = integerOf(options[1]);
  if (options.length !== 2 || options[0]!.toUpperCase() !== 'COUNT' || count < 1) throw syntaxError();
  return { key: key!, cursor: cursor!, count };
}
