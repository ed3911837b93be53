import type { ScriptName } from '../../store/redis/scripts/embedded.js';
import type { Command } from './commands/command.js';
import { COMMANDS } from './commands/index.js';
import { Keyspace } from './keyspace.js';
import { type Calls, type Program, placeOf, programOf } from './lua/program.js';
import { fromLua, tableWith, toArguments, toLua } from './lua/replies.js';
import { LuaTable, type LuaValue } from './lua/table.js';
import { type Reply, ReplyError } from './reply.js';

export type Receiver = (message: string) => void;

/** Told of each command of a script before it runs. */
export type Watch = (command: string, args: readonly string[]) => void;

/**
 * What the scripts need of Redis, in this process: keys that expire by a clock that is handed down, the commands that they name, and
 * messages to who listens. The scripts themselves are those of production, as JavaScript. All texts are bytes, a character each.
 */
export class SmallRedis {
  private readonly keys: Keyspace;
  private readonly channels = new Map<string, Set<Receiver>>();
  private readonly calls: Calls;
  private watch?: Watch;

  /** `now`: its time, epoch ms and fractions. */
  constructor(now: () => number) {
    this.keys = new Keyspace(now);
    this.calls = this.callsOfScripts();
  }

  /** Runs a command. Throws `ReplyError`. */
  command(name: string, args: readonly string[]): Reply {
    if (name === 'PUBLISH') return this.publish(args[0]!, args[1]!);
    const command = COMMANDS[name] ?? COMMANDS[name.toUpperCase()];
    if (!command) throw new ReplyError(`ERR unknown command '${name}'`);
    return command(this.keys, args);
  }

  /** Runs a script as EVAL does. What it has written before it fails stays. Throws `ReplyError`. */
  run(script: ScriptName, keys: string[], args: string[], watch?: Watch): Reply {
    this.watch = watch;
    try {
      return this.evaluate(programOf(script), keys, args);
    } catch (error) {
      throw asReply(error as Error, script);
    }
  }

  /** The same for a program that is none of the queue's scripts; its errors are told as they are. */
  evaluate(program: Program, keys: string[], args: string[]): Reply {
    return fromLua(program(new LuaTable(keys), new LuaTable(args), this.calls));
  }

  /** The keys that begin so. */
  keysWith(begin: string): Generator<string> {
    return this.keys.keysWith(begin);
  }

  subscribe(channel: string, receiver: Receiver): void {
    const receivers = this.channels.get(channel) ?? new Set();
    this.channels.set(channel, receivers.add(receiver));
  }

  unsubscribe(channel: string, receiver: Receiver): void {
    const receivers = this.channels.get(channel);
    receivers?.delete(receiver);
    if (receivers?.size === 0) this.channels.delete(channel);
  }

  private callsOfScripts(): Calls {
    const call = ([name, ...args]: LuaValue[]) => {
      const [command, ...given] = toArguments([name, ...args]);
      this.watch?.(command!, given);
      return toLua(this.command(command!, given));
    };
    const pcall = (args: LuaValue[]) => {
      try {
        return call(args);
      } catch (error) {
        return tableWith('err', (error as Error).message);
      }
    };
    const named = (name: string, command: Command) => (args: LuaValue[]) => {
      const given = toArguments(args);
      this.watch?.(name, given);
      return toLua(command(this.keys, given));
    };
    const calls: Record<string, Calls[string]> = {
      PUBLISH: named('PUBLISH', (_, args) => this.command('PUBLISH', args)),
    };
    for (const [name, command] of Object.entries(COMMANDS)) calls[name] = named(name, command);
    return Object.assign(calls, { call, pcall });
  }

  /** Answers how many will hear it. They hear it once the script is over. */
  private publish(channel: string, message: string): number {
    const receivers = this.channels.get(channel) ?? [];
    let count = 0;
    for (const receiver of receivers) {
      count++;
      void Promise.resolve().then(() => this.channels.get(channel)?.has(receiver) && receiver(message));
    }
    return count;
  }
}

/** An error says in which line of Lua it was thrown. */
function asReply(error: Error, script: ScriptName): ReplyError {
  const place = placeOf(error);
  if (!place) return error as ReplyError;
  const message = error instanceof ReplyError ? error.message : `ERR ${error.message}`;
  return Object.assign(new ReplyError(`${message} script: ${script}, on ${place}.`), { cause: error });
}
