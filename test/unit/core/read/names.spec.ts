import { describe, expect, it } from '@jest/globals';
import { jobId, jobName, keyPart, keyPrefix } from '../../../../lib/core/read/names.js';

const KEY_PART = 'expected 1 to 64 of the characters A-Z a-z 0-9 . _ -, a letter or digit first';
const NOT_STRINGS: [unknown, string][] = [
  [undefined, 'undefined'],
  [null, 'null'],
  [7, '7'],
  [Number.NaN, 'NaN'],
  [['mail'], 'an array of 1'],
  [{}, 'an object'],
  [Symbol('mail'), 'a symbol'],
];

describe('the name of a queue or a worker', () => {
  it.each(['a', '7', 'mail', 'Mail.v2_high-prio', 'x'.repeat(64)])('may be %s', (name) => {
    expect(keyPart(name)).toEqual({ value: name });
  });

  it.each([
    ['nothing', ''],
    ['65 characters', 'x'.repeat(65)],
    ['10 kB', 'x'.repeat(10_240)],
    ['an opening brace', 'a{b'],
    ['a closing brace', 'a}b'],
    ['a colon', 'a:b'],
    ['a space', 'a b'],
    ['a space at its end', 'mail '],
    ['a line break', 'a\nb'],
    ['a line break at its end', 'mail\n'],
    ['a zero byte', 'a\0b'],
    ['an emoji', 'mail📧'],
    ['a letter beyond ASCII', 'größe'],
    ['a slash', 'a/b'],
    ['a star', 'a*'],
    ['a dot first', '.mail'],
    ['a dash first', '-mail'],
    ['an underscore first', '_mail'],
  ])('may not hold %s', (_, name) => {
    const shown = name.length > 60 ? `"${'x'.repeat(60)}…" (${name.length} characters)` : JSON.stringify(name);
    expect(keyPart(name)).toEqual({ problem: `got ${shown}, ${KEY_PART}` });
  });

  it.each(NOT_STRINGS)('may not be %p', (name, shown) => {
    expect(keyPart(name)).toEqual({ problem: `got ${shown}, ${KEY_PART}` });
  });
});

describe('a prefix', () => {
  it.each(['a', '7', 'shop:prod', 'a:b:c', 'a::b', 'Mail.v2_high-prio', 'x'.repeat(64), `x:${'y'.repeat(62)}`])(
    'may be %s',
    (prefix) => {
      expect(keyPrefix(prefix)).toEqual({ value: prefix });
    },
  );

  it.each([
    ['a colon first', ':shop'],
    ['a colon last', 'shop:'],
    ['a colon alone', ':'],
    ['65 characters', 'x'.repeat(65)],
    ['an opening brace', 'shop:{a'],
    ['a closing brace', 'shop}'],
    ['a hash tag', '{shop}'],
    ['a space', 'a b'],
    ['a star', 'shop:*'],
    ['a line break at its end', 'shop\n'],
  ])('may not hold %s', (_, prefix) => {
    expect(keyPrefix(prefix)).toEqual({
      problem: expect.stringMatching(
        / expected 1 to 64 of the characters A-Z a-z 0-9 \. _ - and, inside, ':', a letter or digit first$/,
      ),
    });
  });

  it.each(NOT_STRINGS)('may not be %p', (value, shown) => {
    expect(keyPrefix(value)).toEqual({ problem: expect.stringMatching(`got ${shown}, `) });
  });
});

describe.each([
  ['the name of a job', jobName, 128],
  ['the id of a job', jobId, 256],
])('%s', (_, check, longest) => {
  it.each(['reminder.send', 'user:7/reminder', 'größe', '日本語', 'mail 📧', 'a b', '{x}', '"quoted"'])(
    'may be %s',
    (text) => {
      expect(check(text)).toEqual({ value: text });
    },
  );

  it(`may have ${longest} characters and no more`, () => {
    expect(check('x'.repeat(longest))).toEqual({ value: 'x'.repeat(longest) });
    expect(check('x'.repeat(longest + 1))).toEqual({
      problem: `got "${'x'.repeat(60)}…" (${longest + 1} characters), expected 1 to ${longest} printable characters`,
    });
  });

  it.each([
    ['nothing', ''],
    ['a line break', 'a\nb'],
    ['a line break at its end', 'a\n'],
    ['a tab', 'a\tb'],
    ['a zero byte', 'a\0b'],
    ['an escape', '\u001b[31m'],
    ['a delete', 'a\u007f'],
    ['a C1 control', 'a\u0085b'],
    ['a line separator', 'a\u2028b'],
    ['a paragraph separator', 'a\u2029b'],
    ['a change of writing direction', 'a\u202eb'],
    ['half of a surrogate pair', 'a\ud83d'],
  ])('may not hold %s', (_case, text) => {
    expect(check(text)).toEqual({
      problem: `got ${JSON.stringify(text)}, expected 1 to ${longest} printable characters`,
    });
  });

  it.each(NOT_STRINGS)('may not be %p', (value, shown) => {
    expect(check(value)).toEqual({ problem: `got ${shown}, expected 1 to ${longest} printable characters` });
  });
});
