import { givenBy } from './contract.mjs';
import { checkFields } from './fields.mjs';
import { GLOBALS, INPUTS } from './globals.mjs';
import { LuaProblem, refuse } from './problem.mjs';
import { namesOf } from './scope.mjs';

/**
 * Refuses names that a script or a part uses without declaring, needing or taking them, and whatever else of `@needs`, `@takes`, `@gives`
 * and `@changes` does not agree with the code; names in a script's header that it does not use, keys that are not in `keyTable`, and named fields of
 * shared tables that nothing sets. Throws an error
 * that lists each with file, line, name and what to do. Answers
 * - `declaredAt`: for each script where each name of its header is declared: the number of the row whose part alone takes it (see `rowsOf`
 *   in read.mjs), or 0 for the beginning of the script; nothing for those never used
 * - `names`: for each file the names that it uses, as `namesOf` answers them, with rows in the place of lines
 */
export function check(sources, scripts, keyTable) {
  const checker = new Checker(sources, keyTable);
  const used = new Map(scripts.map((script) => [script, checker.script(script)]));
  checker.checkGives();
  checker.checkFields(scripts);
  refuse([...checker.problems.values()].sort((a, b) => (a.message < b.message ? -1 : 1)));
  return { declaredAt: used, names: checker.names };
}

class Checker {
  /** By message, as a part stands in several scripts. */
  problems = new Map();
  /** By file. */
  names = new Map();
  #sources;
  #keyTable;
  #checked = new Set();
  /** By file. */
  #fields = new Map();
  /** For each part, the names of its `@gives` that are used: read, or handed on, by a script or a part that includes it. */
  #usedGives = new Map();
  /** For each part, what it and the parts in it use of the parts that they need. */
  #usedOfNeeds = new Map();

  constructor(sources, keyTable) {
    this.#sources = sources;
    this.#keyTable = keyTable;
  }

  script(file) {
    const names = this.#namesIn(file);
    const { header, named } = this.#sources.get(file);
    const given = givenBy(header);
    this.#checkParts(file, names, given);
    for (const { name, line, isTop } of names.locals)
      if (isTop && given.has(name))
        this.#refuse(file, line, `'${name}' hides the name of the header: give one of the two another name`);
    const used = new Map();
    for (const use of names.free) {
      const { name, line, part } = use;
      if (given.has(name)) used.set(name, used.has(name) && used.get(name) !== use.row ? 0 : rowOfBlock(use));
      if (GLOBALS.has(name) || given.has(name)) continue;
      if (INPUTS.has(name)) this.#checkInput(file, line, name, header);
      else
        this.#refuse(
          file,
          line,
          part
            ? `${part.file} takes '${name}', which nothing before this line gives: include the part that gives it earlier, or declare it`
            : `'${name}' is no local of this script, and neither its header nor a part before this line gives it: declare it there, need the part that gives it, or add it to the @gives of a part`,
        );
    }
    for (const { name, part, readAt } of names.locals)
      for (const { line } of part?.isNeeded && !isNamed(named, part) ? readAt.filter((use) => !use.part) : [])
        this.#refuse(file, line, `'${name}' is given by ${part.file}: add that to @needs`);
    this.#checkNeeds(
      file,
      named,
      new Set(names.locals.flatMap(({ name, part, readAt }) => (part?.isNeeded && readAt.length > 0 ? [name] : []))),
    );
    this.#checkHeader(file, header, given, used);
    // What a derived key is made of is declared before all of them.
    if (header.derived.some(({ lua }) => used.has(lua)))
      for (const name of ['base', 'me']) if (given.has(name)) used.set(name, 0);
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
    const filesOf = (file) => [
      file,
      ...this.#sources.rowsOf(file).flatMap(({ part }) => (part ? filesOf(part.file) : [])),
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

  #checkHeader(file, { keys, derived, node }, given, used) {
    for (const [name, { line, isShared }] of given)
      if (!isShared && !used.has(name))
        this.#refuse(file, line, `'${name}' is in the header and used nowhere: take it off`);
    for (const { name, line } of [...keys, ...derived, ...(node ? [{ name: node, line: 1 }] : [])])
      if (!this.#keyTable.has(name))
        this.#refuse(file, line, `the key '${name}' is not in the table of keys.ts: add it there, or correct the name`);
  }

  /** Checks each part once, however many include it. */
  #contractOf(part) {
    const { file, contract } = part;
    if (!this.#checked.has(file)) {
      this.#checked.add(file);
      this.#checkPart(part, this.#namesIn(file));
    }
    return contract;
  }

  #checkPart({ file, named, contract: { takes, gives, changes } }, names) {
    const ofNeeds = this.#givesOf(this.#sources.needsOf(file));
    const ofOwnNeeds = this.#givesOf(named.filter(({ isNeed }) => isNeed).map((need) => need.file));
    this.#checkParts(file, names, new Set([...takes.keys(), ...gives.keys(), ...changes.keys(), ...ofNeeds.keys()]));
    const used = new Set();
    const written = new Set();
    for (const { name, line, part, isWrite } of names.free) {
      used.add(name);
      if (isWrite) written.add(name);
      if (GLOBALS.has(name) || gives.has(name) || changes.has(name)) continue;
      const isNeeded = (part ? this.#usedOfNeeds.get(part.file) : ofOwnNeeds).has(name);
      if (takes.has(name) || isNeeded) {
        if (isWrite) this.#refuse(file, line, `'${name}' is written: put it into @changes`);
      } else if (INPUTS.has(name))
        this.#refuse(
          file,
          line,
          `${name} is used: take the argument or the key by its name, or, to read a list, ARGV itself`,
        );
      else if (part)
        this.#refuse(file, line, `${part.file} takes '${name}': add it to the @takes of ${file}, or declare it before`);
      else
        this.#refuse(
          file,
          line,
          ofNeeds.has(name)
            ? `'${name}' is given by ${ofNeeds.get(name)}: add that to @needs`
            : `'${name}' is neither declared here nor taken: add it to @takes, need the part that gives it, or make it a local`,
        );
    }
    this.#usedOfNeeds.set(file, new Set([...used].filter((name) => ofNeeds.has(name))));
    this.#checkNeeds(file, named, used);
    for (const [name, line] of takes)
      if (ofOwnNeeds.has(name))
        this.#refuse(file, line, `'${name}' is given by ${ofOwnNeeds.get(name)}, which is in @needs: take it off`);
      else if (!used.has(name)) this.#refuse(file, line, `'${name}' is in @takes and not used: take it off`);
    for (const [name, line] of gives)
      if (!written.has(name))
        this.#refuse(file, line, `'${name}' is in @gives and never assigned: assign to it, without 'local'`);
    for (const [name, line] of changes)
      if (!written.has(name))
        this.#refuse(file, line, `'${name}' is in @changes and never assigned: put it into @takes instead`);
  }

  #checkNeeds(file, named, used) {
    for (const need of named)
      if (need.isNeed && ![...this.#givesOf([need.file]).keys()].some((name) => used.has(name)))
        this.#refuse(file, need.line, `nothing that ${need.file} gives is used: take it off @needs`);
  }

  /** By name, the part of these that gives it. */
  #givesOf(files) {
    return new Map(
      files.flatMap((file) => [...this.#sources.get(file).contract.gives.keys()].map((name) => [name, file])),
    );
  }

  /** A name that a part in a file gives must be new there, or one that the file hands on. */
  #checkParts(file, names, ofContract) {
    for (const { name, line, part, hides } of names.locals)
      if (part && (hides || ofContract.has(name)))
        this.#refuse(
          file,
          line,
          `${part.file} gives '${name}', which there is already: give one of the two another name`,
        );
  }

  /**
   * The names of a file, each part standing as a statement that uses what it takes and declares what it gives. A name has its line, its
   * row, see `rowsOf` in read.mjs, and the part, if that is one.
   */
  #namesIn(file) {
    const { contract } = this.#sources.get(file);
    const rows = this.#sources.rowsOf(file);
    const statements = rows.map(({ text, part }) => (part ? this.#asStatement(part, contract) : text));
    const lineOf = (row) => rows[row - 1]?.line ?? rows.length;
    const { free, locals, fields } = namesOf(file, statements.join('\n'), lineOf);
    this.names.set(file, { free, locals });
    const placed = (use, row) => {
      const { line, part, isNeed = false } = rows[row - 1];
      return { ...use, row, line, part: part && { ...part, isNeeded: isNeed } };
    };
    fields.renumber(lineOf);
    this.#fields.set(file, fields);
    for (const { name, line, readAt } of locals)
      if (readAt.length > 0 && rows[line - 1].part) this.#noteUse(rows[line - 1].part, name);
    return {
      free: free.map((use) => placed(use, use.line)),
      locals: locals.map((local) =>
        placed({ ...local, readAt: local.readAt.map((row) => placed({}, row)) }, local.line),
      ),
    };
  }

  #asStatement(part, outer) {
    const { takes, gives, changes } = this.#contractOf(part);
    const taken = [...takes.keys(), ...changes.keys(), ...this.#usedOfNeeds.get(part.file)].join(', ');
    const passedOn = handedOn({ gives }, outer);
    for (const name of passedOn) this.#noteUse(part, name);
    const added = [...gives.keys()].filter((name) => !passedOn.includes(name));
    const written = [...changes.keys(), ...passedOn];
    return [
      ...(taken === '' ? [] : [`type({ ${taken} })`]),
      ...(written.length === 0 ? [] : [`${written.join(', ')} = nil`]),
      ...(added.length === 0 ? [] : [`local ${added.join(', ')}`]),
    ].join('; ');
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

const isNamed = (named, { file }) => named.some((each) => each.file === file);

/** Where a part is the only one that takes a name of the header, the name is declared in its block. */
function rowOfBlock({ name, row, part, isRepeated }) {
  return part?.contract.takes.has(name) && !isRepeated ? row : 0;
}

/** What a part gives that the part around it gives as well. */
function handedOn({ gives }, outer) {
  return [...gives.keys()].filter((name) => outer?.gives.has(name));
}
