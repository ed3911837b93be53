/**
 * The text of a script with its parts, without comment lines and indents: it goes over the wire once for each server. What a part
 * that says what it gives keeps to itself lies in a block: Lua allows 200 locals at a time, and a closure that walks through many is slow.
 */
export function emitLua(sources, file) {
  return emitFile(sources, file).join('\n');
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
