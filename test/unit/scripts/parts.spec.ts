import { describe, expect, it } from '@jest/globals';
import { embed, refusalOf } from './lua-files.js';

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

describe('refused with file, line, name and what to do is', () => {
  it.each<[what: string, part: string, after: string, problem: string]>([
    [
      'a name that a part neither declares nor takes',
      lines('-- @takes base', '-- @gives sum', 'sum = base + other'),
      'return sum',
      "parts/a.lua:3: 'other' is neither declared here nor taken: add it to @takes, or make it a local",
    ],
    [
      'a name that is used after the block of its local',
      lines('-- @takes base', '-- @gives sum', 'do local two = base end', 'sum = two'),
      'return sum',
      "parts/a.lua:4: 'two' is neither declared here nor taken: add it to @takes, or make it a local",
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
      "parts/a.lua:2: 'base' is in @takes and written: put it into @changes instead",
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
      "script.lua:7: 'two' is no local of this script, and neither its header nor a part before this line gives it: declare it there, or add it to the @gives of a part",
    ],
    ['a part that is not there', GOOD, '-- @include parts/none.lua', 'script.lua:7: there is no parts/none.lua'],
    [
      'a part that includes itself',
      lines('-- @takes base', '-- @include parts/a.lua'),
      '',
      'parts/a.lua:2: parts/a.lua would include itself',
    ],
    [
      'a part that says nothing',
      'return 1',
      '',
      'parts/a.lua:1: it says nothing of what it takes and gives: add @takes, @gives or @changes',
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
