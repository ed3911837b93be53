/** A value of Lua. Texts are bytes: each character stands for one. `nil` is `undefined`. */
export type LuaValue = undefined | boolean | number | string | LuaTable | LuaFunction;

/** What a function of Lua answers: several values are an array, which is no value of Lua itself. */
export type LuaResult = LuaValue | LuaValue[];
export type LuaFunction = (...args: LuaValue[]) => LuaResult;

/** The values at 1, 2, 3 and so on. */
export const LIST = Symbol('list');
/** What has keys of other kinds, numbers behind a gap among them. */
const OTHERS = Symbol('others');

/**
 * A table of Lua. What lies under a text is a property of that name, so that code made of Lua reads a field as fast as other JavaScript
 * does. There is no method and no prototype that could be taken for a field.
 */
export class LuaTable {
  [field: string]: LuaValue;
  readonly [LIST]: LuaValue[];
  [OTHERS]: Map<LuaValue, LuaValue> | undefined = undefined;

  constructor(list: LuaValue[] = []) {
    while (list.length > 0 && list[list.length - 1] === undefined) list.pop();
    this[LIST] = list;
  }
}

Reflect.deleteProperty(LuaTable.prototype, 'constructor');
Object.setPrototypeOf(LuaTable.prototype, null);

/** `instanceof` would ask the prototype, which a metatable changes. */
export function isTable(value: unknown): value is LuaTable {
  return typeof value === 'object' && value !== null && LIST in value;
}

export function listOf(value: LuaValue): LuaValue[] {
  if (!isTable(value)) throw new TypeError(`attempt to index a ${typeOf(value)} value`);
  return value[LIST];
}

export function typeOf(value: LuaValue): string {
  if (value === undefined) return 'nil';
  return isTable(value) ? 'table' : typeof value;
}

export function get(table: LuaValue, key: LuaValue): LuaValue {
  if (typeof key === 'string') return (table as LuaTable)[key];
  const list = (table as LuaTable)[LIST] ?? listOf(table);
  const value = typeof key === 'number' ? list[key - 1] : undefined;
  return value === undefined ? (table as LuaTable)[OTHERS]?.get(key) : value;
}

export function set(table: LuaValue, key: LuaValue, value: LuaValue): void {
  const list = (table as LuaTable)[LIST] ?? listOf(table);
  if (typeof key === 'string') (table as LuaTable)[key] = value;
  else if (typeof key !== 'number') setOther(table as LuaTable, key, value);
  else if (key === list.length + 1 && value !== undefined) append(table as LuaTable, value);
  else if (key >= 1 && key <= list.length && key % 1 === 0) {
    list[key - 1] = value;
    while (list.length > 0 && list[list.length - 1] === undefined) list.pop();
  } else setOther(table as LuaTable, key, value);
}

/** What stood behind a gap goes into the list once that is filled. */
function append(table: LuaTable, value: LuaValue): void {
  const list = table[LIST];
  list.push(value);
  const others = table[OTHERS];
  if (others === undefined) return;
  for (let next = others.get(list.length + 1); next !== undefined; next = others.get(list.length + 1)) {
    others.delete(list.length + 1);
    list.push(next);
  }
}

function setOther(table: LuaTable, key: LuaValue, value: LuaValue): void {
  if (key === undefined || Number.isNaN(key))
    throw new TypeError(`table index is ${key === undefined ? 'nil' : 'NaN'}`);
  if (value === undefined) table[OTHERS]?.delete(key);
  else {
    table[OTHERS] ??= new Map();
    table[OTHERS].set(key, value);
  }
}

/** All keys with their values. Lua promises no order; here it is that of the list, and then mostly that in which keys were added. */
export function* pairs(table: LuaValue): Generator<[LuaValue, LuaValue]> {
  const list = listOf(table);
  for (let i = 0; i < list.length; i++) if (list[i] !== undefined) yield [i + 1, list[i]];
  for (const key of Object.keys(table as LuaTable)) {
    const value = (table as LuaTable)[key];
    if (value !== undefined) yield [key, value];
  }
  yield* (table as LuaTable)[OTHERS] ?? [];
}

/** A key and its value, of a table that has any. */
export function next(table: LuaValue, after?: LuaValue): LuaResult {
  if (after !== undefined) throw new TypeError("'next' goes on behind no key here: use pairs");
  for (const pair of pairs(table)) return pair;
  return undefined;
}

/** Of metatables there is `__index`, as another table: fields that the table lacks are read there. */
export function setmetatable(table: LuaValue, metatable: LuaValue): LuaValue {
  const index = get(metatable, '__index');
  if (!isTable(table) || !isTable(index)) throw new TypeError('setmetatable knows __index alone, and that as a table');
  Object.setPrototypeOf(table, index);
  return table;
}
