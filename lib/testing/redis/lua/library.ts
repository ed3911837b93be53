import { createHash } from 'node:crypto';
import * as lists from './lists.js';
import { tonumber } from './numbers.js';
import * as operators from './operators.js';
import * as strings from './strings.js';
import * as tables from './table.js';
import { type LuaResult, LuaTable, type LuaValue } from './table.js';

function tableOf(field: string, value: LuaValue): LuaTable {
  const table = new LuaTable();
  tables.set(table, field, value);
  return table;
}

const number = (value: LuaValue): number => operators.bound(value);

/** Of texts alone, as the scripts use it. */
function encode(value: LuaValue): string {
  if (typeof value !== 'string') throw new TypeError(`cjson.encode: got a ${tables.typeOf(value)}, expected a string`);
  // As cjson does: a slash is escaped, and so is DEL; bytes beyond ASCII go over as they are.
  return JSON.stringify(value).replaceAll('/', '\\/').replaceAll('\x7f', '\\u007f');
}

/** What a script made of Lua finds under these names, with a `$` before each: operators, and Lua's library. See scripts/lua/js. */
export const LIBRARY = {
  Table: LuaTable,
  get: tables.get,
  set: tables.set,
  at: tables.at,
  push: tables.push,
  keysOf: tables.keysOf,
  listOf: tables.listOf,
  ...operators,
  tonumber,
  tostring: strings.tostring,
  type: tables.typeOf,
  next: tables.next,
  setmetatable: tables.setmetatable,
  unpack: lists.unpack,
  select: (from: LuaValue, ...values: LuaValue[]): LuaResult =>
    from === '#' ? values.length : values.slice(number(from) - 1),
  string_match: strings.match,
  string_find: strings.find,
  captures: strings.captures,
  matchOne: strings.matchOne,
  findFrom: strings.findFrom,
  string_gmatch: strings.gmatch,
  string_gsub: strings.gsub,
  string_sub: strings.sub,
  string_byte: strings.byte,
  string_rep: strings.rep,
  string_len: strings.len,
  string_lower: strings.lower,
  string_upper: strings.upper,
  string_format: strings.format,
  table_insert: lists.insert,
  table_remove: lists.remove,
  table_concat: lists.concat,
  table_sort: lists.sort,
  math_floor: (value: LuaValue) => Math.floor(number(value)),
  math_ceil: (value: LuaValue) => Math.ceil(number(value)),
  math_abs: (value: LuaValue) => Math.abs(number(value)),
  math_min: (first: LuaValue, ...others: LuaValue[]) =>
    others.reduce<number>((a, b) => Math.min(a, number(b)), number(first)),
  math_max: (first: LuaValue, ...others: LuaValue[]) =>
    others.reduce<number>((a, b) => Math.max(a, number(b)), number(first)),
  cjson_encode: encode,
  redis_error_reply: (message: LuaValue) => tableOf('err', message),
  redis_status_reply: (message: LuaValue) => tableOf('ok', message),
  redis_sha1hex: (value: LuaValue) =>
    createHash('sha1')
      .update(Buffer.from(operators.text(value), 'latin1'))
      .digest('hex'),
};
