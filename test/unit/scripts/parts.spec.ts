import { describe, expect, it } from '@jest/globals';
import { embed, jsOf, piecesOf, refusalOf } from './lua-files.js';

const lines = (...all: string[]) => all.join('\n');

/** What a script says that has no argument. */
const HEADER = lines('-- script: test', '-- @node jobs', '-- @returns text', '-- @repeat it only reads.');
const scriptOf = (...body: string[]) => lines(HEADER, ...body);

/** A script that has `base`, includes a part, and goes on with `after`. */
const embedWith = (part: string, after = '') =>
  embed({ 'script.lua': scriptOf('local base = 1', '-- @include parts/a.lua', after), 'parts/a.lua': part });

const GOOD = lines('-- @takes base', '-- @gives sum', 'local two = 2', 'sum = base + two');

describe('a part that says what it takes and gives', () => {
  it('lies in a block, with what it gives declared before', () => {
    expect(embedWith(GOOD, 'return sum')).toBe(
      lines('local base = 1', 'local sum', 'do', 'local two = 2', 'sum = base + two', 'end', 'return sum'),
    );
  });

  it('is not sent with a script that goes without it, and stays in the others', () => {
    const header = lines(
      '-- script: test',
      '-- @node jobs',
      '-- @without parts/b.lua',
      '-- @returns text',
      '-- @repeat no.',
    );
    const files = {
      'script.lua': lines(header, 'local base = 1', '-- @include parts/a.lua'),
      'other.lua': scriptOf('local base = 1', '-- @include parts/a.lua').replace('script: test', 'other: test'),
      'parts/a.lua': lines('-- @changes base', 'if base > 1 then', '-- @include parts/b.lua', 'end'),
      'parts/b.lua': lines('-- @changes base', 'base = 2'),
    };
    expect(embed(files)).toBe(
      lines(
        'local base = 1',
        'do',
        'if base > 1 then',
        'do',
        "error'this script goes without parts/b.lua'",
        'end',
        'end',
        'end',
      ),
    );
    const [, other] = piecesOf(files, ['script.lua', 'other.lua']);
    expect(other!.flat().map(({ written }) => written)).toContain('base = 2');
    const { programs } = jsOf(files, ['script.lua', 'other.lua']);
    const codeOf = (script: string) =>
      programs
        .get(script)!
        .map(({ code }) => code)
        .join('\n');
    expect(codeOf('script.lua')).toContain("throw new Error('this script goes without parts/b.lua');");
    expect(codeOf('other.lua')).not.toContain('goes without');
    const unknown = { ...files, 'script.lua': files['script.lua'].replace('b.lua', 'c.lua') };
    expect(refusalOf(unknown)).toBe('script.lua:3: @without parts/c.lua: no part of this script includes it');
    const giving = {
      ...files,
      'parts/b.lua': lines('-- @gives sum', 'sum = 2'),
      'parts/a.lua': lines('-- @takes base', 'if base > 1 then', '-- @include parts/b.lua', 'base(sum)', 'end'),
    };
    expect(refusalOf(giving)).toBe('script.lua:3: @without parts/b.lua: it gives names, which others would miss');
  });

  it('may give a function, which may call itself', () => {
    const part = lines('-- @takes base', '-- @gives fall', 'function fall(n) return n > base and fall(n - 1) or n end');
    expect(embedWith(part, 'return fall(3)')).toContain('local fall\ndo\nfunction fall(n)');
  });

  it('may change what it takes, where it says so', () => {
    expect(embedWith(lines('-- @changes base', 'base = base + 1'))).toBe(
      lines('local base = 1', 'do', 'base = base + 1', 'end'),
    );
  });

  it('gives its names to the parts that it includes, and hands on what these give', () => {
    const files = {
      'script.lua': scriptOf('local base = 1', '-- @include parts/a.lua', 'return twice'),
      'parts/a.lua': lines('-- @takes base', '-- @gives twice', '-- @include parts/b.lua', 'half = half + 1'),
      'parts/b.lua': lines('-- @takes base', '-- @gives twice, half', 'twice, half = base * 2, base / 2'),
    };
    expect(embed(files)).toBe(
      lines(
        'local base = 1',
        'local twice',
        'do',
        'local half',
        'do',
        'twice, half = base * 2, base / 2',
        'end',
        'half = half + 1',
        'end',
        'return twice',
      ),
    );
  });

  it('may be included where only a block, or a function, has what it takes', () => {
    const script = scriptOf(
      'local function f(base)',
      '  -- @include parts/a.lua',
      '  return sum',
      'end',
      'return f(1)',
    );
    expect(embed({ 'script.lua': script, 'parts/a.lua': GOOD })).toContain('local function f(base)\nlocal sum\ndo\n');
  });

  it('may call its own locals, parameters and fields what it likes', () => {
    const part = lines(
      '-- @takes base',
      '-- @gives list',
      'local function add(value) return { other = value, [base] = value.field } end',
      'list = {}',
      "for index, item in ipairs({ 'x' }) do list[index] = add(item) end",
      'repeat local isOver = list.size until isOver or #list > base',
    );
    expect(embedWith(part, 'return list')).toContain('local list\ndo\n');
  });
});

describe('what is needed', () => {
  const PARTS = {
    'parts/a.lua': lines('-- @gives one', 'one = 1'),
    'parts/b.lua': lines('-- @needs parts/a.lua', '-- @gives two', 'two = one + 1'),
    'parts/c.lua': lines('-- @needs parts/a.lua, parts/b.lua', '-- @takes base', 'base(one, two)'),
    'parts/d.lua': lines('-- @takes base', '-- @include parts/c.lua', 'base()'),
  };
  const A = ['local one', 'do', 'one = 1', 'end'];
  const B = ['local two', 'do', 'two = one + 1', 'end'];
  const embedded = (...body: string[]) => embed({ ...PARTS, 'script.lua': scriptOf('local base', ...body) });
  const refused = (...body: string[]) => refusalOf({ ...PARTS, 'script.lua': scriptOf('local base', ...body) });

  it('stands before that which needs it, in the order of needs, once', () => {
    expect(embedded('base()', '-- @needs parts/b.lua, parts/a.lua', 'base(one, two)', '-- @include parts/c.lua')).toBe(
      lines('local base', 'base()', ...A, ...B, 'base(one, two)', 'do', 'base(one, two)', 'end'),
    );
  });

  it('by a part that lies in another one stands before that one, in the script', () => {
    expect(embedded('-- @include parts/d.lua')).toBe(
      lines('local base', ...A, ...B, 'do', 'do', 'base(one, two)', 'end', 'base()', 'end'),
    );
  });

  it('in a block stands in that block, unless it stands outside already', () => {
    expect(embedded('-- @needs parts/a.lua', 'if base(one) then', '  -- @include parts/c.lua', 'end')).toBe(
      lines('local base', ...A, 'if base(one) then', ...B, 'do', 'base(one, two)', 'end', 'end'),
    );
  });

  it('in a block and behind it is refused, as it would stand there twice', () => {
    expect(refused('if base() then', '  -- @include parts/c.lua', 'end', '-- @needs parts/b.lua')).toBe(
      'script.lua:9: parts/a.lua is needed in a block above and here: name it in @needs before both',
    );
  });

  it('leaves the lines of the script their numbers', () => {
    expect(refused('-- @needs parts/b.lua', 'base(two', 'base()')).toBe("script.lua:8: ')' expected near 'base'");
  });

  it('in a circle is refused', () => {
    const circle = lines('-- @needs parts/c.lua', '-- @gives one', 'one = 1');
    const files = { ...PARTS, 'parts/a.lua': circle, 'script.lua': scriptOf('-- @needs parts/b.lua', 'return two') };
    expect(refusalOf(files)).toBe(
      'parts/c.lua:1: parts/a.lua would need itself: parts/a.lua > parts/c.lua > parts/a.lua',
    );
  });

  it.each<[what: string, body: string[], part: string, problem: string]>([
    ['by a part and not there', [], '-- @needs parts/none.lua', 'parts/e.lua:1: there is no parts/none.lua'],
    [
      'by a script and not there',
      ['-- @needs parts/none.lua'],
      '-- @needs parts/a.lua',
      'script.lua:6: there is no parts/none.lua',
    ],
    [
      'by a script that uses nothing of it',
      ['-- @needs parts/a.lua', 'base()'],
      lines('-- @takes base', 'base()'),
      'script.lua:6: nothing that parts/a.lua gives is used: take it off @needs',
    ],
    [
      'by a part that uses nothing of it',
      [],
      lines('-- @needs parts/a.lua, parts/b.lua', '-- @takes base', 'base(one)'),
      'parts/e.lua:1: nothing that parts/b.lua gives is used: take it off @needs',
    ],
    [
      'by a script that does not name it',
      ['-- @needs parts/b.lua', 'base(one, two)'],
      lines('-- @takes base', 'base()'),
      "script.lua:7: 'one' is given by parts/a.lua: add that to @needs",
    ],
    [
      'by a part that does not name it',
      [],
      lines('-- @needs parts/b.lua', '-- @takes base', 'base(one, two)'),
      "parts/e.lua:3: 'one' is given by parts/a.lua: add that to @needs",
    ],
    [
      'and taken as well',
      [],
      lines('-- @needs parts/a.lua', '-- @takes base, one', 'base(one)'),
      "parts/e.lua:2: 'one' is given by parts/a.lua, which is in @needs: take it off",
    ],
    [
      'and written',
      [],
      lines('-- @needs parts/a.lua', '-- @takes base', 'base(one)', 'one = 2'),
      "parts/e.lua:4: 'one' is written: put it into @changes",
    ],
  ])('%s is refused', (_what, body, part, problem) => {
    const files = {
      ...PARTS,
      'parts/e.lua': part,
      'script.lua': scriptOf('local base', ...body, '-- @include parts/e.lua'),
    };
    expect(refusalOf(files).split('\n')).toContain(problem);
  });
});

describe('refused with file, line, name and what to do is', () => {
  it.each<[what: string, part: string, after: string, problem: string]>([
    [
      'a name that a part neither declares nor takes',
      lines('-- @takes base', '-- @gives sum', 'sum = base + other'),
      'return sum',
      "parts/a.lua:3: 'other' is neither declared here nor taken: add it to @takes, need the part that gives it, or make it a local",
    ],
    [
      'a name that is used after the block of its local',
      lines('-- @takes base', '-- @gives sum', 'do local two = base end', 'sum = two'),
      'return sum',
      "parts/a.lua:4: 'two' is neither declared here nor taken: add it to @takes, need the part that gives it, or make it a local",
    ],
    [
      'a name that nothing before gives',
      lines('-- @takes base, other', '-- @gives sum', 'sum = base + other'),
      'return sum',
      "script.lua:6: parts/a.lua takes 'other', which nothing before this line gives: include the part that gives it earlier, or declare it",
    ],
    [
      'a name in @gives that is never assigned',
      lines('-- @takes base', '-- @gives sum', 'local sum = base'),
      'return sum',
      "parts/a.lua:2: 'sum' is in @gives and never assigned: assign to it, without 'local'",
    ],
    [
      'a name in @gives that nobody uses who includes the part',
      lines('-- @takes base', '-- @gives sum, two', 'two = 2', 'sum = base + two'),
      'return sum',
      "parts/a.lua:2: 'two' is in @gives and used by nothing that includes this part: make it a local",
    ],
    [
      'a name in @gives of which the script keeps a local of its own',
      lines('-- @takes base', '-- @gives sum', 'sum = base'),
      lines('local function f(sum) return sum end', 'return f(1)'),
      "parts/a.lua:2: 'sum' is in @gives and used by nothing that includes this part: make it a local",
    ],
    [
      'a given name that the script has already',
      lines('-- @takes base', '-- @gives other', 'other = base'),
      lines('other()', '-- @include parts/b.lua', 'return other'),
      "script.lua:8: parts/b.lua gives 'other', which there is already: give one of the two another name",
    ],
    [
      'a name in @takes that is not used',
      lines('-- @takes base', '-- @gives sum', 'sum = 1'),
      'return sum',
      "parts/a.lua:1: 'base' is in @takes and not used: take it off",
    ],
    [
      'a write to a name that is only taken',
      lines('-- @takes base', 'base = base + 1'),
      '',
      "parts/a.lua:2: 'base' is written: put it into @changes",
    ],
    [
      'a name in @changes that is only read',
      lines('-- @changes base', '-- @gives sum', 'sum = base'),
      'return sum',
      "parts/a.lua:1: 'base' is in @changes and never assigned: put it into @takes instead",
    ],
    [
      'a name that is listed twice',
      lines('-- @takes base', '-- @changes base', 'base = base + 1'),
      '',
      "parts/a.lua:2: 'base' is in @takes already; name it once",
    ],
    [
      'a list that is no list of names',
      lines('-- @takes base and more', 'base()'),
      '',
      "parts/a.lua:1: @takes: got 'base and more', expected names with commas between them",
    ],
    [
      'an argument by its number',
      lines('-- @gives sum', 'sum = ARGV[1]'),
      'return sum',
      'parts/a.lua:2: ARGV is used: take the argument or the key by its name, or, to read a list, ARGV itself',
    ],
    [
      'a part that takes what the part around it does not',
      lines('-- @gives sum', '-- @include parts/c.lua', 'sum = 1'),
      'return sum',
      "parts/a.lua:2: parts/c.lua takes 'base': add it to the @takes of parts/a.lua, or declare it before",
    ],
    [
      'a name of the script that neither it nor a part declares',
      GOOD,
      'return sum + two',
      "script.lua:7: 'two' is no local of this script, and neither its header nor a part before this line gives it: declare it there, need the part that gives it, or add it to the @gives of a part",
    ],
    ['a part that is not there', GOOD, '-- @include parts/none.lua', 'script.lua:7: there is no parts/none.lua'],
    [
      'a part that includes itself',
      lines('-- @takes base', '-- @include parts/a.lua'),
      '',
      'parts/a.lua:2: parts/a.lua would include itself: parts/a.lua > parts/a.lua',
    ],
    [
      'a part that says nothing',
      'return 1',
      '',
      'parts/a.lua:1: it says nothing of what it needs, takes and gives: add @needs, @takes, @gives or @changes',
    ],
    ['what is no Lua', lines('-- @takes base', 'base('), '', "parts/a.lua:2: ')' expected near '<eof>'"],
  ])('%s', (_what, part, after, problem) => {
    const files = {
      'script.lua': scriptOf('local base = 1', '-- @include parts/a.lua', after),
      'parts/a.lua': part,
      'parts/b.lua': lines('-- @gives other', 'other = 1'),
      'parts/c.lua': lines('-- @takes base', 'return base'),
    };
    expect(refusalOf(files)).toBe(problem);
  });

  it('no name that one of several scripts uses, or a part that hands it on', () => {
    const files = {
      'script.lua': scriptOf('local base = 1', '-- @include parts/a.lua', '-- @include parts/c.lua', 'return product'),
      'other.lua': scriptOf('local base = 1', '-- @include parts/b.lua', 'return sum').replace('script', 'other'),
      'parts/a.lua': lines('-- @takes base', '-- @gives product', '-- @include parts/b.lua', 'base()'),
      'parts/b.lua': lines('-- @takes base', '-- @gives sum, product', 'sum, product = base + 2, base * 2'),
      'parts/c.lua': lines('-- @changes product', 'product = product + 1'),
    };
    expect(refusalOf(files)).toBe(
      "parts/b.lua:2: 'sum' is in @gives and used by nothing that includes this part: make it a local",
    );
    expect(refusalOf(files, 'other.lua')).toBe('');
  });

  it('a field that nothing sets, of a table that is made with its fields named', () => {
    const refusal = (made: string, ...uses: string[]) =>
      refusalOf({
        'script.lua': scriptOf('-- @include parts/a.lua', '-- @include parts/b.lua', ...uses),
        'parts/a.lua': lines('-- @gives found', made),
        'parts/b.lua': lines('-- @takes found', 'found.late = found.ids'),
      });
    const isRefused = "script.lua:7: nothing sets 'found.lost': name it where 'found' is made, or correct the name";
    expect(refusal('found = { ids = {} }', 'return found.lost')).toBe(isRefused);
    expect(refusal('found = { ids = {} }', 'found.ids[1] = found.late')).toBe('');
    expect(refusal('found = { ids = {} }', 'local other = { found = {} }', 'return other.found.lost')).toBe('');
    // Nobody can say which fields these have.
    expect(refusal('found = tostring()', 'return found.lost')).toBe('');
    expect(refusal('found = {}', 'return found.lost')).toBe('');
  });

  it('everything at once, so that one run shows all', () => {
    const part = lines('-- @takes base, other', '-- @gives sum', 'local unused = none');
    expect(() => embedWith(part, 'return sum')).toThrow(/^The Lua scripts are refused:(\n[^\n]+){5}$/);
  });
});
