import type { Keyspace } from '../keyspace.js';
import { type Reply, ReplyError, syntaxError } from '../reply.js';
import { integerOf } from './command.js';

const DEFAULT_COUNT = 10;

/**
 * HSCAN or ZSCAN of a key of this kind; MATCH is not known here. `told`: a member with what belongs to it, nothing where it is gone. As in Redis,
 * options are read only where the key is there.
 */
export function scan<K extends 'hash' | 'zset'>(
  keys: Keyspace,
  [key, cursor, ...options]: readonly string[],
  kind: K,
  names: (value: NonNullable<ReturnType<typeof keys.find<K>>>) => Iterable<string>,
  told: (value: NonNullable<ReturnType<typeof keys.find<K>>>, name: string) => string[],
): Reply {
  if (!/^\d+$/.test(cursor ?? '')) throw new ReplyError('ERR invalid cursor');
  const value = keys.find(key!, kind);
  if (!value) return ['0', []];
  const step = keys.walks.step(cursor!, readCount(options), () => names(value));
  return [step.cursor, step.names.flatMap((name) => told(value, name))];
}

function readCount(options: readonly string[]): number {
  if (options.length === 0) return DEFAULT_COUNT;
  const count = integerOf(options[1]);
  if (options.length !== 2 || options[0]!.toUpperCase() !== 'COUNT' || count < 1) throw syntaxError();
  return count;
}
