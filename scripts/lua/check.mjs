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
 * does not agree with the code. Throws an error that lists each with file, line, name and what to do.
 */
export function check(sources, scripts) {
  const checker = new Checker(sources);
  for (const script of scripts) checker.script(script);
  refuse([...checker.problems.values()].sort((a, b) => (a.message < b.message ? -1 : 1)));
}

class Checker {
  /** By message, as a part stands in several scripts. */
  problems = new Map();
  #sources;
  #contracts = new Map();

  constructor(sources) {
    this.#sources = sources;
  }

  script(file) {
    const names = this.#namesIn(file, []);
    this.#checkIncludes(file, names, new Set());
    for (const use of names.free) {
      if (isGiven(use) || INPUTS.has(use.name)) continue;
      const part = names.partAt(use.line);
      // A part that does not say yet what it takes may hold functions that nobody calls here.
      if (part && !part.contract) continue;
      this.#refuse(
        file,
        use.line,
        part
          ? `${part.file} takes '${use.name}', which nothing before this line gives: include the part that gives it earlier, or declare it`
          : `'${use.name}' is no local of this script, and no part before this line gives it: declare it, or add it to the @gives of a part`,
      );
    }
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
      if (isGiven({ name }) || gives.has(name) || changes.has(name)) continue;
      const part = names.partAt(line);
      if (INPUTS.has(name)) this.#refuse(file, line, `${name} is used: take the argument or the key by its name`);
      else if (takes.has(name)) {
        if (isWrite) this.#refuse(file, line, `'${name}' is in @takes and written: put it into @changes instead`);
      } else if (part)
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

const isGiven = ({ name }) => GLOBALS.has(name);

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
