/**
 * The file with the scripts as JavaScript, of what emit-js.mjs answers. Code is kept as text, as Lua's is: a part stands in many scripts,
 * and each would be a copy otherwise. A script is compiled when a test first calls it.
 */
export function emitPrograms({ programs, patterns, commands, fields }) {
  const files = new Map();
  const pieces = new Map();
  const indexIn = (map, key) => {
    if (!map.has(key)) map.set(key, map.size);
    return map.get(key);
  };
  const entries = [...programs].map(([name, ofScript]) => {
    const indexes = ofScript.map(({ file, line, code }) =>
      indexIn(pieces, `[${indexIn(files, file)}, ${line}, ${JSON.stringify(code)}]`),
    );
    return `  ${name.includes('-') ? `'${name}'` : name}: [${indexes.join(', ')}],\n`;
  });
  return `// Made by scripts/embed-lua.mjs from lib/store/redis/scripts; change the .lua files and run \`npm run embed\`.
import type { ScriptName } from '../../../store/redis/scripts/embedded.js';

/** The commands of Redis that the scripts name: the compiler refuses a small Redis that lacks one. */
export type CommandOfScripts =
${commands.map((command) => `  | '${command}'\n`).join('')};

export const FILES: readonly string[] = [
${[...files.keys()].map((file) => `  '${file}',\n`).join('')}];

/** The names that the scripts write behind a point: what lies under these is a property of a table. */
export const FIELDS: ReadonlySet<string> = new Set(
  '${fields.join(' ')}'.split(' '),
);

/** Patterns of the scripts, as scripts/lua/js names them. */
export const PATTERNS: readonly RegExp[] = [
${patterns.map((pattern) => `  ${pattern},\n`).join('')}];

/** The file that it is made of, the line there of its first line, and its code. */
export type Piece = readonly [file: number, line: number, code: string];

export const PIECES: readonly Piece[] = [
${[...pieces.keys()].map((piece) => `  ${piece},\n`).join('')}];

export const PROGRAMS: Record<ScriptName, readonly number[]> = {
${entries.join('')}};
`;
}
