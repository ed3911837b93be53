import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = 'test/e2e/docs/testing';
const JEST_IMPORT = /^import \{ (.*) \} from '@jest\/globals';$/m;

/** The specs that docs/testing.md prints for Jest, each with what the page says to write for another runner: by file name. */
export function printedSpecs(runner: 'Vitest' | 'node:test'): Map<string, string> {
  const page = readFileSync('docs/testing.md', 'utf8');
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.spec.ts'));
  const specs = files.map((file): [string, string] => {
    const printed = readFileSync(`${FOLDER}/${file}`, 'utf8');
    return runner === 'Vitest'
      ? [file, forVitest(printed, page)]
      : [file.replace('.spec.', '.test.'), forNode(printed, page)];
  });
  return new Map(specs);
}

function forVitest(spec: string, page: string): string {
  const module = page.match(/\*\*Vitest:\*\* write `('\w+')` for `'@jest\/globals'`/)![1]!;
  return withCalls(spec, page, 1)
    .replace(/\bjest\b(?=.* from )/, 'vi')
    .replace("'@jest/globals'", module);
}

function forNode(spec: string, page: string): string {
  const lines = page
    .match(/\*\*node:test:\*\*.*?```js\n(.*?) {2}```/s)![1]!
    .replace(/^ {2}/gm, '')
    .trimEnd();
  const names = spec.match(JEST_IMPORT)![1]!;
  return withCalls(spec, page, 2)
    .replace(JEST_IMPORT, names.includes('jest') ? lines.replace('it }', 'it, mock }') : lines)
    .replace(/expect\((.*)\)\.toEqual\((.*)\);/g, 'assert.deepEqual($1, $2);');
}

/** With the calls of the page's table in the place of Jest's. */
function withCalls(spec: string, page: string, column: 1 | 2): string {
  const rows = [...page.matchAll(/^\| `(jest\..*?)` \| `(.*?)` \| `(.*?)` \|$/gm)];
  return rows.reduce((code, [, ofJest, ...others]) => {
    const pattern = ofJest!.replace(/[.(){}]/g, '\\$&').replace(' … ', '[^]*?');
    return code.replace(new RegExp(pattern), () => others[column - 1]!);
  }, spec);
}
