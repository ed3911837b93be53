import { expect, it } from '@jest/globals';
import { jsonLine } from '../../../lib/command-line/text/json-line.js';
import { styleOf } from '../../../lib/command-line/text/style.js';
import { pairs, table } from '../../../lib/command-line/text/table.js';
import { about } from '../../../lib/command-line/text/time.js';
import { asTyped, wrap } from '../../../lib/command-line/text/words.js';

const plain = styleOf(false);
const COLUMNS = [{ title: 'id' }, { title: 'n', side: 'right' }, { title: 'error', most: 'rest' }] as const;

it('stands in columns, numbers to the right', () => {
  const rows = [
    ['a', '1', 'no'],
    ['order-7', '100', 'no such order'],
  ];
  expect(table(COLUMNS, rows, plain)).toBe(
    ['id         n  error', 'a          1  no', 'order-7  100  no such order'].join('\n'),
  );
});

it('cuts what is long, but never the key, which would have to be typed in', () => {
  const [head, ...lines] = table(
    COLUMNS,
    [
      ['k'.repeat(120), '1', 'e'.repeat(300)],
      ['short', '22', 'no'],
    ],
    plain,
  ).split('\n');
  expect(head).toMatch(/^id +n {2}error$/);
  expect(lines[0]).toBe('k'.repeat(120));
  expect(lines[1]).toMatch(/^ {10,} 1 {2}e+…$/);
  expect([head, ...lines.slice(1)].filter((line) => line!.length > 100)).toEqual([]);
  expect(lines[1]!.length).toBe(100);
  expect(lines[2]).toMatch(/^short +22 {2}no$/);
});

it('puts a text below a row, cut to the width', () => {
  const lines = table(
    COLUMNS.slice(0, 2),
    [
      ['a', '1'],
      ['b', '2'],
    ],
    plain,
    ['e'.repeat(200), ''],
  ).split('\n');
  expect(lines).toEqual(['id  n', 'a   1', `    ${'e'.repeat(95)}…`, 'b   2']);
});

it('shows control characters as what they are', () => {
  const rows = [['a\u001b[2Jb', '1', 'first\nsecond\u0007']];
  expect(table(COLUMNS, rows, plain).split('\n')[1]).toBe(String.raw`a\u001b[2Jb  1  first\nsecond\u0007`);
  expect(pairs([['error', 'a\u001b[2Jb']], plain)).toBe(String.raw`error  a\u001b[2Jb`);
  expect(asTyped(`it's \u001b`)).toBe(String.raw`'it'\''s \u001b'`);
  expect(wrap('a \u001b b', 3)).toEqual(['a', String.raw`\u001b`, 'b']);
});

it('says lengths of time in one unit', () => {
  expect([0, 999, 1_000, 119_999, 120_000, 7_199_999, 7_200_000, 172_800_000].map(about)).toEqual([
    '0 ms',
    '999 ms',
    '1 s',
    '119 s',
    '2 min',
    '119 min',
    '2 h',
    '2 d',
  ]);
});

it('has room for more rows than a call takes arguments', () => {
  const rows = Array.from({ length: 200_000 }, (_, i) => [`${i}`, '1', 'no']);
  expect(table(COLUMNS, rows, plain).split('\n')).toHaveLength(200_001);
});

it('JSON has nothing in it that a terminal takes for a command, and says the same', () => {
  const value = { 'a\u009b31m': ['\u007f', '\u202egpj', '\u2028', '👩‍💻', '\u{10fffd}', '\u001b[2J', 'plain ü 漢'] };
  const line = jsonLine(value);
  expect(JSON.parse(line)).toEqual(value);
  expect(line).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
  expect(line).toContain('plain ü 漢');
});
