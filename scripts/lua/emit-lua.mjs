import { givenBy } from './contract.mjs';

/**
 * The text of a script: its lines and those of its parts, without comment lines and indents, as it goes over the wire once for each
 * server. What a part keeps to itself lies in a block: Lua allows 200 locals at a time, and a closure that walks
 * through many is slow. For the same reason a name of the header that one part alone takes is declared in the block of that part;
 * `declaredAt` is what `check` answers.
 */
export function emitLua(sources, file, declaredAt) {
  const { header } = sources.get(file);
  const prologueAt = (line) => emitPrologue(header, declaredAt, line);
  return [...prologueAt(0), ...emitFile(sources, file, prologueAt)].join('\n');
}

function emitPrologue(header, declaredAt, line) {
  const given = [...givenBy(header)]
    .filter(([name]) => declaredAt.get(name) === line)
    .map(([name, { value }]) => ({ name, value }));
  const keys = given.filter(({ value }) => value.startsWith('KEYS'));
  const others = given.filter((each) => !keys.includes(each));
  const isWhole = keys.length > 3 && keys.every(({ value }, i) => value === `KEYS[${i + 1}]`);
  return [...emitLocals(keys, isWhole ? `unpack(KEYS, 1, ${keys.length})` : undefined), ...emitLocals(others)];
}

function emitLocals(locals, values = locals.map(({ value }) => value).join(', ')) {
  return locals.length === 0 ? [] : [`local ${locals.map(({ name }) => name).join(', ')} = ${values}`];
}

function emitFile(sources, file, prologueAt, under = []) {
  const { lines, contract } = sources.get(file);
  const parts = new Map(sources.includesOf(file, under).map(({ line, part }) => [line, part]));
  return lines.flatMap((content, index) => {
    const part = parts.get(index + 1);
    if (part) return emitPart(sources, part, contract, prologueAt(index + 1), [...under, file]);
    const text = content.trim();
    return text === '' || text.startsWith('--') ? [] : [text];
  });
}

function emitPart(sources, { file, contract }, outer, prologue, under) {
  const body = emitFile(sources, file, () => [], under);
  // What the including part gives as well is declared around that one.
  const declared = [...contract.gives.keys()].filter((name) => !outer?.gives.has(name));
  return [...(declared.length === 0 ? [] : [`local ${declared.join(', ')}`]), 'do', ...prologue, ...body, 'end'];
}
