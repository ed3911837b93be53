// Embeds lib/store/redis/scripts/*.lua into lib/store/redis/scripts/embedded.ts: nothing is read from disk at run time, so bundlers
// and packages cannot lose a script. Resolves `-- @include`, drops comment lines and indents: a script goes over the wire once for each server. `--check` only compares.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const folder = new URL('../lib/store/redis/scripts/', import.meta.url);
const target = new URL('../lib/store/redis/scripts/embedded.ts', import.meta.url);

function readScript(file) {
  return readFileSync(new URL(file, folder), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const included = line.match(/^\s*-- @include (\S+)$/);
      return included ? readScript(included[1]) : [line];
    })
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('--'));
}

export function embed() {
  const entries = readdirSync(folder)
    .filter((file) => file.endsWith('.lua'))
    .sort()
    .map((file) => {
      const source = readScript(file).join('\n');
      const sha = createHash('sha1').update(source).digest('hex');
      const name = file.replace('.lua', '');
      return `  ${name.includes('-') ? `'${name}'` : name}: {\n    sha: '${sha}',\n    source: ${JSON.stringify(source)},\n  },\n`;
    });
  return `// Made by scripts/embed-lua.mjs from lib/store/redis/scripts; change the .lua files and run \`npm run embed\`.\nexport const SCRIPTS = {\n${entries.join('')}} as const;\n\nexport type ScriptName = keyof typeof SCRIPTS;\n`;
}

if (process.argv[1]?.endsWith('embed-lua.mjs')) writeFileSync(target, embed());
