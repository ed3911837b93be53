import { expect, it } from '@jest/globals';
import { oneLine } from '../../../../lib/core/read/one-line.js';

it.each([
  ['a line break', 'boom\nforged', String.raw`boom\nforged`],
  ['a carriage return and a tab', 'a\r\tb', String.raw`a\r\tb`],
  ['colours and bells of terminals', '\u001b[31mred\u0007', String.raw`\u001b[31mred\u0007`],
  ['DEL and C1', '\u007f\u0085\u009b', String.raw`\u007f\u0085\u009b`],
  ['line and paragraph separators', '\u2028\u2029', String.raw`\u2028\u2029`],
  ['what turns the direction of writing', '\u202eabc\u2066', String.raw`\u202eabc\u2066`],
  ['half a character', 'x\ud83d', String.raw`x\ud83d`],
  ['a tag beyond the first plane', '\u{e0041}', String.raw`\u{e0041}`],
])('%s becomes visible', (_, text, line) => {
  expect(oneLine(text)).toBe(line);
  expect(oneLine(line)).toBe(line);
});

it('what people write stays as it is', () => {
  const text = `C:\\new\\table "ümlaut" 日本語 عربى 🙂 it's 5 > 4`;
  expect(oneLine(text)).toBe(text);
});
