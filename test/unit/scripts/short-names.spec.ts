import { describe, expect, it } from '@jest/globals';
import { type Line, piecesOf, refusalOf, shorten } from './lua-files.js';

interface Token {
  type: number;
  range: [number, number];
  line: number;
  lineStart: number;
}
interface Parser {
  tokenTypes: { EOF: number; Identifier: number };
  parse(text: string, options: object): { write(text: string): void; lex(): Token };
}
interface Local {
  places: { line: number; column: number }[];
}
const load = (file: string): Promise<unknown> => import(file);
const { default: luaparse } = (await load('luaparse')) as { default: Parser };
const { namesOf } = (await load('../../../scripts/lua/scope.mjs')) as {
  namesOf(file: string, text: string): { locals: Local[] };
};
const { listScripts } = (await load('../../../scripts/embed-lua.mjs')) as {
  listScripts(): { name: string; lines: Line[] }[];
};

const lines = (...all: string[]) => all.join('\n');
const HEADER = lines('-- script: test', '-- @node jobs', '-- @returns text', '-- @repeat it only reads.');
const scriptOf = (...body: string[]) => lines(HEADER, ...body);
const short = (...body: string[]) => shorten({ 'script.lua': scriptOf(...body) });

const scripts = listScripts();

/**
 * A text of Lua by what it means: each of its words and signs, with the number of the local that it stands for in the place of a name.
 * Two texts that differ in the names of their locals alone are the same.
 */
function meaningOf(text: string): string[] {
  const localAt = new Map<string, number>();
  for (const [i, { places }] of namesOf('script.lua', text).locals.entries())
    for (const { line, column } of places) localAt.set(`${line}:${column}`, i);
  const lexer = luaparse.parse('', { wait: true, luaVersion: '5.1', comments: false } as object);
  lexer.write(text);
  const meaning: string[] = [];
  for (let token = lexer.lex(); token.type !== luaparse.tokenTypes.EOF; token = lexer.lex()) {
    const [from, to] = token.range;
    const local = localAt.get(`${token.line}:${from - token.lineStart}`);
    meaning.push(local === undefined ? text.slice(from, to) : `local ${local}`);
  }
  return meaning;
}

/** The same, where the fixed numbers that commands are given have become text. `sent`: by which it is seen where that is so. */
function withTexts(meant: readonly string[], sent: readonly string[]): string[] {
  const words: string[] = [];
  for (let at = 0; at < meant.length; at++) {
    const text = /^'(-?\d+)'$/.exec(sent[words.length] ?? '')?.[1];
    // A number, one with a sign, or a difference.
    const length = [1, 2, 3].find((count) => {
      const number = meant.slice(at, at + count).join(' ');
      return text !== undefined && /^-? ?\d+( - \d+)?$/.test(number) && evaluate(number) === Number(text);
    });
    words.push(length === undefined ? meant[at]! : `'${text}'`);
    at += (length ?? 1) - 1;
  }
  return words;
}

function evaluate(number: string): number {
  const [first, second = 0] = number.split(' - ').map((each) => Number(each.replace(' ', '')));
  return first! - second;
}

describe('what goes over the wire', () => {
  it.each(scripts.map(({ name, lines }) => [name, lines] as const))('means what the files of %s say', (_, all) => {
    const meant = meaningOf(
      all
        .map(({ written }) => written)
        .join('\n')
        .replaceAll('redis.call(', 'C('),
    );
    expect(meant.filter((word) => word.startsWith('local ')).length).toBeGreaterThan(0);
    const sent = meaningOf(all.map(({ sent }) => sent).join('\n'));
    expect(sent).toEqual(withTexts(meant, sent));
  });

  it('gives commands their fixed numbers as text, and nothing else', () => {
    expect(short("return redis.call('ZRANGE', 'key', 0, 8 - 1, math.max(2, 3), #'four' - 1, -1)")).toBe(
      "return C('ZRANGE','key','0','7',math.max(2,3),#'four'-1,'-1')",
    );
    expect(short("redis.pcall('ZADD', 'key', unpack({ 1, 2 }))", 'return 5')).toBe(
      lines("redis.pcall('ZADD','key',unpack({1,2}))", 'return 5'),
    );
  });

  it('calls commands by a local, which each script has first', () => {
    expect(short("return { redis.call('TIME'), redis.pcall('TIME'), { redis.call }, 'redis.call(' }")).toBe(
      lines("return{C('TIME'),redis.pcall('TIME'),{redis.call},'redis.call('}"),
    );
    const first = scripts.map(({ lines }) => lines[0]!.sent);
    expect([...new Set(first)]).toEqual(['local C=redis.call']);
    expect(scripts.flatMap(({ lines }) => lines.slice(1).filter(({ sent }) => sent.includes('redis.call(')))).toEqual(
      [],
    );
  });

  it('has the lines of the files', () => {
    expect(scripts.flatMap(({ lines }) => lines.filter(({ sent }) => sent.includes('\n')))).toEqual([]);
  });

  it('is told from a text that means something else', () => {
    const meant = meaningOf('local one = 1; local two = 2; return one');
    expect(meaningOf('local a = 1; local b = 2; return a')).toEqual(meant);
    expect(meaningOf('local a = 1; local a = 2; return a')).not.toEqual(meant);
    expect(meaningOf('local a = 1; local b = 2; return b')).not.toEqual(meant);
  });
});

describe('a local that its file keeps to itself', () => {
  it('gets a letter, the next one where both are needed at the same place, and else the same', () => {
    expect(short('local one = 1', 'local two = one', 'local three = two', 'return three')).toBe(
      lines('local a=1', 'local a=a', 'local a=a', 'return a'),
    );
    expect(short('local one, two = 1, 2', 'return one + two')).toBe(lines('local a,b=1,2', 'return a+b'));
  });

  it('is told from one that hides it', () => {
    expect(short('local n = 1', 'do', 'local n = 2', 'n = n + 1', 'end', 'return n')).toBe(
      lines('local a=1', 'do', 'local a=2', 'a=a+1', 'end', 'return a'),
    );
    expect(short('local n = 1', 'do', 'local m = n', 'local n = m', 'n = n + m', 'end', 'return n')).toBe(
      lines('local a=1', 'do', 'local a=a', 'local b=a', 'b=b+a', 'end', 'return a'),
    );
    expect(short('local n = 1', 'local n = n', 'return n')).toBe(lines('local a=1', 'local a=a', 'return a'));
  });

  it('is not hidden from a function that uses it later', () => {
    expect(
      short('local sum = 0', 'local function add(n) sum = sum + n end', 'local other = 2', 'add(other)', 'return sum'),
    ).toBe(lines('local a=0', 'local function b(b)a=a+b end', 'local c=2', 'b(c)', 'return a'));
    expect(short('local function fall(n) return n > 0 and fall(n - 1) end', 'return fall(2)')).toBe(
      lines('local function a(b)return b>0 and a(b-1)end', 'return a(2)'),
    );
  });

  it('may be the variable of a loop, also one that its end uses', () => {
    expect(
      short('local all = {}', 'for i = 1, 2 do all[i] = i end', 'for key, value in pairs(all) do all[value] = key end'),
    ).toBe(lines('local a={}', 'for b=1,2 do a[b]=b end', 'for b,c in pairs(a)do a[c]=b end'));
    expect(short('local all = 0', 'repeat local one = all; all = one + 1 until one > 2', 'return all')).toBe(
      lines('local a=0', 'repeat local b=a;a=b+1 until b>2', 'return a'),
    );
  });

  it('becomes no word of Lua, however many there are', () => {
    const names = Array.from({ length: 190 }, (_, i) => `n${i}`);
    const [declared, used] = short(`local ${names.join(', ')}`, `return ${names.join(' + ')}`).split('\n');
    const all = declared!.slice('local '.length).split(',');
    expect(used).toBe(`return ${all.join('+')}`);
    expect(new Set(all).size).toBe(190);
    expect(all.filter((name) => /^(do|if|in|or)$/.test(name))).toEqual([]);
  });
});

describe('a name that files share', () => {
  const PARTS = {
    'parts/a.lua': lines('-- @takes base', '-- @gives sum', 'local two = 2', 'sum = base + two'),
    'parts/b.lua': lines(
      '-- @takes base',
      '-- @gives sum',
      '-- @include parts/a.lua',
      'local base2 = base',
      'sum = sum + base2',
    ),
  };

  it('is the same in all of them, and begins with a large letter', () => {
    const script = scriptOf('local base, alone = 1, 2', '-- @include parts/b.lua', 'return sum + alone');
    expect(shorten({ ...PARTS, 'script.lua': script })).toBe(
      lines(
        'local Ba,a=1,2',
        'local Su',
        'do',
        'do',
        'local a=2',
        'Su=Ba+a',
        'end',
        'local a=Ba',
        'Su=Su+a',
        'end',
        'return Su+a',
      ),
    );
  });

  it('gives the part the same pieces in every script, whatever else is in that', () => {
    const files = {
      ...PARTS,
      'script.lua': scriptOf('local base, more = 1, 2', '-- @include parts/a.lua', 'return sum + more'),
      'other.lua': scriptOf(
        'local one, two, base = 1, 2, 3',
        'if one then',
        '-- @include parts/b.lua',
        'return sum + two',
        'end',
      ),
      'third.lua': scriptOf(
        'local bases, bass, base, sums = 1, 2, 3, 4',
        '-- @include parts/c.lua',
        'return bases + bass',
      ),
      'parts/c.lua': lines('-- @takes base, bases, bass', 'local base3 = base', 'return base3 + bases + bass'),
    };
    files['other.lua'] = files['other.lua'].replace('script:', 'other:');
    files['third.lua'] = files['third.lua'].replace('script:', 'third:');
    const pieces = piecesOf(files, ['script.lua', 'other.lua', 'third.lua']).map((all) =>
      all.map((piece) => piece.map(({ sent }) => sent).join('\n')),
    );
    const part = lines('local a=2', 'Su=Ba+a');
    expect(pieces.map((all) => all.includes(part))).toEqual([true, true, false]);
    expect(pieces[2]).toContain(lines('local a=Ba', 'return a+Bs+Bb'));
  });

  it('in a file that keeps one of that name to itself is told from that', () => {
    const script = scriptOf(
      'local base = 1',
      'do',
      'local sum = base',
      'base = sum',
      'end',
      '-- @include parts/a.lua',
      'return sum',
    );
    expect(shorten({ ...PARTS, 'script.lua': script })).toBe(
      lines(
        'local Ba=1',
        'do',
        'local a=Ba',
        'Ba=a',
        'end',
        'local Su',
        'do',
        'local a=2',
        'Su=Ba+a',
        'end',
        'return Su',
      ),
    );
  });

  it('is told from a local that has its short name in the file', () => {
    const script = scriptOf('local Ba, base = 1, 2', '-- @include parts/a.lua', 'return Ba + sum');
    expect(shorten({ ...PARTS, 'script.lua': script })).toContain('local a,Ba=1,2');
    expect(shorten({ ...PARTS, 'script.lua': script })).toContain('return a+Su');
  });

  it('may be given by two parts, each in a block of its own', () => {
    const files = {
      'script.lua': scriptOf(
        'local base = 1',
        'if base then',
        '-- @include parts/a.lua',
        'base = sum',
        'else',
        '-- @include parts/d.lua',
        'base = sum',
        'end',
      ),
      'parts/a.lua': PARTS['parts/a.lua'],
      'parts/d.lua': lines('-- @gives sum', 'sum = 1'),
    };
    expect(
      shorten(files)
        .split('\n')
        .filter((line) => line === 'local Su'),
    ).toHaveLength(2);
    expect(shorten(files)).toContain('local Su\ndo\nSu=1\nend\nBa=Su\nend');
  });

  it('may be needed by a part that lies in another one', () => {
    const files = {
      'script.lua': scriptOf('local base = 1', '-- @include parts/c.lua', 'return base'),
      'parts/c.lua': lines('-- @changes base', '-- @include parts/d.lua', 'local one = base', 'base = one'),
      'parts/d.lua': lines('-- @needs parts/e.lua', '-- @changes base', 'base = double(base)'),
      'parts/e.lua': lines('-- @gives double', 'function double(n) return n * 2 end'),
    };
    expect(shorten(files)).toBe(
      lines(
        'local Ba=1',
        'local Do',
        'do',
        'function Do(a)return a*2 end',
        'end',
        'do',
        'do',
        'Ba=Do(Ba)',
        'end',
        'local a=Ba',
        'Ba=a',
        'end',
        'return Ba',
      ),
    );
  });

  it('of the header is short as well, but not the fields of its tables', () => {
    const header = lines(
      '-- script: read',
      '-- @keys jobs',
      '-- @arg settings.leaseMs ms: how long',
      '-- @arg id text: job id',
      '-- @returns text: all',
      '-- @repeat it only reads.',
    );
    expect(shorten({ 'script.lua': lines(header, "return redis.call('HGET', jobsKey, id .. settings.leaseMs)") })).toBe(
      lines(
        'local Jo=KEYS[1]',
        'local Id,Se=ARGV[2],{leaseMs=tonumber(ARGV[1])}',
        "return C('HGET',Jo,Id..Se.leaseMs)",
      ),
    );
  });
});

describe('left as they are', () => {
  it.each([
    [
      'fields',
      'local name = { name = 1, [2] = 3 }; name.name.name = name[name]',
      'local a={name=1,[2]=3};a.name.name=a[a]',
    ],
    ['methods', 'local text = tostring(1); return text:rep(2):len()', 'local a=tostring(1);return a:rep(2):len()'],
    [
      'texts',
      "local name = 'name  =  \\'name\\' -- name' .. \"local  name\"",
      "local a='name  =  \\'name\\' -- name'..\"local  name\"",
    ],
    ['long texts', 'local name = [==[ name  name ]==]', 'local a=[==[ name  name ]==]'],
    [
      'what Lua and Redis give',
      "local call = redis.call; return call('GET', string.format(tonumber(1)))",
      "local a=redis.call;return a('GET',string.format(tonumber(1)))",
    ],
    [
      'numbers before two points, and after them',
      'local n = 1 .. 2 .. .5; return n .. 0x1F .. n',
      'local a=1 ..2 .. .5;return a..0x1F ..a',
    ],
    [
      'two signs that would be another one',
      'local n = 1; n = n - -n; return { [ [[x]] ] = n }, #{ { } }',
      'local a=1;a=a- -a;return{[ [[x]]]=a},#{{}}',
    ],
    [
      'an ellipsis behind two points',
      'local function f(...) return 1 .. ... end',
      'local function a(...)return 1 .. ...end',
    ],
    [
      'words and numbers beside each other',
      'local n = 1; if not n or 2 then return nil end',
      'local a=1;if not a or 2 then return nil end',
    ],
    ['nothing of a comment', 'local n = 1 -- of n', 'local a=1'],
  ])('%s', (_, text, sent) => {
    expect(short(text)).toBe(sent);
    expect(meaningOf(sent)).toEqual(meaningOf(text));
  });
});

describe('a line', () => {
  it('knows the file and the line that it comes from', () => {
    const [pieces] = piecesOf(
      {
        'script.lua': scriptOf('local base = 1', '', '-- Why.', '-- @include parts/a.lua', 'return sum'),
        'parts/a.lua': lines('-- @takes base', '-- @gives sum', '  sum = base'),
      },
      ['script.lua'],
    );
    expect(pieces!.flat()).toEqual([
      { file: 'script.lua', line: 5, written: 'local base = 1', sent: 'local Ba=1' },
      { file: 'script.lua', line: 8, written: 'local sum', sent: 'local Su' },
      { file: 'script.lua', line: 8, written: 'do', sent: 'do' },
      { file: 'parts/a.lua', line: 3, written: 'sum = base', sent: 'Su=Ba' },
      { file: 'script.lua', line: 8, written: 'end', sent: 'end' },
      { file: 'script.lua', line: 9, written: 'return sum', sent: 'return Su' },
    ]);
  });

  it.each(['local text = [[one', 'local n = 1 --[[ one'])('is refused where %s goes on in the next one', (first) => {
    expect(refusalOf({ 'script.lua': scriptOf(first, ']]', 'return 1') })).toBe(
      'script.lua:5: a text or a comment goes on in the next line: end it in this one',
    );
  });
});
