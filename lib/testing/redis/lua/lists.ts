import { toNumber } from './numbers.js';
import { first as firstOf, isTrue, lt, text } from './operators.js';
import { get, type LuaFunction, type LuaValue, listOf, set } from './table.js';

/** Lua's `table`, and what else there is for lists. */

export function unpack(table: LuaValue, from: LuaValue = 1, to?: LuaValue): LuaValue[] {
  const list = listOf(table);
  const begin = toNumber(from)!;
  const end = to === undefined ? list.length : toNumber(to)!;
  if (begin === 1 && end === list.length) return list;
  if (begin >= 1 && end <= list.length) return list.slice(begin - 1, Math.max(end, begin - 1));
  const values: LuaValue[] = [];
  for (let i = begin; i <= end; i++) values.push(get(table, i));
  return values;
}

export function insert(table: LuaValue, place: LuaValue, value?: LuaValue, ...more: LuaValue[]): void {
  const list = listOf(table);
  if (more.length > 0) throw new TypeError("wrong number of arguments to 'insert'");
  if (value === undefined) set(table, list.length + 1, place);
  else list.splice(toNumber(place)! - 1, 0, value);
}

export function remove(table: LuaValue, place?: LuaValue): LuaValue {
  const list = listOf(table);
  const at = place === undefined ? list.length : toNumber(place)!;
  if (at < 1 || at > list.length) return undefined;
  return list.splice(at - 1, 1)[0];
}

export function concat(table: LuaValue, separator: LuaValue = '', from: LuaValue = 1, to?: LuaValue): string {
  const list = listOf(table);
  const end = to === undefined ? list.length : toNumber(to)!;
  return list
    .slice(toNumber(from)! - 1, end)
    .map(text)
    .join(text(separator));
}

/**
 * Sorts as Lua 5.1 does, step by step: in which order equal ones come out depends on the way, and a script may show it.
 */
export function sort(table: LuaValue, compare?: LuaValue): void {
  const list = listOf(table);
  const isBefore =
    compare === undefined ? lt : (a: LuaValue, b: LuaValue) => isTrue(firstOf((compare as LuaFunction)(a, b)));
  sortPart(list, 0, list.length - 1, isBefore);
}

function sortPart(list: LuaValue[], from: number, to: number, isBefore: (a: LuaValue, b: LuaValue) => boolean): void {
  const swapIfAfter = (low: number, high: number) => {
    if (isBefore(list[high], list[low])) swap(list, low, high);
  };
  let [low, high] = [from, to];
  while (low < high) {
    swapIfAfter(low, high);
    if (high - low === 1) return;
    const middle = Math.floor((low + high) / 2);
    if (isBefore(list[middle], list[low])) swap(list, middle, low);
    else swapIfAfter(middle, high);
    if (high - low === 2) return;
    const pivot = list[middle];
    swap(list, middle, high - 1);
    let i = low;
    let j = high - 1;
    for (;;) {
      while (isBefore(list[++i], pivot)) if (i > high) throw new TypeError('invalid order function for sorting');
      while (isBefore(pivot, list[--j])) if (j < low) throw new TypeError('invalid order function for sorting');
      if (j < i) break;
      swap(list, i, j);
    }
    swap(list, high - 1, i);
    // The smaller part first, the larger one in this loop.
    if (i - low < high - i) {
      sortPart(list, low, i - 1, isBefore);
      low = i + 1;
    } else {
      sortPart(list, i + 1, high, isBefore);
      high = i - 1;
    }
  }
}

function swap(list: LuaValue[], i: number, j: number): void {
  [list[i], list[j]] = [list[j], list[i]];
}
