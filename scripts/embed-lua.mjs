// Embeds lib/store/redis/scripts/*.lua into embedded.ts beside them: nothing is read from disk at run time, so bundlers and packages
// cannot lose a script. Makes contracts.ts there from their headers. See scripts/lua for what is refused, and for what is made of a part.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { check } from './lua/check.mjs';
import { emitLua } from './lua/emit-lua.mjs';
import { emitTypes } from './lua/emit-types.mjs';
import { readKeyTable } from './lua/key-table.mjs';
import { Sources } from './lua/read.mjs';

const folder = new URL('../lib/store/redis/scripts/', import.meta.url);

export function readText(file) {
  const url = new URL(file, folder);
  return existsSync(url) ? readFileSync(url, 'utf8') : undefined;
}

/** The text of each file that is made, by its name. `read` answers the text of a .lua file by its path in the folder of scripts. */
export function embed(read = readText) {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.lua'))
    .sort();
  const sources = new Sources(read);
  const keyTable = readKeyTable(readFileSync(new URL('../keys.ts', folder), 'utf8'));
  const declaredAt = check(sources, files, keyTable);
  const headers = files.map((file) => sources.get(file).header);
  return {
    'embedded.ts': emitScripts(
      files.map((file) => [file.replace('.lua', ''), emitLua(sources, file, declaredAt.get(file))]),
    ),
    'contracts.ts': emitTypes(headers),
  };
}

function emitScripts(scripts) {
  const entries = scripts.map(([name, source]) => {
    const sha = createHash('sha1').update(source).digest('hex');
    return `  ${name.includes('-') ? `'${name}'` : name}: {\n    sha: '${sha}',\n    source: ${JSON.stringify(source)},\n  },\n`;
  });
  return `// Made by scripts/embed-lua.mjs from lib/store/redis/scripts; change the .lua files and run \`npm run embed\`.\nexport const SCRIPTS = {\n${entries.join('')}} as const;\n\nexport type ScriptName = keyof typeof SCRIPTS;\n`;
}

if (process.argv[1]?.endsWith('embed-lua.mjs'))
  for (const [file, text] of Object.entries(embed())) writeFileSync(new URL(file, folder), text);
