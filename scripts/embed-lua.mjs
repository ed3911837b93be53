// Embeds the scripts of lib/store/redis/scripts into embedded.ts there: nothing is read from disk at run time, so bundlers and packages
// cannot lose a script. Makes contract.ts in each folder from the headers of its scripts, and core/constants.ts from constants.lua beside
// it; and of the same scripts the JavaScript that the test kit runs. See scripts/lua for what is refused, and for what is made of a part.
// With `--show <script>[:<line>]` it writes nothing, and prints the script beside its sources: see scripts/lua/show.mjs.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { check } from './lua/check.mjs';
import { emitConstants, readConstants, withValues } from './lua/constants.mjs';
import { emitJs } from './lua/emit-js.mjs';
import { emitLua } from './lua/emit-lua.mjs';
import { emitPrograms } from './lua/emit-programs.mjs';
import { emitReplyShape, emitTypes } from './lua/emit-types.mjs';
import { readKeyTable } from './lua/key-table.mjs';
import { Sources } from './lua/read.mjs';
import { ShortNames } from './lua/short-names.mjs';
import { showScript } from './lua/show.mjs';

const folder = new URL('../lib/store/redis/scripts/', import.meta.url);

/** Below everything, as scripts, store and workers keep to them. */
const CONSTANTS = '../../../core/constants.lua';

/** The same scripts as JavaScript, for the test kit. */
const PROGRAMS = '../../../testing/redis/lua/programs.ts';

export function readText(file) {
  const url = new URL(file, folder);
  return existsSync(url) ? readFileSync(url, 'utf8') : undefined;
}

/** The text of each file that is made, by its name. `read` answers the text of a .lua file by its path in the folder of scripts. */
export function embed(read = readText) {
  const { scripts, constants, toJs } = emitAll(read);
  return {
    'embedded.ts': emitScripts(scripts),
    [PROGRAMS]: emitPrograms(toJs()),
    ...contractsOf(scripts),
    '../../../core/constants.ts': emitConstants(constants),
  };
}

/** Of each script its name, its digest, and its lines as emit-lua.mjs describes them. Makes no JavaScript, which is half of the work. */
export function listScripts(read = readText) {
  return emitAll(read).scripts.map(({ header, pieces }) => ({
    name: header.script,
    sha: shaOf(textOf(pieces.flat())),
    lines: pieces.flat(),
  }));
}

function emitAll(read) {
  const constants = readConstants('constants.lua', readFileSync(new URL(CONSTANTS, folder), 'utf8'));
  const sources = new Sources((file) => {
    const text = read(file);
    return text === undefined ? undefined : withValues(constants, text);
  });
  const keyTable = readKeyTable(readFileSync(new URL('../keys.ts', folder), 'utf8'));
  const scripts = readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith('.lua'))
    .map((file) => sources.get(file))
    .filter(({ header }) => header)
    .sort((a, b) => (a.header.script < b.header.script ? -1 : 1));
  const files = scripts.map(({ file }) => file);
  const checked = check(sources, files, keyTable);
  const pieces = emitLua(sources, files, checked.declaredAt, new ShortNames(sources, checked.names));
  return {
    constants,
    scripts: scripts.map(({ file, header }) => ({ file, header, pieces: pieces.get(file) })),
    toJs() {
      const js = emitJs(sources, files, checked);
      return { ...js, programs: new Map(scripts.map(({ file, header }) => [header.script, js.programs.get(file)])) };
    },
  };
}

/** One in the folder of each noun: who imports it meets nobody else's. */
function contractsOf(scripts) {
  const folders = new Map();
  for (const { file, header } of scripts) {
    const folder = file.split('/')[0];
    folders.set(folder, [...(folders.get(folder) ?? []), header]);
  }
  return Object.fromEntries(
    [...folders].sort().map(([folder, headers]) => [`${folder}/contract.ts`, emitTypes(headers)]),
  );
}

const textOf = (lines) => lines.map(({ sent }) => sent).join('\n');
const shaOf = (text) => createHash('sha1').update(text).digest('hex');

/** Each piece stands there once, however many scripts have it: without that the same parts would be most of the package. */
function emitScripts(scripts) {
  const indexes = new Map();
  const indexOf = (piece) => {
    if (!indexes.has(piece)) indexes.set(piece, indexes.size);
    return indexes.get(piece);
  };
  const entries = scripts.map(({ header, pieces }) => {
    const name = header.script;
    const texts = pieces.map(textOf);
    return `  ${name.includes('-') ? `'${name}'` : name}: join('${shaOf(texts.join('\n'))}', [${texts.map(indexOf).join(', ')}], ${emitReplyShape(header)}),\n`;
  });
  const pieces = [...indexes.keys()].map((piece) => `  ${JSON.stringify(piece)},\n`);
  return `// Made by scripts/embed-lua.mjs from lib/store/redis/scripts; change the .lua files and run \`npm run embed\`.
import type { ReplyShape } from './reply-shape.js';

const PIECES: readonly string[] = [
${pieces.join('')}];

function join(sha: string, pieces: readonly number[], reply: ReplyShape) {
  return { sha, source: pieces.map((index) => PIECES[index]).join('\\n'), reply };
}

export const SCRIPTS = {
${entries.join('')}};

export type ScriptName = keyof typeof SCRIPTS;
`;
}

if (process.argv[1]?.endsWith('embed-lua.mjs')) {
  const [flag, what] = process.argv.slice(2);
  if (flag === '--show') process.stdout.write(showScript(listScripts(), what ?? ''));
  else for (const [file, text] of Object.entries(embed())) writeFileSync(new URL(file, folder), text);
}
