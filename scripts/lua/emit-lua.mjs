import { CALL, compactLine } from './compact.mjs';
import { givenBy } from './contract.mjs';
import { LuaProblem } from './problem.mjs';

/** Where a piece ends. No line of Lua is this. */
const BREAK = Symbol('the end of a piece');

/**
 * By script, its pieces, each a list of lines: those of the script and of its parts, without comments. A line has the `file` and the
 * `line` that it comes from; as `written`, its text there; as `sent`, what goes over the wire once for each server. A part makes the same
 * pieces in every script that includes it; of a part that the script goes without an error is left. What a part keeps to itself lies in a block: Lua allows 200 locals at a time, and a closure
 * that walks through many is slow. For the same reason a name of the header that one part alone takes is declared in the block of that
 * part. `declaredAt` is what `check` answers, `names` are `ShortNames`.
 */
export function emitLua(sources, scripts, declaredAt, names) {
  const emitter = new Emitter(sources, declaredAt, names);
  return new Map(scripts.map((script) => [script, inPieces(emitter.script(script))]));
}

function inPieces(lines) {
  const pieces = [];
  const piece = [];
  for (const line of [...lines, BREAK]) {
    if (line !== BREAK) piece.push(line);
    else if (piece.length > 0) pieces.push(piece.splice(0));
  }
  return pieces;
}

class Emitter {
  #sources;
  #declaredAt;
  #names;
  /** By what a script goes without, the lines of each part: most parts stand in many scripts. */
  #parts = new Map();
  /** Of the script that is emitted: see `@without` in contract.mjs. */
  #without = new Map();

  constructor(sources, declaredAt, names) {
    this.#sources = sources;
    this.#declaredAt = declaredAt;
    this.#names = names;
  }

  script(file) {
    this.#without = this.#sources.get(file).header.without;
    const lines = [
      asIs(file, 1, `local ${CALL}=redis.call`),
      BREAK,
      ...this.#prologue(file, 0, 1),
      BREAK,
      ...this.#file(file, (row, line) => this.#prologue(file, row, line)),
    ];
    for (const [part, line] of this.#without) {
      const isThere = lines.some(({ sent }) => sent === placeOf(part));
      if (!isThere) throw new LuaProblem(file, line, `@without ${part}: no part of this script includes it`);
      if (this.#sources.get(part).contract.gives.size > 0)
        throw new LuaProblem(file, line, `@without ${part}: it gives names, which others would miss`);
    }
    return lines;
  }

  /** What is declared of the header of a script in the block of a row, or at the beginning. */
  *#prologue(file, row, line) {
    const given = [...givenBy(this.#sources.get(file).header)]
      .filter(([name]) => this.#declaredAt.get(file).get(name) === row)
      .map(([name, { value, isDerived }]) => ({ name, value, isDerived }));
    const keys = given.filter(({ value }) => value.startsWith('KEYS'));
    // After the names that they are made of.
    const derived = given.filter(({ isDerived }) => isDerived);
    const others = given.filter((each) => !keys.includes(each) && !derived.includes(each));
    const isWhole = keys.length > 3 && keys.every(({ value }, i) => value === `KEYS[${i + 1}]`);
    const valuesOf = (locals) => locals.map(({ value }) => value).join(', ');
    yield* this.#locals(file, line, keys, isWhole ? `unpack(KEYS, 1, ${keys.length})` : valuesOf(keys));
    yield* this.#locals(file, line, others, valuesOf(others));
    yield* this.#locals(file, line, derived, valuesOf(derived), (values, nameOf) =>
      values.replaceAll(/\b(base)\b(?= \.\. ')|\b(\w+)(?=\.\w+)/g, (name) => nameOf(name)),
    );
  }

  /** `renamed`: values with other names in them; those of most hold none. */
  *#locals(file, line, locals, values, renamed = (text) => text) {
    if (locals.length === 0) return;
    const textBy = (nameOf) =>
      `local ${locals.map(({ name }) => nameOf(name)).join(', ')}${values === undefined ? '' : ` = ${renamed(values, nameOf)}`}`;
    yield {
      file,
      line,
      written: textBy((name) => name),
      sent: compactLine(textBy((name) => this.#names.nameOf(name))),
    };
  }

  *#file(file, prologueAt) {
    const { contract } = this.#sources.get(file);
    for (const [row, { text, line, part }] of this.#sources.rowsOf(file).entries()) {
      if (part) {
        yield BREAK;
        yield* this.#opening(part, contract, file, line);
        yield* prologueAt(row + 1, line);
        yield BREAK;
        if (this.#without.has(part.file)) yield asIs(part.file, 1, placeOf(part.file));
        else yield* this.#part(part.file);
        yield BREAK;
        yield asIs(file, line, 'end');
      } else {
        const sent = this.#compact(file, row, line, text);
        if (sent !== '') yield { file, line, written: text.trim(), sent };
      }
    }
  }

  #part(file) {
    const key = [...this.#without.keys(), file].join();
    if (!this.#parts.has(key)) this.#parts.set(key, [...this.#file(file, () => [])]);
    return this.#parts.get(key);
  }

  /** What the including part gives as well is declared around that one. */
  *#opening({ contract }, outer, file, line) {
    const declared = [...contract.gives.keys()].filter((name) => !outer?.gives.has(name)).map((name) => ({ name }));
    yield* this.#locals(file, line, declared);
    yield asIs(file, line, 'do');
  }

  #compact(file, row, line, text) {
    try {
      return compactLine(text, (name, column) => this.#names.nameAt(file, row, column, name));
    } catch {
      throw new LuaProblem(file, line, 'a text or a comment goes on in the next line: end it in this one');
    }
  }
}

/** In the place of a part that a script goes without. */
const placeOf = (part) => `error'this script goes without ${part}'`;

const asIs = (file, line, text) => ({ file, line, written: text, sent: text });
