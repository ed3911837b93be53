import { scoreText } from '../commands/score.js';
import { type Reply, ReplyError, Status } from '../reply.js';
import { isTable, type LuaResult, LuaTable, type LuaValue, set } from './table.js';

/** The arguments of `redis.call`, in their place. */
export function toArguments(values: LuaValue[]): string[] {
  for (let i = 0; i < values.length; i++) if (typeof values[i] !== 'string') values[i] = toArgument(values[i]);
  return values as string[];
}

function toArgument(value: LuaValue): string {
  if (typeof value === 'number') return scoreText(value);
  if (typeof value === 'string') return value;
  throw new ReplyError('ERR Lua redis lib command arguments must be strings or integers');
}

/** What Lua is given of a reply. A list becomes the list of the table, so it must be nobody else's. */
export function toLua(reply: Reply): LuaValue {
  if (typeof reply === 'string' || typeof reply === 'number') return reply;
  if (reply === null) return false;
  if (reply instanceof Status) return tableWith('ok', reply.text);
  const list = reply as (Reply | LuaValue)[];
  for (let i = 0; i < list.length; i++) if (typeof list[i] !== 'string') list[i] = toLua(list[i] as Reply);
  return new LuaTable(list as LuaValue[]);
}

export function tableWith(field: string, value: string): LuaTable {
  const table = new LuaTable();
  set(table, field, value);
  return table;
}

type Told = LuaTable & { readonly err?: LuaValue; readonly ok?: LuaValue };

/** What Redis answers where a script returns this: numbers lose their fraction, and lists end before the first nil. Throws `ReplyError`. */
export function fromLua(result: LuaResult): Reply {
  const value = Array.isArray(result) ? result[0] : result;
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Math.trunc(value);
  if (value === true) return 1;
  if (!isTable(value)) return null;
  const { err, ok } = value as Told;
  if (typeof err === 'string') throw new ReplyError(err);
  if (typeof ok === 'string') return new Status(ok);
  const replies: Reply[] = [];
  for (const each of value.$list) {
    if (each === undefined) break;
    replies.push(typeof each === 'string' ? each : fromLua(each));
  }
  return replies;
}
