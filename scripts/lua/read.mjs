import { readContract } from './contract.mjs';
import { LuaProblem } from './problem.mjs';

const LISTS = ['takes', 'gives', 'changes'];
const NAME = /^[A-Za-z_]\w*$/;

/**
 * A Lua file as the other modules need it: its lines, its `@include` lines, and the names in its `@takes`, `@gives` and `@changes`
 * lines: the `contract` of a part. Of a script its `header`, see contract.mjs. Throws `LuaProblem`, also where a file has neither.
 */
export function readLua(file, text) {
  const lines = text.split('\n');
  const isScript = !file.includes('/');
  const read = {
    file,
    lines,
    includes: [],
    contract: isScript ? undefined : { takes: new Map(), gives: new Map(), changes: new Map() },
    header: isScript ? readContract(file, lines) : undefined,
  };
  for (const [index, content] of read.lines.entries()) {
    const line = index + 1;
    const included = content.match(/^\s*-- @include (\S+)$/)?.[1];
    if (included) read.includes.push({ line, file: included });
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
  if (!isScript && LISTS.every((list) => read.contract[list].size === 0))
    throw new LuaProblem(file, 1, 'it says nothing of what it takes and gives: add @takes, @gives or @changes');
  return read;
}

/** Reads scripts and, once each, the parts that they include. `readText` gives the text of a file, undefined where there is none. */
export class Sources {
  #files = new Map();
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

  /** The files that this one includes, with the line of each. Throws where one of them would include itself. */
  includesOf(file, under = []) {
    const read = this.get(file);
    return read.includes.map(({ line, file: part }) => {
      if (part === file || under.includes(part)) throw new LuaProblem(file, line, `${part} would include itself`);
      return { line, part: this.get(part, { file, line }) };
    });
  }
}
