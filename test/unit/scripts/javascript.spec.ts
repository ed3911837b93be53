import { expect, it } from '@jest/globals';
import { jsOf, refusalOf } from './lua-files.js';

const HEADER = ['-- script: test', '-- @node jobs', '-- @returns text', '-- @repeat it only reads.'].join('\n');
const refused = (...body: string[]) => refusalOf({ 'script.lua': [HEADER, ...body].join('\n') });

it.each([
  ["return string.reverse('x')", /the kit does not know string\.reverse/],
  ['local t = {} return t:name()', /the kit knows no methods/],
  ['for key in coroutine do end', /coroutine/],
  ["error('x')", /the kit does not know error/],
  ['local each = pairs return each', /the kit does not know pairs/],
  ['local text = string return text', /the kit does not know string:/],
  ['local first = redis.call for key in first do end', /ipairs, pairs and string\.gmatch alone/],
  ['local key, value = next({}) return key', /told the key alone by 'next'/],
  ['return next({})', /told the key alone by 'next'/],
  ["return string.match('x', '%b()')", /uses %b/],
  ["return string.match('x', '()x')", /captures places/],
  ["for word in string.gmatch('x', '^x') do end", /has no '\^'/],
])('what the kit cannot run is refused with its file and its line: %s', (line, why) => {
  const told = refused('local before = 1', line);
  expect(told).toMatch(why);
  expect(told).toMatch(/script\.lua:6\b/);
});

it('a line of the JavaScript stands for the line of Lua in the same place, also behind a part', () => {
  const files = {
    'script.lua': [HEADER, 'local base = 1', '', '-- @include parts/a.lua', '', 'return sum'].join('\n'),
    'parts/a.lua': ['-- @takes base', '-- @gives sum', '', 'sum = base + 1'].join('\n'),
  };
  const lines = jsOf(files, ['script.lua'])
    .programs.get('script.lua')!
    .flatMap(({ file, line, code }) => code.split('\n').map((text, i) => [`${file}:${line + i}`, text] as const));
  const placeOf = (part: string) => lines.find(([, text]) => text.includes(part))?.[0];
  expect([placeOf('base = 1'), placeOf('base + 1'), placeOf('return (sum)')]).toEqual([
    'script.lua:5',
    'parts/a.lua:4',
    'script.lua:9',
  ]);
});

it('tells which commands the scripts name, so that the compiler refuses a small Redis that lacks one', () => {
  const { commands } = jsOf(
    { 'script.lua': [HEADER, "redis.call('ZPOPMIN', 'x')", "return redis.pcall('GET', 'y')"].join('\n') },
    ['script.lua'],
  );
  expect(commands).toEqual(['GET', 'ZPOPMIN']);
});
