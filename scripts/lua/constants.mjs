import { LuaProblem } from './problem.mjs';

/** The constants of a file of `NAME = value` lines, each with the comment above it. */
export function readConstants(file, text) {
  const constants = [];
  let prose = [];
  for (const [index, line] of text.split('\n').entries()) {
    const [, name, value] = line.match(/^([A-Z][A-Z_]+) = ([\d.e* ]+)$/) ?? [];
    if (name) constants.push({ name, value, prose: prose.splice(0).join(' ') });
    else if (line === '') prose = [];
    else if (line.startsWith('-- ')) prose.push(line.slice(3));
    else throw new LuaProblem(file, index + 1, `got '${line}', expected a comment or NAME = value`);
  }
  return constants;
}

/** A Lua file with values in the place of the names of constants: these need no local, of which Lua allows 200. */
export function withValues(constants, text) {
  const values = new Map(constants.map(({ name, value }) => [name, value.includes(' ') ? `(${value})` : value]));
  const isComment = (line) => /^\s*--/.test(line);
  return text
    .split('\n')
    .map((line) => (isComment(line) ? line : line.replace(/\b[A-Z_]{2,}\b/g, (name) => values.get(name) ?? name)))
    .join('\n');
}

export function emitConstants(constants) {
  const lines = constants.map(
    ({ name, value, prose }) => `${prose && `/** ${prose} */\n`}export const ${name} = ${value};\n`,
  );
  return `// Made by scripts/embed-lua.mjs from constants.lua beside this file; change that and run \`npm run embed\`.\n${lines.join('')}`;
}
