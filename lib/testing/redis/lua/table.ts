import { FIELDS } from './programs.js';

/** A value of Lua. Texts are bytes: each character stands for one. `nil` is `undefined`. */
export type LuaValue = undefined | boolean | number | string | LuaTable | LuaFunction;

/** What a function of Lua answers: several values are an array, which is no value of Lua itself. */
export type LuaResult = LuaValue | LuaValue[];
export type LuaFunction = (...args: LuaValue[]) => LuaResult;

type Fields = Record<string, LuaValue>;

/**
 * A table of Lua. What lies under a name that some script writes behind a point is a property of that name, so that such code is as fast as
 * other JavaScript. There is no method and no prototype that could be taken for a field, and no name of Lua begins with `$`.
 */
export class LuaTable {
  /** The values at 1, 2, 3 and so on; the last one is not nil. */
  readonly $list: LuaValue[];
  /** What has keys of other kinds, numbers behind a gap among them. A text as a property would be a new kind of object to the engine. */
  $others: Map<LuaValue, LuaValue> | undefined = undefined;

  constructor(list: LuaValue[] = []) {
    while (list.length > 0 && list[list.length - 1] === undefined) list.pop();
    this.$list = list;
  }
}

Reflect.deleteProperty(LuaTable.prototype, 'constructor');
Object.setPrototypeOf(LuaTable.prototype, null);

const fieldsOf = (table: LuaValue) => table as unknown as Fields;

/** Of values of Lua: nothing else is an object there. */
export const isTable = (value: LuaValue): value is LuaTable => typeof value === 'object';

export function listOf(value: LuaValue): LuaValue[] {
  if (!isTable(value)) throw new TypeError(`attempt to index a ${typeOf(value)} value`);
  return value.$list;
}

export function typeOf(value: LuaValue): string {
  if (value === undefined) return 'nil';
  return isTable(value) ? 'table' : typeof value;
}

export function get(table: LuaValue, key: LuaValue): LuaValue {
  if (typeof key === 'number') return at(table, key);
  if (typeof key === 'string' && FIELDS.has(key)) return fieldsOf(table)[key];
  return ((table as LuaTable).$list === undefined ? others(table) : (table as LuaTable).$others)?.get(key);
}

/** The same for a number. */
export function at(table: LuaValue, index: number): LuaValue {
  const list = (table as LuaTable).$list ?? listOf(table);
  if (index >= 1 && index <= list.length) {
    const value = list[index - 1];
    if (value !== undefined) return value;
  }
  return (table as LuaTable).$others?.get(index);
}

/** Throws where it is no table. */
function others(table: LuaValue): LuaTable['$others'] {
  listOf(table);
  return (table as LuaTable).$others;
}

export function set(table: LuaValue, key: LuaValue, value: LuaValue): void {
  const list = (table as LuaTable).$list ?? listOf(table);
  if (typeof key !== 'number') {
    if (typeof key === 'string' && FIELDS.has(key)) fieldsOf(table)[key] = value;
    else setOther(table as LuaTable, key, value);
  } else if (key === list.length + 1 && value !== undefined) append(table as LuaTable, value);
  else if (key >= 1 && key <= list.length && key % 1 === 0) {
    list[key - 1] = value;
    while (list.length > 0 && list[list.length - 1] === undefined) list.pop();
  } else setOther(table as LuaTable, key, value);
}

/** `t[#t + 1] = value`. */
export function push(table: LuaValue, value: LuaValue): void {
  if (value !== undefined) append(table as LuaTable, value);
  else listOf(table);
}

/** What stood behind a gap goes into the list once that is filled. */
function append(table: LuaTable, value: LuaValue): void {
  const list = table.$list;
  list.push(value);
  const behind = table.$others;
  if (behind === undefined) return;
  for (let next = behind.get(list.length + 1); next !== undefined; next = behind.get(list.length + 1)) {
    behind.delete(list.length + 1);
    list.push(next);
  }
}

function setOther(table: LuaTable, key: LuaValue, value: LuaValue): void {
  if (key === undefined || Number.isNaN(key))
    throw new TypeError(`table index is ${key === undefined ? 'nil' : 'NaN'}`);
  if (value === undefined) table.$others?.delete(key);
  else {
    table.$others ??= new Map();
    table.$others.set(key, value);
  }
}

/** The fields of a table; the two that hold the rest stand first. */
const namesOf = (table: LuaTable) => Object.keys(table).slice(2);

/**
 * All keys. Lua promises no order; here it is that of the list, and then mostly that in which keys were added. The value of a key is to be read
 * when it is come to, and may be nil by then.
 */
export function keysOf(table: LuaValue): LuaValue[] {
  const keys: LuaValue[] = [];
  const { length } = listOf(table);
  for (let i = 1; i <= length; i++) keys.push(i);
  for (const name of namesOf(table as LuaTable)) keys.push(name);
  const { $others } = table as LuaTable;
  if ($others !== undefined) for (const key of $others.keys()) keys.push(key);
  return keys;
}

/** A key of a table that has any: `next(table)`. */
export function next(table: LuaValue, after?: LuaValue): LuaValue {
  if (after !== undefined) throw new TypeError("'next' goes on behind no key here: use pairs");
  if (listOf(table)[0] !== undefined) return 1;
  const { $others } = table as LuaTable;
  if ($others !== undefined && $others.size > 0) for (const key of $others.keys()) return key;
  for (const key of keysOf(table)) if (get(table, key) !== undefined) return key;
  return undefined;
}

/** Of metatables there is `__index`, as another table: fields that the table lacks are read there. */
export function setmetatable(table: LuaValue, metatable: LuaValue): LuaValue {
  const index = get(metatable, '__index');
  if (!isTable(table) || !isTable(index) || index.$list.length > 0 || index.$others !== undefined)
    throw new TypeError('setmetatable knows __index alone, and that as a table of named fields');
  Object.setPrototypeOf(table, index);
  return table;
}
