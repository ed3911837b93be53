// Embeds lib/store/redis/scripts/*.lua into lib/store/redis/scripts/embedded.ts: nothing is read from disk at run time, so bundlers
// and packages cannot lose a script. See scripts/lua for what is refused, and for what is made of a part.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { check } from './lua/check.mjs';
import { emitLua } from './lua/emit-lua.mjs';
import { Sources } from './lua/read.mjs';

const folder = new URL('../lib/store/redis/scripts/', import.meta.url);
const target = new URL('../lib/store/redis/scripts/embedded.ts', import.meta.url);

function readText(file) {
  const url = new URL(file, folder);
  return existsSync(url) ? readFileSync(url, 'utf8') : undefined;
}

export function embed() {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.lua'))
    .sort();
  const sources = new Sources(readText);
  check(sources, files);
  const entries = files.map((file) => {
    const source = emitLua(sources, file);
    const sha = createHash('sha1').update(source).digest('hex');
    const name = file.replace('.lua', '');
    return `  ${name.includes('-') ? `'${name}'` : name}: {\n    sha: '${sha}',\n    source: ${JSON.stringify(source)},\n  },\n`;
  });
  return `// Made by scripts/embed-lua.mjs from lib/store/redis/scripts; change the .lua files and run \`npm run embed\`.\nexport const SCRIPTS = {\n${entries.join('')}} as const;\n\nexport type ScriptName = keyof typeof SCRIPTS;\n`;
}

if (process.argv[1]?.endsWith('embed-lua.mjs')) writeFileSync(target, embed());
