import type { Keyspace } from '../keyspace.js';
import { notAnInteger, type Reply, ReplyError } from '../reply.js';

/** A command of Redis. `args` stand behind its name. */
export type Command = (keys: Keyspace, args: readonly string[]) => Reply;

export function integerOf(text: string | undefined): number {
  if (text === '0') return 0;
  if (text === undefined || !/^-?\d+$/.test(text) || !Number.isSafeInteger(Number(text))) throw notAnInteger();
  return Number(text);
}

/** Throws where there are fewer, or where the last ones are no pairs. */
export function requireArguments(name: string, args: readonly string[], least: number, pairsFrom?: number): void {
  if (args.length < least || (pairsFrom !== undefined && (args.length - pairsFrom) % 2 !== 0))
    throw new ReplyError(`ERR wrong number of arguments for '${name}' command`);
}
