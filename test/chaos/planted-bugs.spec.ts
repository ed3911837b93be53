import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';

it('the README lists each planted bug, and where it is planted', () => {
  const bugs = read('planted-bugs.mjs').matchAll(/^ {2}'(.*)': \{\n {4}file: 'lib\/store\/(.*)',$/gm);
  const rows = read('README.md')
    .split('## Planted bugs')[1]!
    .matchAll(/^\| ([^|]+) \| `(.*?)`/gm);
  const planted = [...bugs].map(([, name, file]) => ({ name, file }));
  expect(planted.length).toBeGreaterThan(10);
  expect([...rows].map(([, name, file]) => ({ name, file }))).toEqual(planted);
});

function read(file: string): string {
  return readFileSync(`test/chaos/${file}`, 'utf8');
}
