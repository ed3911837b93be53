import { givenBy } from './contract.mjs';

/**
 * The text of a script: what its header gives names to, as far as these are `used`, then its lines and those of its parts, without
 * comment lines and indents: it goes over the wire once for each server. What a part that says what it gives keeps to itself lies in a
 * block: Lua allows 200 locals at a time, and a closure that walks through many is slow.
 */
export function emitLua(sources, file, used) {
  const { header } = sources.get(file);
  return [...(header ? emitPrologue(header, used) : []), ...emitFile(sources, file)].join('\n');
}

function emitPrologue(header, used) {
  const given = [...givenBy(header)].filter(([name]) => used.has(name)).map(([name, { value }]) => ({ name, value }));
  const keys = given.filter(({ value }) => value.startsWith('KEYS'));
  const others = given.filter((each) => !keys.includes(each));
  const isWhole = keys.length > 3 && keys.every(({ value }, i) => value === `KEYS[${i + 1}]`);
  return [...emitLocals(keys, isWhole ? `unpack(KEYS, 1, ${keys.length})` : undefined), ...emitLocals(others)];
}

function emitLocals(locals, values = locals.map(({ value }) => value).join(', ')) {
  return locals.length === 0 ? [] : [`local ${locals.map(({ name }) => name).join(', ')} = ${values}`];
}

function emitFile(sources, file, under = []) {
  const { lines, contract } = sources.get(file);
  const parts = new Map(sources.includesOf(file, under).map(({ line, part }) => [line, part]));
  return lines.flatMap((content, index) => {
    const part = parts.get(index + 1);
    if (part) return emitPart(sources, part, contract, [...under, file]);
    const text = content.trim();
    return text === '' || text.startsWith('--') ? [] : [text];
  });
}

function emitPart(sources, { file, contract }, outer, under) {
  const body = emitFile(sources, file, under);
  if (!contract) return body;
  // What the including part gives as well is declared around that one.
  const declared = [...contract.gives.keys()].filter((name) => !outer?.gives.has(name));
  return [...(declared.length === 0 ? [] : [`local ${declared.join(', ')}`]), 'do', ...body, 'end'];
}
