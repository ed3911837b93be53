import { scoreText } from '../commands/score.js';
import { type Reply, ReplyError, Status } from '../reply.js';
import { isTable, LIST, type LuaResult, LuaTable, type LuaValue } from './table.js';

/** An argument of `redis.call`. */
export function toArgument(value: LuaValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return scoreText(value);
  throw new ReplyError('ERR Lua redis lib command arguments must be strings or integers');
}

/** What Lua is given of a reply. */
export function toLua(reply: Reply): LuaValue {
  if (typeof reply === 'string' || typeof reply === 'number') return reply;
  if (reply === null) return false;
  if (reply instanceof Status) return tableWith('ok', reply.text);
  return new LuaTable(reply.map(toLua));
}

function tableWith(field: string, value: string): LuaTable {
  const table = new LuaTable();
  table[field] = value;
  return table;
}

/** What Redis answers where a script returns this: numbers lose their fraction, and lists end before the first nil. Throws `ReplyError`. */
export function fromLua(result: LuaResult): Reply {
  const value = Array.isArray(result) ? result[0] : result;
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Math.trunc(value);
  if (value === true) return 1;
  if (!isTable(value)) return null;
  if (typeof value.err === 'string') throw new ReplyError(value.err);
  if (typeof value.ok === 'string') return new Status(value.ok);
  const list = value[LIST];
  const end = list.indexOf(undefined);
  return (end < 0 ? list : list.slice(0, end)).map(fromLua);
}
