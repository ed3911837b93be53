import { givenBy } from './contract.mjs';
import { Facts } from './js/facts.mjs';
import { inPieces } from './js/lines.mjs';
import { Names } from './js/names.mjs';
import { parse } from './js/parse.mjs';
import { PART_STATEMENT, Statements } from './js/statements.mjs';
import { LuaProblem } from './problem.mjs';

/**
 * The scripts as JavaScript, which the test kit runs. Answers
 * - `programs`: by script, its pieces in order: { file, line, code }. A line of code stands for the line of Lua at the same distance from
 *   `line`. As in emit-lua.mjs, a part makes the same pieces in every script that includes it, and of one that the script goes without an error is left.
 * - `patterns`: the regular expressions that the code names by their index
 * - `commands`: the commands of Redis that the scripts name
 * - `fields`: the names of fields that the scripts write behind a point
 *
 * Throws `LuaProblem` where a script uses what the kit cannot run. `declaredAt` and `names` are what `check` answers.
 */
export function emitJs(sources, scripts, { declaredAt, names }) {
  const emitter = new Emitter(sources, declaredAt, names);
  emitter.learn(scripts);
  const programs = new Map(scripts.map((script) => [script, emitter.script(script)]));
  return {
    programs,
    patterns: emitter.patterns.all,
    commands: [...emitter.commands].sort(),
    fields: [...emitter.fields].sort(),
  };
}

/** Regular expressions, each once. */
class Patterns {
  #indexes = new Map();

  get all() {
    return [...this.#indexes.keys()];
  }

  indexOf(source) {
    if (!this.#indexes.has(source)) this.#indexes.set(source, this.#indexes.size);
    return this.#indexes.get(source);
  }
}

class Emitter {
  patterns = new Patterns();
  commands = new Set();
  #sources;
  #declaredAt;
  #names;
  /** By what a script goes without, the pieces of each file: most parts stand in many scripts. */
  #files = new Map();
  /** Of the script that is emitted: see `@without` in contract.mjs. */
  #without = new Map();
  #facts;

  constructor(sources, declaredAt, names) {
    this.#sources = sources;
    this.#declaredAt = declaredAt;
    this.#names = names;
  }

  get fields() {
    return this.#facts.fields;
  }

  /** What can be known of the names before any code is made. */
  learn(scripts) {
    const files = new Set();
    const add = (file) => {
      if (files.has(file)) return;
      files.add(file);
      for (const { part } of this.#sources.rowsOf(file)) if (part) add(part.file);
    };
    for (const script of scripts) add(script);
    const prologues = scripts.map((script) => parse(this.#given(script)));
    this.#facts = new Facts([...prologues, ...[...files].map((file) => parse(this.#textOf(file)))]);
  }

  script(file) {
    this.#without = this.#sources.get(file).header.without;
    // In a block of its own: what its code declares for itself is none of the prologue.
    const opening = { file, line: 1, code: `${this.#prologue(file)} {` };
    return [opening, ...this.#file(file), { file, line: this.#sources.rowsOf(file).at(-1).line, code: '}' }];
  }

  /** What the header gives to the script. Other than Lua, JavaScript has no limit that would make it care where. */
  #prologue(file) {
    const pieces = this.#emit(file, this.#given(file), new Names(new Set(), new Set()));
    return pieces.map(({ code }) => code.replaceAll('\n', '')).join('');
  }

  /** The same as Lua. */
  #given(file) {
    const given = [...givenBy(this.#sources.get(file).header)].filter(([name]) => this.#declaredAt.get(file).has(name));
    const isDerived = ([, each]) => each.isDerived === true;
    return [...given.filter((each) => !isDerived(each)), ...given.filter(isDerived)]
      .map(([name, { value }]) => `local ${name} = ${value}`)
      .join('\n');
  }

  #file(file) {
    const key = [...this.#without.keys(), file].join();
    if (!this.#files.has(key)) this.#files.set(key, this.#makeFile(file));
    return this.#files.get(key);
  }

  #makeFile(file) {
    const rows = this.#sources.rowsOf(file);
    const { contract } = this.#sources.get(file);
    const givenAt = (row) => [...rows[row - 1].part.contract.gives.keys()].filter((name) => !contract?.gives.has(name));
    // Behind the last row stands the end of what a part has begun there.
    const lineOf = (row) => rows[Math.min(row, rows.length) - 1].line;
    const mayReturn = (row) => this.#mayReturn(rows[row - 1].part.file);
    const pieces = this.#emit(file, this.#textOf(file), this.#namesOf(file, rows), { givenAt, mayReturn }, lineOf);
    return pieces.flatMap(({ part, row, code }) =>
      part === undefined ? [{ file, line: lineOf(row), code }] : this.#part(rows[part - 1].part.file),
    );
  }

  #part(file) {
    if (!this.#without.has(file)) return this.#file(file);
    return [{ file, line: 1, code: `throw new Error('this script goes without ${file}');` }];
  }

  /** Whether it, or a part in it, may end the script, or the function in which it stands. */
  #mayReturn(file) {
    const rows = this.#sources.rowsOf(file);
    return returns(parse(this.#textOf(file))) || rows.some(({ part }) => part && this.#mayReturn(part.file));
  }

  #textOf(file) {
    return this.#sources
      .rowsOf(file)
      .map((row) => (row.part ? PART_STATEMENT : row.text))
      .join('\n');
  }

  #namesOf(file, rows) {
    const { free, locals } = this.#names.get(file);
    const isOfPart = ({ line }) => rows[line - 1].part !== undefined;
    const shared = locals
      .filter(({ places }) => places.some(isOfPart))
      .map(({ places: [{ line, column }] }) => `${line}:${column}`);
    return new Names(new Set(free.map(({ name }) => name)), new Set(shared), (row, problem) => {
      throw new LuaProblem(file, rows[row - 1].line, problem);
    });
  }

  #emit(file, text, names, parts, lineOf = (row) => row) {
    const refuse = (node, problem) => {
      throw new LuaProblem(file, lineOf(node.loc.start.line), problem);
    };
    const chunk = parse(text);
    noteCommands(chunk, this.commands);
    return inPieces(new Statements(names, this.#facts, this.patterns, refuse, parts).file(chunk.body));
  }
}

/** Whether a statement outside of functions returns. */
function returns(node) {
  if (node === null || typeof node !== 'object' || node.type === 'FunctionDeclaration') return false;
  return (
    node.type === 'ReturnStatement' || Object.entries(node).some(([key, child]) => key !== 'loc' && returns(child))
  );
}

/** Commands that stand in a script by their name. */
function noteCommands(node, commands) {
  if (node === null || typeof node !== 'object') return;
  const { type, base, arguments: given } = node;
  const isCall = type === 'CallExpression' && base.base?.name === 'redis' && /^p?call$/.test(base.identifier?.name);
  if (isCall && given[0]?.type === 'StringLiteral') commands.add(given[0].raw.slice(1, -1));
  for (const child of Object.values(node)) noteCommands(child, commands);
}
