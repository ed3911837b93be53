import type { ScriptName } from './embedded.js';

/** Bytes are a payload's. */
export type ScriptArgument = string | number | Buffer;

/** A script with the keys of one queue, and with the order of its arguments. The `contract.ts` of each folder makes them. */
export interface BoundScript<A, R> {
  readonly name: ScriptName;
  readonly keys: readonly string[];
  readonly encode: (args: A) => ScriptArgument[];
  /** For the compiler alone: what the script answers. */
  readonly reply?: R;
}

/** What is the same in all calls about one queue. Their caller adds it for the scripts that say `@given`. */
export interface GivenArguments {
  readonly clustered: boolean;
  readonly stealAfterMs: number;
  readonly keepEnded: string;
}

/** A script whose calls are numbered: its caller adds the key of its receipt, and the number before the arguments. */
export interface NumberedScript<A, R> extends Omit<BoundScript<A, R>, 'encode'> {
  readonly encode: (args: A, given: GivenArguments) => ScriptArgument[];
  readonly isNumbered: true;
}

/** How a reply is read. */
interface ReplyTraits {
  /** See `CallTraits`. */
  fromBytes?: (reply: unknown) => unknown;
}

/** What scripts are run by: the connection to Redis. */
interface Runner {
  run(
    name: ScriptName,
    keys: readonly string[],
    args: readonly ScriptArgument[],
    giveUpAt: number,
    traits?: ReplyTraits,
  ): Promise<unknown>;
}

/** Runs a script whose repetition needs no receipt. `giveUpAt` is a time of the link. Throws `QueueUnavailableError`. */
export async function ask<A, R>(
  runner: Runner,
  script: BoundScript<A, R>,
  args: A,
  giveUpAt: number,
  traits?: ReplyTraits,
): Promise<R> {
  return (await runner.run(script.name, script.keys, script.encode(args), giveUpAt, traits)) as R;
}
