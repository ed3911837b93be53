import { givenBy } from './contract.mjs';

/** Where a piece ends. No line of Lua is this. */
const BREAK = Symbol('the end of a piece');

/**
 * The pieces of a script, a line break between any two: its lines and those of its parts, without comment lines and indents, as they
 * go over the wire once for each server. A part makes the same pieces in every script that includes it. What a part keeps to itself lies in a block: Lua allows 200 locals at a time, and a closure that walks
 * through many is slow. For the same reason a name of the header that one part alone takes is declared in the block of that part;
 * `declaredAt` is what `check` answers.
 */
export function emitLua(sources, file, declaredAt) {
  const { header } = sources.get(file);
  const prologueAt = (line) => emitPrologue(header, declaredAt, line);
  return inPieces([...prologueAt(0), BREAK, ...emitFile(sources, file, prologueAt)]);
}

function inPieces(lines) {
  const pieces = [];
  const piece = [];
  for (const line of [...lines, BREAK]) {
    if (line !== BREAK) piece.push(line);
    else if (piece.length > 0) pieces.push(piece.splice(0).join('\n'));
  }
  return pieces;
}

function emitPrologue(header, declaredAt, line) {
  const given = [...givenBy(header)]
    .filter(([name]) => declaredAt.get(name) === line)
    .map(([name, { value, isDerived }]) => ({ name, value, isDerived }));
  const keys = given.filter(({ value }) => value.startsWith('KEYS'));
  // After the names that they are made of.
  const derived = given.filter(({ isDerived }) => isDerived);
  const others = given.filter((each) => !keys.includes(each) && !derived.includes(each));
  const isWhole = keys.length > 3 && keys.every(({ value }, i) => value === `KEYS[${i + 1}]`);
  return [
    ...emitLocals(keys, isWhole ? `unpack(KEYS, 1, ${keys.length})` : undefined),
    ...emitLocals(others),
    ...emitLocals(derived),
  ];
}

function emitLocals(locals, values = locals.map(({ value }) => value).join(', ')) {
  return locals.length === 0 ? [] : [`local ${locals.map(({ name }) => name).join(', ')} = ${values}`];
}

function emitFile(sources, file, prologueAt) {
  const { contract } = sources.get(file);
  return sources.rowsOf(file).flatMap(({ text, part }, index) => {
    if (part) return emitPart(sources, part, contract, prologueAt(index + 1));
    const code = text.trim();
    return code === '' || code.startsWith('--') ? [] : [code];
  });
}

function emitPart(sources, { file, contract }, outer, prologue) {
  const body = emitFile(sources, file, () => []);
  // What the including part gives as well is declared around that one.
  const declared = [...contract.gives.keys()].filter((name) => !outer?.gives.has(name));
  const opening = [...(declared.length === 0 ? [] : [`local ${declared.join(', ')}`]), 'do', ...prologue];
  return [BREAK, ...opening, BREAK, ...body, BREAK, 'end'];
}
