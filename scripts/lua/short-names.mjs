import { isGlobal } from './globals.mjs';

const LARGE = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const SMALL = 'abcdefghijklmnopqrstuvwxyz_';
const FURTHER = `${SMALL}${LARGE}0123456789`;
/** Words of Lua, which are no names. Its other words, and the names that Lua and Redis give, are longer than two letters. */
const WORDS = new Set(['do', 'if', 'in', 'or']);

/**
 * The short names by which scripts go over the wire. A part stands in many scripts, by one text: so what a name becomes depends on no script.
 * - A name that files share, as a part takes or gives it or a header has it, is the same in all of them. It begins with a large letter, and
 *   is made of letters of the name: so it seldom changes when other names come and go, and most scripts keep their digests.
 * - A local that its file keeps to itself begins with a small letter. Locals that are never needed at the same place share one.
 *
 * So no local of a part can hide a name that a part inside of it takes. Fields are left alone: their names also come from JSON.
 */
export class ShortNames {
  #shared;
  /** By file, the short name at each place, "<row>:<column>". */
  #places = new Map();

  /** `names`: what `check` answers of each file. */
  constructor(sources, names) {
    const split = [...names].map(([file, ofFile]) => ({ file, ...splitNames(sources.rowsOf(file), ofFile) }));
    this.#shared = nameShared(split.flatMap(({ shared }) => shared.map(({ name }) => name)));
    for (const { file, shared, own } of split) {
      const named = [...shared.map((each) => [each, this.nameOf(each.name)]), ...nameOwn(own)];
      const places = named.flatMap(([{ places }, short]) =>
        places.map(({ line, column }) => [`${line}:${column}`, short]),
      );
      this.#places.set(file, new Map(places));
    }
  }

  /** Of a name that files share, or that Lua or Redis gives. */
  nameOf(name) {
    return this.#shared.get(name) ?? name;
  }

  /** Of a name that stands in a row of a file, counted from 0, at that column. */
  nameAt(file, row, column, name) {
    return this.#places.get(file)?.get(`${row + 1}:${column}`) ?? name;
  }
}

/** What a file keeps to itself, and what it shares: it gets that from elsewhere, or a part in it uses it or declares it. */
function splitNames(rows, { free, locals }) {
  const isOfPart = ({ line }) => rows[line - 1].part !== undefined;
  const isShared = ({ places }) => places.some(isOfPart);
  return {
    shared: [...free.map((use) => ({ name: use.name, places: [use] })), ...locals.filter(isShared)],
    own: locals.filter((local) => !isShared(local)),
  };
}

function nameShared(names) {
  const byName = new Map();
  const taken = new Set();
  for (const name of [...new Set(names)].filter((each) => !isGlobal(each)).sort()) {
    const short = firstFree(sharedCandidates(name), taken);
    byName.set(name, short);
    taken.add(short);
  }
  return byName;
}

/** `jobsKey`: Jo, Jb, Js, JK, …; then J with any letter; then any other. */
function* sharedCandidates(name) {
  const first = name[0].toUpperCase();
  if (LARGE.includes(first)) for (const second of [...name.slice(1), ...FURTHER]) yield first + second;
  for (const one of LARGE) for (const second of FURTHER) yield one + second;
}

/** Pairs of a local and its name. Those that stand most often choose first. */
function nameOwn(locals) {
  const hidden = new Map(locals.map((local) => [local, new Set()]));
  for (const local of locals)
    for (const other of local.wouldHide) {
      hidden.get(local).add(other);
      hidden.get(other)?.add(local);
    }
  const byLocal = new Map();
  for (const local of [...locals].sort((a, b) => b.places.length - a.places.length))
    byLocal.set(local, firstFree(ownCandidates(), new Set([...hidden.get(local)].map((other) => byLocal.get(other)))));
  return [...byLocal];
}

function* ownCandidates() {
  yield* SMALL;
  for (const first of SMALL) for (const second of FURTHER) if (!WORDS.has(first + second)) yield first + second;
}

function firstFree(candidates, taken) {
  for (const each of candidates) if (!taken.has(each)) return each;
  throw new Error(
    `${taken.size} names are in use, and no short one is left: let short-names.mjs make names of three letters`,
  );
}
