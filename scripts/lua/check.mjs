import { givenBy } from './contract.mjs';
import { checkFields } from './fields.mjs';
import { LuaProblem, refuse } from './problem.mjs';
import { namesOf } from './scope.mjs';

/** What Lua and Redis give every script. */
const GLOBALS = new Set(
  'redis cjson tonumber tostring string table math ipairs pairs next unpack setmetatable select type error'.split(' '),
);
/** By number; a part is given what it needs of them by name. */
const INPUTS = new Set(['KEYS', 'ARGV']);

/**
 * Refuses names that a script or a part uses without declaring or taking them, and whatever else of `@takes`, `@gives` and `@changes`
 * does not agree with the code; names in a script's header that it does not use, keys that are not in `keyTable`, and named fields of
 * shared tables that nothing sets. Throws an error
 * that lists each with file, line, name and what to do. Answers for each script where each name of its header is
 * declared: the line of the include whose part alone takes it, or 0 for the beginning of the script; no line for those never used.
 */
export function check(sources, scripts, keyTable) {
  const checker = new Checker(sources, keyTable);
  const used = new Map(scripts.map((script) => [script, checker.script(script)]));
  checker.checkGives();
  checker.checkFields(scripts);
  refuse([...checker.problems.values()].sort((a, b) => (a.message < b.message ? -1 : 1)));
  return used;
}

class Checker {
  /** By message, as a part stands in several scripts. */
  problems = new Map();
  #sources;
  #keyTable;
  #checked = new Set();
  /** By file. */
  #fields = new Map();
  /** For each part, the names of its `@gives` that are used: read, or handed on, by a script or a part that includes it. */
  #usedGives = new Map();

  constructor(sources, keyTable) {
    this.#sources = sources;
    this.#keyTable = keyTable;
  }

  script(file) {
    const names = this.#namesIn(file, []);
    const { header } = this.#sources.get(file);
    const given = givenBy(header);
    this.#checkIncludes(file, names, given);
    for (const { name, line, isTop } of names.locals)
      if (isTop && given.has(name))
        this.#refuse(file, line, `'${name}' hides the name of the header: give one of the two another name`);
    const used = new Map();
    for (const use of names.free) {
      const { name, line } = use;
      const part = names.partAt(line);
      if (given.has(name)) used.set(name, used.has(name) && used.get(name) !== line ? 0 : lineOfBlock(use, part));
      if (GLOBALS.has(name) || given.has(name)) continue;
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
    this.#checkHeader(file, header, given, used);
    return used;
  }

  /** Refuses names in `@gives` that nothing uses. To be called after all scripts have been checked, as each may use other names. */
  checkGives() {
    for (const file of this.#checked)
      for (const [name, line] of this.#sources.get(file).contract.gives)
        if (!this.#usedGives.get(file)?.has(name))
          this.#refuse(
            file,
            line,
            `'${name}' is in @gives and used by nothing that includes this part: make it a local`,
          );
  }

  /** To be called after all scripts have been checked, as a field may be set in any file. */
  checkFields(scripts) {
    const filesOf = (file, under = []) => [
      file,
      ...this.#sources.includesOf(file, under).flatMap(({ part }) => filesOf(part.file, [...under, file])),
    ];
    const tablesOf = (script) => {
      const given = [...givenBy(this.#sources.get(script).header)];
      return new Map(given.flatMap(([name, { fields }]) => (fields ? [[name, fields]] : [])));
    };
    checkFields(
      scripts,
      (script) => [...new Set(filesOf(script))],
      (file) => this.#fields.get(file),
      tablesOf,
      (...problem) => this.#refuse(...problem),
    );
  }

  /** Keys and arguments have names; only rows of a list have none. */
  #checkInput(file, line, name, header) {
    if (!(name === 'ARGV' && header.lists.length > 0))
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

  /** Checks each part once, however many include it. */
  #contractOf(part, under) {
    const { file, contract } = part;
    if (!this.#checked.has(file)) {
      this.#checked.add(file);
      this.#checkPart(part, this.#namesIn(file, under));
    }
    return contract;
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
      if (part && (hides || ofContract.has(name)))
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
      for (const name of handedOn(part.contract, read.contract)) this.#noteUse(part, name);
    }
    const names = namesOf(file, lines.join('\n'));
    this.#fields.set(file, names.fields);
    for (const { name, line, isRead } of names.locals)
      if (isRead && parts.has(line)) this.#noteUse(parts.get(line), name);
    return { ...names, partAt: (line) => parts.get(line) };
  }

  #noteUse({ file }, name) {
    if (!this.#usedGives.has(file)) this.#usedGives.set(file, new Set());
    this.#usedGives.get(file).add(name);
  }

  #refuse(file, line, text) {
    const problem = new LuaProblem(file, line, text);
    this.problems.set(problem.message, problem);
  }
}

/** Where a part is the only one that takes a name of the header, the name is declared in its block. */
function lineOfBlock({ name, line, isRepeated }, part) {
  return part?.contract.takes.has(name) && !isRepeated ? line : 0;
}

/** What a part gives that the part around it gives as well. */
function handedOn({ gives }, outer) {
  return [...gives.keys()].filter((name) => outer?.gives.has(name));
}

function asStatement({ takes, gives, changes }, outer) {
  const taken = [...takes.keys(), ...changes.keys()].join(', ');
  const passedOn = handedOn({ gives }, outer);
  const added = [...gives.keys()].filter((name) => !passedOn.includes(name));
  const written = [...changes.keys(), ...passedOn];
  return [
    ...(taken === '' ? [] : [`type({ ${taken} })`]),
    ...(written.length === 0 ? [] : [`${written.join(', ')} = nil`]),
    ...(added.length === 0 ? [] : [`local ${added.join(', ')}`]),
  ].join('; ');
}
