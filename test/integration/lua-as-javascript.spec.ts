import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { LIBRARY } from '../../lib/testing/redis/lua/library.js';
import { FIELDS } from '../../lib/testing/redis/lua/programs.js';
import { ReplyError, Status } from '../../lib/testing/redis/reply.js';
import { SmallRedis } from '../../lib/testing/redis/small-redis.js';
import { redisUrl } from '../support/queue-app.js';
import { embed, jsOf } from '../unit/scripts/lua-files.js';

// The embedding step makes JavaScript of the scripts for the test kit. Each of these scripts answers the same there and in Redis.

const HEADER = '-- script: test\n-- @node jobs\n-- @returns text\n-- @repeat it only reads.\n';

/** By what they show: a script, and parts that it includes. */
const SCRIPTS: Record<string, string | Record<string, string>> = {
  'one value of a function, and several': `
    local function one(n) return n + 1 end
    local function two(n) return n, n * 2 end
    local function either(n) if n > 1 then return one(n) end return two(n) end
    local function none() end
    local function first(n) return (two(n)) end
    local function second(n) local text, count = string.gsub('aa', 'a', 'b') return (string.gsub(text, 'b', n)) end
    local a, b = either(1)
    local c, d = either(2)
    local list = { one(1), (two(1)), two(2) }
    return { a, b, c, tostring(d), #list, list[2], list[4], { (two(4)) }, (two(5)) .. '', 'x' .. first(6), tostring((second(7))), tostring((none())), select('#', two(1)) }`,
  'a function under one name in two places, which answers one value in one of them': `
    local function call(get) local a, b = get() return tostring(a) .. tostring(b) end
    local get = function() return 1 end
    local first = call(get)
    get = function() return 1, 2 end
    return first .. call(get)`,
  'numbers, texts of numbers and nil': `
    local function sum(a, b) return a + b end
    local count
    for _, each in ipairs({ '1', 2, '0x10', ' 3 ' }) do count = (count or 0) + each end
    return { tostring(sum('10', 5)), tostring(count), tostring(count and 7 or 'none'), tostring(tonumber('x') or 'no'), '1' .. 2 .. 3.5 }`,
  'what is true: 0 and the empty text are, nil and false are not': `
    local found = {}
    for name, value in pairs({ zero = 0, empty = '', no = false, list = {} }) do found[#found + 1] = name .. (value and '+' or '-') end
    table.sort(found)
    local text = tonumber('x') and 'a' or ''
    if text then found[#found + 1] = 'text' end
    if not redis.call('GET', 'none') then found[#found + 1] = 'none' end
    return table.concat(found, ' ')`,
  'keys that are names of fields, and keys that are not': `
    local t = { id = 'a', due = 1 }
    local key, other = 'id', 'constructor'
    t[key] = 'b'
    t[other] = 'c'
    t['due'] = nil
    local names = {}
    for name, value in pairs(t) do names[#names + 1] = name .. '=' .. tostring(value) end
    table.sort(names)
    return { t.id, tostring(t.due), tostring(t['__proto__']), t[other], table.concat(names, ' ') }`,
  'a table whose entries go while it is gone through': `
    local t, seen = { id = 1, due = 2, name = 3 }, 0
    for key in pairs(t) do seen = seen + 1 t[key] = nil end
    return { seen, tostring((next(t))), tostring((next({ 5 }))) }`,
  'lists with gaps, and what is filled later': `
    local t = {}
    t[2] = 'b' t[1] = 'a' t[4] = 'd'
    local before = #t
    t[3] = 'c'
    t[#t + 1] = 'e'
    t[#t] = nil
    return { before > 1, #t, t[4], tostring(t[9]), tostring(t[0]), tostring(t[-1]), unpack(t, 2, 3) }`,
  'several assignments at once, in their order': `
    local t, i = { 1, 2, 3 }, 1
    i, t[i] = i + 1, 20
    local a, b, c = 1
    a, b = b, a
    return { i, t[1], tostring(a), b, tostring(c) }`,
  'loops that count up, down, and not at all': `
    local out = ''
    for i = 3, 1, -1 do out = out .. i end
    for i = 1, 0 do out = out .. 'x' end
    local by = 2
    for i = 1, '5', by do out = out .. i end
    repeat local last = #out out = out .. '.' until last > 6
    return out`,
  'patterns with captures, classes, sets, frontiers and anchors': `
    local name, rest = string.match('5::mail', '^(%d+)::(.*)$')
    local from, to, found = string.find('a.b,c', '([.,])', 3)
    local words = {}
    for word, digits in string.gmatch('ab1 c22', '(%a+)(%d+)') do words[#words + 1] = word .. '/' .. digits end
    local text, count = string.gsub('a-b-c', '%-', '+', 1)
    return { name, rest, from, to, found, table.concat(words, ' '), text, count, tostring(string.match('x', '^(%d)$')),
      string.find('a\\tb', '\\t', 1, true), string.gsub('THE (quick) fox', '%f[%a]%a+', string.lower), (string.match('abc', 'b')) }`,
  'replies of commands: numbers, texts, nil, lists and errors': `
    redis.call('DEL', 'js:z', 'js:h', 'js:s')
    local added = redis.call('ZADD', 'js:z', 1, 'a', '2.5', 'b', 1e15, 'c')
    redis.call('HSET', 'js:h', 'f', 17)
    local failed = redis.pcall('HGET', 'js:z', 'a')
    local list = redis.call('ZRANGE', 'js:z', 0, -1, 'WITHSCORES')
    local fields = redis.call('HMGET', 'js:h', 'f', 'g')
    return { added, failed.err ~= nil, #list, list[2], list[4], list[6], fields[1], tostring(fields[2]),
      redis.call('ZCARD', 'js:z') + 1, tostring(redis.call('ZSCORE', 'js:z', 'x')), redis.call('SET', 'js:s', 'x').ok }`,
  'numbers as texts: whole, large, and with a fraction': `
    return { tostring(1e14), tostring(1e15), tostring(0.1), tostring(1 / 3), tostring(-0.5), 3.7, tostring(2 ^ 53), tostring(5 % -3),
      string.format('%d', 1767225600000), string.format('%.3f', 1767225600000.5), string.format('%.0f', 2.5), string.format('%d.%03d %03d %02d', 7, 5, -5, 123), tostring(1 / 0) }`,
  'a part that gives functions and names, and one that changes them': {
    'script.lua': `
      local base = 'b'
      -- @include parts/a.lua
      -- @include parts/b.lua
      local key = 'mine'
      return { keyOf('x'), key, tostring(calls), tostring(last) }`,
    'parts/a.lua': `-- @takes base
-- @gives keyOf, calls, last
local key = base .. ':'
calls = 0
function keyOf(name) calls = calls + 1 last = name return key .. name end`,
    'parts/b.lua': `-- @takes keyOf
-- @changes calls
local key = keyOf('y')
if key == 'b:y' then calls = calls + 10 end`,
  },
};

let redis: Redis;

beforeAll(() => {
  redis = new Redis(redisUrl());
});

afterAll(async () => {
  await redis.del('js:z', 'js:h', 'js:s');
  redis.disconnect();
});

describe('a script answers the same as JavaScript', () => {
  it.each(Object.entries(SCRIPTS))('%s', async (_, written) => {
    const { 'script.lua': script, ...parts } = typeof written === 'string' ? { 'script.lua': written } : written;
    const files = { ...parts, 'script.lua': HEADER + script };
    expect(runAsJs(files)).toEqual(await redis.eval(embed(files), 0));
  });
});

function runAsJs(files: Record<string, string>): unknown {
  const { programs, patterns, fields } = jsOf(files, ['script.lua']);
  // Of the scripts of the queue they are written down as they are embedded.
  for (const field of fields) (FIELDS as Set<string>).add(field);
  const small = new SmallRedis(Date.now);
  const code = programs.get('script.lua')!.map((piece) => piece.code);
  const names = Object.keys(LIBRARY).map((name) => `${name}: $${name}`);
  const source = `const { ${names.join(', ')} } = $library; return (KEYS, ARGV, $redis) => {\n${code.join('\n')}\n}`;
  const regExps = patterns.map((pattern) => new Function(`return ${pattern}`)() as RegExp);
  const reply = small.evaluate(new Function('$library', '$patterns', source)(LIBRARY, regExps), [], []);
  if (reply instanceof ReplyError) throw reply;
  return inPlainWords(reply);
}

function inPlainWords(reply: unknown): unknown {
  if (Array.isArray(reply)) return reply.map(inPlainWords);
  return reply instanceof Status ? reply.text : reply;
}
