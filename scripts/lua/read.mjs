import { readContract } from './contract.mjs';
import { LuaProblem } from './problem.mjs';

const LISTS = ['takes', 'gives', 'changes'];
/** Lines that a part has none of. */
const OF_A_SCRIPT = /^-- @(numbered|keys|node|returns|repeat)\b/;
const NAME = /^[A-Za-z_]\w*$/;

/**
 * A Lua file as the other modules use it: its lines, the parts that its `@needs` and `@include` lines name, in order, and the names in its
 * `@takes`, `@gives` and `@changes` lines: the `contract` of a part. Of a script its `header`, see contract.mjs. Throws `LuaProblem`, also
 * where a file has neither.
 */
export function readLua(file, text) {
  const lines = text.split('\n');
  const isScript = lines.some((line) => OF_A_SCRIPT.test(line));
  const read = {
    file,
    lines,
    named: [],
    contract: isScript ? undefined : { takes: new Map(), gives: new Map(), changes: new Map() },
    header: isScript ? readContract(file, lines) : undefined,
  };
  for (const [index, content] of read.lines.entries()) {
    const line = index + 1;
    const included = content.match(/^\s*-- @include (\S+)$/)?.[1];
    if (included) read.named.push({ line, file: included, isNeed: false });
    const needed = content.match(/^\s*-- @needs (.*)$/)?.[1];
    for (const each of needed?.split(', ') ?? []) read.named.push({ line, file: each, isNeed: true });
    const [, list, names] = content.match(/^-- @(\w+)\s+(.*)$/) ?? [];
    if (!LISTS.includes(list)) continue;
    if (isScript)
      throw new LuaProblem(file, line, `@${list} is for parts: what a script gets stands in @keys and @arg`);
    for (const name of names.split(',').map((each) => each.trim())) {
      if (!NAME.test(name))
        throw new LuaProblem(file, line, `@${list}: got '${name}', expected names with commas between them`);
      const other = LISTS.find((each) => read.contract[each].has(name));
      if (other) throw new LuaProblem(file, line, `'${name}' is in @${other} already; name it once`);
      read.contract[list].set(name, line);
    }
  }
  if (!isScript && read.named.length === 0 && LISTS.every((list) => read.contract[list].size === 0))
    throw new LuaProblem(
      file,
      1,
      'it says nothing of what it needs, takes and gives: add @needs, @takes, @gives or @changes',
    );
  return read;
}

/** Reads scripts and, once each, the parts that they include. `readText` gives the text of a file, undefined where there is none. */
export class Sources {
  #files = new Map();
  #rows = new Map();
  #needs = new Map();
  #readText;

  constructor(readText) {
    this.#readText = readText;
  }

  get(file, from = { file, line: 1 }) {
    let read = this.#files.get(file);
    if (!read) {
      const text = this.#readText(file);
      if (text === undefined) throw new LuaProblem(from.file, from.line, `there is no ${file}`);
      read = readLua(file, text);
      this.#files.set(file, read);
    }
    return read;
  }

  /**
   * The rows of a file: `{ line, text }`, or `{ line, part }` where a part stands in the place of the line that names it. In a script each
   * part that is needed stands before the first part or line that needs it, once; rows of these have `isNeed`. A part has no such rows:
   * what it needs stands in the script.
   */
  rowsOf(file) {
    if (!this.#rows.has(file)) this.#rows.set(file, [...this.#makeRows(file)]);
    return this.#rows.get(file);
  }

  *#makeRows(file) {
    const { lines, named, header } = this.get(file);
    // By the indent of their lines: what a block declares ends with it.
    const placed = new Map();
    const isOpen = new Set();
    for (const [index, text] of lines.entries()) {
      const line = index + 1;
      const indent = text.search(/\S/);
      for (const each of isOpen) if (indent >= 0 && placed.get(each) > indent) isOpen.delete(each);
      const parts = named.filter((each) => each.line === line);
      if (parts.length === 0) yield { line, text };
      for (const part of parts) {
        const needs = this.needsOf(part.file, { file, line });
        for (const need of header ? [...needs, ...(part.isNeed ? [part.file] : [])] : []) {
          if (isOpen.has(need)) continue;
          if (placed.has(need))
            throw new LuaProblem(
              file,
              line,
              `${need} is needed in a block above and here: name it in @needs before both`,
            );
          placed.set(need, indent);
          isOpen.add(need);
          yield { line, part: this.get(need), isNeed: true };
        }
        if (!part.isNeed) yield { line, part: this.get(part.file) };
      }
    }
  }

  /**
   * The parts that must stand before this one: those that it and the parts in it need, each behind its own. Throws where a part would
   * need or include itself.
   */
  needsOf(file, from, under = []) {
    if (this.#needs.has(file)) return this.#needs.get(file);
    const needs = new Set();
    const path = [...under, file];
    for (const { line, file: other, isNeed } of this.get(file, from).named) {
      if (path.includes(other))
        throw new LuaProblem(
          file,
          line,
          `${other} would ${isNeed ? 'need' : 'include'} itself: ${[...path.slice(path.indexOf(other)), other].join(' > ')}`,
        );
      for (const need of this.needsOf(other, { file, line }, path)) needs.add(need);
      if (isNeed) needs.add(other);
    }
    this.#needs.set(file, [...needs]);
    return this.#needs.get(file);
  }
}
