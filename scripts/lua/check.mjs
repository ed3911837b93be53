import { givenBy } from './contract.mjs';
import { LuaProblem, refuse } from './problem.mjs';
import { namesOf } from './scope.mjs';

/** What Lua and Redis give every script. */
const GLOBALS = new Set(
  'redis cjson tonumber tostring string table math ipairs pairs next unpack select type error'.split(' '),
);
/** By number; a part is given what it needs of them by name. */
const INPUTS = new Set(['KEYS', 'ARGV']);

/**
 * Refuses names that a script or a part uses without declaring or taking them, and whatever else of `@takes`, `@gives` and `@changes`
 * does not agree with the code; names in a script's header that it does not use, and keys that are not in `keyTable`. Throws an error
 * that lists each with file, line, name and what to do. Answers for each script which names of its header are used.
 */
export function check(sources, scripts, keyTable) {
  const checker = new Checker(sources, keyTable);
  const used = new Map(scripts.map((script) => [script, checker.script(script)]));
  refuse([...checker.problems.values()].sort((a, b) => (a.message < b.message ? -1 : 1)));
  return used;
}

class Checker {
  /** By message, as a part stands in several scripts. */
  problems = new Map();
  #sources;
  #keyTable;
  #contracts = new Map();

  constructor(sources, keyTable) {
    this.#sources = sources;
    this.#keyTable = keyTable;
  }

  script(file) {
    const names = this.#namesIn(file, []);
    const { header } = this.#sources.get(file);
    const given = header ? givenBy(header) : new Map();
    this.#checkIncludes(file, names, given);
    for (const { name, line, isTop } of names.locals)
      if (isTop && given.has(name))
        this.#refuse(file, line, `'${name}' hides the name of the header: give one of the two another name`);
    const used = new Set();
    for (const { name, line } of names.free) {
      used.add(name);
      const part = names.partAt(line);
      // A part that does not say yet what it takes may hold functions that nobody calls here.
      if (GLOBALS.has(name) || given.has(name) || (part && !part.contract)) continue;
      if (INPUTS.has(name)) this.#checkInput(file, line, name, header);
      else
        this.#refuse(
          file,
          line,
          part
            ? `${part.file} takes '${name}', which nothing before this line gives: include the part that gives it earlier, or declare it`
            : `'${name}' is no local of this script, and neither its header nor a part before this line gives it: declare it there, or add it to the @gives of a part`,
        );
    }
    if (header) this.#checkHeader(file, header, given, used);
    return new Set([...given.keys()].filter((name) => used.has(name)));
  }

  /** Keys and arguments have names; only rows of a list have none. */
  #checkInput(file, line, name, header) {
    if (header && !(name === 'ARGV' && header.lists.length > 0))
      this.#refuse(
        file,
        line,
        `${name} is used: name the ${name === 'KEYS' ? 'key' : 'argument'} in the header, and use that name`,
      );
  }

  #checkHeader(file, { keys, node }, given, used) {
    for (const [name, { line, isShared }] of given)
      if (!isShared && !used.has(name))
        this.#refuse(file, line, `'${name}' is in the header and used nowhere: take it off`);
    for (const { name, line } of [...keys, ...(node ? [{ name: node, line: 1 }] : [])])
      if (!this.#keyTable.has(name))
        this.#refuse(file, line, `the key '${name}' is not in the table of keys.ts: add it there, or correct the name`);
  }

  /** What a part takes, gives and changes: as it says, or where it says nothing, what its code shows. */
  #contractOf(part, under) {
    const { file, contract } = part;
    if (!this.#contracts.has(file)) {
      const names = this.#namesIn(file, under);
      if (contract) this.#checkPart(part, names);
      this.#contracts.set(file, contract ?? shownBy(names));
    }
    return this.#contracts.get(file);
  }

  #checkPart({ file, contract: { takes, gives, changes } }, names) {
    this.#checkIncludes(file, names, new Set([...takes.keys(), ...gives.keys(), ...changes.keys()]));
    const used = new Set();
    const written = new Set();
    for (const { name, line, isWrite } of names.free) {
      used.add(name);
      if (isWrite) written.add(name);
      if (GLOBALS.has(name) || gives.has(name) || changes.has(name)) continue;
      const part = names.partAt(line);
      if (takes.has(name)) {
        if (isWrite) this.#refuse(file, line, `'${name}' is in @takes and written: put it into @changes instead`);
      } else if (INPUTS.has(name))
        this.#refuse(
          file,
          line,
          `${name} is used: take the argument or the key by its name, or, to read a list, ARGV itself`,
        );
      else if (part)
        this.#refuse(file, line, `${part.file} takes '${name}': add it to the @takes of ${file}, or declare it before`);
      else
        this.#refuse(file, line, `'${name}' is neither declared here nor taken: add it to @takes, or make it a local`);
    }
    for (const [name, line] of takes)
      if (!used.has(name)) this.#refuse(file, line, `'${name}' is in @takes and not used: take it off`);
    for (const [name, line] of gives)
      if (!written.has(name))
        this.#refuse(file, line, `'${name}' is in @gives and never assigned: assign to it, without 'local'`);
    for (const [name, line] of changes)
      if (!written.has(name))
        this.#refuse(file, line, `'${name}' is in @changes and never assigned: put it into @takes instead`);
  }

  /** A name that an include gives must be new there, or one that the including part hands on. */
  #checkIncludes(file, names, ofContract) {
    for (const { name, line, hides } of names.locals) {
      const part = names.partAt(line);
      if (part?.contract && (hides || ofContract.has(name)))
        this.#refuse(
          file,
          line,
          `${part.file} gives '${name}', which there is already: give one of the two another name`,
        );
    }
  }

  /** The names of a file, each include standing as a statement that uses what it takes and declares what it gives. */
  #namesIn(file, under) {
    const read = this.#sources.get(file);
    const lines = [...read.lines];
    const parts = new Map();
    for (const { line, part } of this.#sources.includesOf(file, under)) {
      parts.set(line, part);
      lines[line - 1] = asStatement(this.#contractOf(part, [...under, file]), read.contract);
    }
    return { ...namesOf(file, lines.join('\n')), partAt: (line) => parts.get(line) };
  }

  #refuse(file, line, text) {
    const problem = new LuaProblem(file, line, text);
    this.problems.set(problem.message, problem);
  }
}

function asStatement({ takes, gives, changes }, outer) {
  const taken = [...takes.keys(), ...changes.keys()].join(', ');
  const handedOn = [...gives.keys()].filter((name) => outer?.gives.has(name));
  const added = [...gives.keys()].filter((name) => !handedOn.includes(name));
  const written = [...changes.keys(), ...handedOn];
  return [
    ...(taken === '' ? [] : [`type({ ${taken} })`]),
    ...(written.length === 0 ? [] : [`${written.join(', ')} = nil`]),
    ...(added.length === 0 ? [] : [`local ${added.join(', ')}`]),
  ].join('; ');
}

function shownBy({ free, locals }) {
  const isNamed = ({ name }) => !GLOBALS.has(name) && !INPUTS.has(name);
  const byName = (uses) => new Map(uses.map(({ name, line }) => [name, line]));
  const changes = byName(free.filter((use) => use.isWrite && isNamed(use)));
  const takes = byName(free.filter((use) => isNamed(use) && !changes.has(use.name)));
  return { takes, changes, gives: byName(locals.filter(({ isTop }) => isTop)) };
}
