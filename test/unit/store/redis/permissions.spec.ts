import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';

// The permissions that docs/security.md lists, compared with the commands that scripts and store name.

const STORE = 'lib/store/redis';

/** What the store calls of its client that is no command. */
const OF_THE_CLIENT = [
  'callbuffer',
  'connect',
  'disconnect',
  'duplicate',
  'off',
  'on',
  'pipeline',
  'sendcommand',
  'setmaxlisteners',
];
/** Sent for some applications only, and how the row begins that names them below the list. */
const FOR_SOME = {
  scan: 'the check `stray-keys`',
  select: 'a database other than 0',
  wait: '[`minReplicas`]',
  'exec multi': '[a MULTI of your own]',
};

const scripts = filesIn(`${STORE}/scripts`, '.lua');
const modules = filesIn(STORE, '.ts').filter((path) => !path.endsWith('embedded.ts'));
const byScripts = namesIn(scripts, /\bredis\.p?call\(\s*'(\w+)'/g);
const byStore = new Set([
  ...namesIn(modules, /\bclient(?: as Redis\))?\.(\w+)\(/g),
  ...namesIn(modules, /\bsend\(client, '(\w+)'/g),
  // In a pipeline, behind another command.
  ...namesIn(modules, /\)\.(info|wait|exec)\(/g),
]);
for (const name of OF_THE_CLIENT) byStore.delete(name);

const section = readFileSync('docs/security.md', 'utf8').split('## The Redis user\n')[1]!.split(/^#/m)[0]!;
const [, documented, prose] = section.match(/^```acl\n(.*?)^```$(.*)/ms)!;
/** What a part of the user is for, as the page tells it. */
const rowOf = (words: string) => prose!.split('\n').find((row) => row.startsWith(`| ${words}`))!;

it('docs/security.md lists exactly the commands that the scripts call and the store sends', () => {
  expect(byScripts).toContain('zadd');
  expect(byStore).toContain('evalsha');
  expect(byStore).toContain('hgetall');
  const used = new Set([...byScripts, ...byStore]);
  for (const [names, row] of Object.entries(FOR_SOME)) {
    for (const name of names.split(' ')) expect(used.delete(name)).toBe(true);
    expect(granted(rowOf(row))).toEqual(names.split(' '));
  }
  expect(granted(documented!)).toEqual([...used].sort());
});

it('those that it calls optional are those of scripts that are not checked at start', () => {
  const checked = namesIn([`${STORE}/scripts/server/permissions.lua`], /\b(?:try|note)\('(\w+)'/g);
  const optional = [rowOf('[relays]'), rowOf('[the events of all processes]')];
  expect(granted(optional.join())).toEqual([...byScripts].filter((name) => !checked.has(name)).sort());
});

it('no script hides the name of a command, but for the one that tries them all', () => {
  const hiding = scripts.filter((path) => /\bredis\.p?call\(\s*[^\s']/.test(readFileSync(path, 'utf8')));
  expect(hiding).toEqual([`${STORE}/scripts/server/permissions.lua`]);
});

/** The names after the plus signs, each once. */
function granted(text: string): string[] {
  return [...new Set([...text.matchAll(/\+([a-z|]+)/g)].map(([, name]) => name!))].sort();
}

function namesIn(paths: readonly string[], pattern: RegExp): Set<string> {
  return new Set(
    paths.flatMap((path) => [...readFileSync(path, 'utf8').matchAll(pattern)].map(([, name]) => name!.toLowerCase())),
  );
}

function filesIn(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => `${folder}/${file}`);
}
