import { describe, expect, it } from '@jest/globals';
import { embed, refusalOf, typesOf } from './lua-files.js';

const lines = (...all: string[]) => all.join('\n');

const NUMBERED = [
  '-- script: do something to a job,',
  '-- and say so.',
  '-- @numbered',
  '-- @keys jobs, claims, tag:<tag>',
  '-- @arg id text: job id',
  '-- @arg leaseMs ms: how long it is claimed',
  '-- @arg isLast flag: whether it is',
  "-- @arg ends epoch ms | 'inf': when it ends",
  '-- @columns done id, fence: what is done,',
  '--   in one row each',
  '-- @list names name: names',
  "-- @returns found '1' | '0', ...ids text[]: what there is",
  '-- @repeat nothing more happens.',
];
const BODY = [
  'if isLast then id = ends end',
  "redis.call('PEXPIRE', receiptKey, leaseMs)",
  "return { redis.call('ZADD', jobsKey, claimsKey, tagKey, id), ARGV[doneFrom] }",
];
const READER = [
  '-- script: read',
  '-- @keys jobs',
  '-- @arg id text: job id',
  '-- @returns text[][]: all',
  '-- @repeat it only reads.',
];

describe('the prologue of a script', () => {
  it('gives its keys and arguments their names, numbers as numbers and flags as booleans', () => {
    expect(embed({ 'script.lua': lines(...NUMBERED, ...BODY) })).toBe(
      lines(
        'local jobsKey, claimsKey, tagKey, receiptKey = unpack(KEYS, 1, 4)',
        "local id, leaseMs, isLast, ends, doneFrom = ARGV[5], tonumber(ARGV[6]), ARGV[7] == '1', ARGV[8], 9",
        ...BODY,
      ),
    );
  });

  it('leaves out what all numbered calls have and this script does not use', () => {
    const body = lines("return redis.call('HGET', jobsKey, base .. callNumber)");
    const header = lines('-- script: do', '-- @numbered', '-- @keys jobs', '-- @returns text');
    expect(embed({ 'script.lua': lines(header, body) })).toBe(
      lines('local jobsKey = KEYS[1]', 'local base, callNumber = ARGV[1], ARGV[2]', body),
    );
  });

  it('stands in the block of a part for what that part alone takes, but not in a loop', () => {
    const part = lines('-- @takes id, jobsKey', "redis.call('HGET', jobsKey, id)");
    const within = (...body: string[]) => embed({ 'script.lua': lines(...READER, ...body), 'parts/a.lua': part });
    expect(within('-- @include parts/a.lua')).toBe(
      lines('do', 'local jobsKey = KEYS[1]', 'local id = ARGV[1]', "redis.call('HGET', jobsKey, id)", 'end'),
    );
    expect(within('-- @include parts/a.lua', 'return id')).toContain('local id = ARGV[1]\ndo\nlocal jobsKey = KEYS[1]');
    expect(within('for i = 1, 2 do', '-- @include parts/a.lua', 'end')).toContain('local jobsKey = KEYS[1]\nlocal id');
  });
});

describe('a table of arguments', () => {
  const header = lines(
    '-- script: read',
    '-- @keys jobs',
    '-- @arg settings.leaseMs ms: how long it is claimed',
    '-- @arg id text: job id',
    '-- @arg settings.isLast flag: whether it is',
    '-- @returns text[][]: all',
    '-- @repeat it only reads.',
  );
  const part = lines('-- @takes settings', 'local doubled = settings.leaseMs * 2', 'id(doubled)');
  const bodyOf = (...body: string[]) => lines(header, ...body, "redis.call('HGET', jobsKey, id, settings.isLast)");

  it('is one name, which parts take', () => {
    const files = {
      'script.lua': bodyOf('-- @include parts/a.lua'),
      'parts/a.lua': part.replace('id(doubled)', 'settings(doubled)'),
    };
    expect(embed(files)).toContain(
      "local id, settings = ARGV[2], { leaseMs = tonumber(ARGV[1]), isLast = ARGV[3] == '1' }\ndo\nlocal doubled",
    );
  });

  it('is made of arguments that the caller of the script gives by their own names, in the order of the header', () => {
    const types = typesOf(bodyOf('settings.leaseMs()'));
    expect(types).toContain('  leaseMs: number;');
    expect(types).toContain('[a.leaseMs, a.id, a.isLast ? 1 : 0]');
  });

  it.each<[what: string, files: Record<string, string>, problem: string]>([
    [
      'that a script reads and its header does not have',
      { 'script.lua': bodyOf('settings.leaseMs(settings.isFirst)') },
      "script.lua:8: 'settings.isFirst' is not in the header of script.lua: add it there as '@arg settings.isFirst', or correct the name",
    ],
    [
      'that a part reads and the header of the script does not have',
      {
        'script.lua': bodyOf('settings.leaseMs()', '-- @include parts/a.lua'),
        'parts/a.lua': lines('-- @takes settings', 'if settings.lease then settings() end'),
      },
      "parts/a.lua:2: 'settings.lease' is not in the header of script.lua: add it there as '@arg settings.lease', or correct the name",
    ],
    [
      'that nothing reads',
      { 'script.lua': bodyOf('id()') },
      "script.lua:3: 'settings.leaseMs' is in the header and used nowhere: take it off",
    ],
    [
      'that is written',
      { 'script.lua': bodyOf('settings.leaseMs = settings.leaseMs + 1') },
      "script.lua:8: 'settings.leaseMs' is written, and the caller of script.lua gives it: use a local",
    ],
  ])('is refused for a field %s', (_what, files, problem) => {
    expect(refusalOf(files)).toBe(problem);
  });

  it.each([
    [
      '-- @arg settings text: more',
      "'settings' would be an argument and a table of arguments: give one of the two another name",
    ],
    ['-- @arg id.leaseMs ms: more', "the argument 'leaseMs' is named twice: name it once"],
    [
      '-- @arg id.text text: more',
      "'id' would be an argument and a table of arguments: give one of the two another name",
    ],
    ['-- @arg end.one text: more', "'end' is a word of Lua: give the argument another name"],
  ])('is refused for %s', (line, problem) => {
    const script = lines(...header.split('\n').slice(0, 5), line, ...header.split('\n').slice(5), 'id()');
    expect(refusalOf({ 'script.lua': script })).toBe(`script.lua:6: ${problem}`);
  });
});

describe('the TypeScript of a script', () => {
  it('has its arguments by name, its answer, and all of both in the order of the script', () => {
    expect(
      typesOf(lines(...NUMBERED, ...BODY)),
    ).toBe(`// Made by scripts/embed-lua.mjs from the headers of the scripts in this folder; change these and run \`npm run embed\`.
import type { QueueKeys } from '../../keys.js';
import type { NumberedScript, ScriptArgument } from '../bound-script.js';

/** See script.lua, which says what each of these is. */
export interface ScriptArguments {
  id: string;
  leaseMs: number;
  isLast: boolean;
  ends: number | 'inf';
  done: { id: readonly ScriptArgument[]; fence: readonly ScriptArgument[] };
  names: readonly ScriptArgument[];
}

export type ScriptReply = [status: string, now: string, found: '1' | '0', ...ids: string[]];

const encodeScript = (a: ScriptArguments): ScriptArgument[] => [
  a.id,
  a.leaseMs,
  a.isLast ? 1 : 0,
  a.ends,
  a.done.id.length,
  ...a.done.id,
  ...a.done.fence,
  ...(a.names.length === 0 ? [] : [a.names.length, ...a.names]),
];

export const scriptScript = (keys: QueueKeys, names: { tag: string }): NumberedScript<ScriptArguments, ScriptReply> => ({
  name: 'script',
  keys: [keys.jobs, keys.claims, \`\${keys.base}tag:\${names.tag}\`],
  encode: encodeScript,
  isNumbered: true,
});
`);
  });

  it('has no arguments that its caller gives: these are written for it, in the place that the script says', () => {
    const script = (...args: string[]) =>
      lines('-- script: do', '-- @numbered', '-- @keys jobs', ...args, '-- @returns text', 'return jobsKey');
    expect(typesOf(script('-- @arg id text: job id', '-- @given clustered, settings.keepEnded'))).toContain(`{
  id: string;
}

export type ScriptReply = [status: string, now: string, string];

const encodeScript = (a: ScriptArguments, given: GivenArguments): ScriptArgument[] => [a.id, given.clustered ? 1 : 0, given.keepEnded];
`);
    expect(typesOf(script('-- @given clustered'))).toContain('(_: ScriptArguments, given: GivenArguments)');
    const body = '-- @include parts/a.lua';
    const part = lines('-- @takes settings, id', 'return id(settings.stealAfterMs)');
    const given = script('-- @arg id text: job id', '-- @given settings.stealAfterMs').replace(
      'return jobsKey',
      `${body}\nreturn jobsKey`,
    );
    expect(embed({ 'script.lua': given, 'parts/a.lua': part })).toContain(
      'local id, settings = ARGV[5], { stealAfterMs = tonumber(ARGV[6]) }',
    );
  });

  it('reads a long answer by names, and knows where its last list begins', () => {
    const fields = 'a text, b text, c text[], d text, e text, f text, g text, ...moreJobs text[]: all of it';
    const script = lines(...NUMBERED, ...BODY).replace(/-- @returns .*/, `-- @returns ${fields}`);
    expect(typesOf(script)).toContain(
      `export const readScriptReply = (r: ScriptReply) => ({ status: r[0], now: r[1], a: r[2], b: r[3], c: r[4], d: r[5], e: r[6], f: r[7], g: r[8], moreJobs: r.slice(9) as string[] });

export const SCRIPT_MORE_JOBS_AT = 9;
`,
    );
  });

  it('reads the same of an answer whose fields stand on a line each', () => {
    const answerIs = (...answer: string[]) =>
      typesOf(lines(...READER.slice(0, 3), ...answer, READER[4]!, 'return { id, jobsKey }'));
    const each = answerIs(
      '-- @return found text[]: ids',
      "-- @return isCut '1' | '0': whether",
      '-- @return ...rest text[]: others',
    );
    expect(each).toBe(answerIs("-- @returns found text[], isCut '1' | '0', ...rest text[]: all of it"));
    expect(each).toContain("ScriptReply = [found: string[], isCut: '1' | '0', ...rest: string[]];");
  });

  it('of one that only reads has no number, and may answer anything', () => {
    const types = typesOf(lines(...READER, '-- @include parts/a.lua'));
    expect(types).toContain('export type ScriptReply = string[][];');
    expect(types).toContain('(keys: QueueKeys): BoundScript<ScriptArguments, ScriptReply> => ({');
  });

  it('takes text or bytes for a payload', () => {
    const script = lines(
      ...READER.slice(0, 3),
      '-- @arg rest payload: what is stored',
      ...READER.slice(3),
      'return { id, rest, jobsKey }',
    );
    expect(typesOf(script)).toContain('  rest: string | Buffer;');
    expect(embed({ 'script.lua': script })).toContain('local id, rest = ARGV[1], ARGV[2]');
  });

  it('is told a name once that several of its keys hold', () => {
    const types = typesOf(
      lines('-- script: read', '-- @keys handles:<crew>, sleepers:<crew>, <target>', ...READER.slice(2)),
    );
    expect(types).toContain("(keys: Pick<QueueKeys, 'base'>, names: { crew: string; target: string }): Bound");
    expect(types).toContain('{names.crew}`,\n    names.target,\n  ],');
  });

  it('counts the rows of a list by their first fields', () => {
    const types = typesOf(lines(...READER.slice(0, 3), '-- @list ends id, fence: ends', ...READER.slice(3)));
    expect(types).toContain('[a.id, ...(a.ends.length === 0 ? [] : [a.ends.length / 2, ...a.ends])]');
    expect(types).toContain('  /** Flat rows: id, fence. */\n  ends: readonly ScriptArgument[];');
  });
});

describe('refused is a header', () => {
  const uses = 'return { id, jobsKey }';
  const withLine = (line: string) => lines(...READER.slice(0, 3), line, ...READER.slice(3), uses);
  it.each<[what: string, script: string, problem: string | RegExp]>([
    [
      'that names an argument which nobody uses',
      lines(...READER, 'return jobsKey'),
      "script.lua:3: 'id' is in the header and used nowhere: take it off",
    ],
    [
      'that names a key which nobody uses',
      lines(...READER, 'return id'),
      "script.lua:2: 'jobsKey' is in the header and used nowhere: take it off",
    ],
    [
      'that does not name an argument',
      lines(...READER, 'return { id, jobsKey, other }'),
      "script.lua:6: 'other' is no local of this script, and neither its header nor a part before this line gives it: declare it there, need the part that gives it, or add it to the @gives of a part",
    ],
    [
      'of a script that uses an argument by its number',
      lines(...READER, 'return { id, jobsKey, ARGV[2] }'),
      'script.lua:6: ARGV is used: name the argument in the header, and use that name',
    ],
    [
      'of a script that uses a key by its number',
      lines(...READER, 'return { id, jobsKey, KEYS[2] }'),
      'script.lua:6: KEYS is used: name the key in the header, and use that name',
    ],
    [
      'whose name a local hides',
      lines(...READER, 'local one, id = id, jobsKey', 'return { one, id }'),
      "script.lua:6: 'id' hides the name of the header: give one of the two another name",
    ],
    [
      'with a key that the table of keys.ts does not have',
      lines('-- script: read', '-- @keys jops', ...READER.slice(2), 'return { id, jopsKey }'),
      "script.lua:2: the key 'jops' is not in the table of keys.ts: add it there, or correct the name",
    ],
    [
      'with a given argument that nobody gives',
      lines(
        '-- script: do',
        '-- @numbered',
        '-- @keys jobs',
        '-- @given leaseMs',
        '-- @returns text',
        'return jobsKey',
      ),
      "script.lua:4: @given: got 'leaseMs', expected some of clustered, settings.stealAfterMs, settings.keepEnded",
    ],
    [
      'with a given argument, and no caller to give it',
      withLine('-- @given clustered'),
      'script.lua:4: @given is for scripts that are @numbered: their caller adds these arguments',
    ],
    ['with a key twice', withLine('-- @keys jobs'), "script.lua:4: the key 'jobs' is named twice: name it once"],
    [
      'with an argument twice',
      withLine('-- @arg id text: again'),
      "script.lua:4: the argument 'id' is named twice: name it once",
    ],
    [
      'with an argument that Lua cannot call so',
      withLine('-- @arg until epoch ms: when it ends'),
      "script.lua:4: 'until' is a word of Lua: give the argument another name",
    ],
    [
      'with an argument of an unknown kind',
      withLine('-- @arg other seconds: how long'),
      "script.lua:4: 'other' is of the kind 'seconds': expected text, payload, flag, number, count, bytes, ms, epoch ms or words in quotes",
    ],
    [
      'with an argument behind a list',
      withLine(lines('-- @list names name: names', '-- @arg other text: more')),
      "script.lua:5: 'other' comes behind a list: put all @arg before it",
    ],
    [
      'with another list beside a tail',
      withLine(lines('-- @tail names name: names', '-- @list others name: more')),
      'script.lua:5: @tail goes to the end of ARGV: it is the only list',
    ],
    [
      'with a number behind the arguments that it brings',
      withLine('-- @numbered'),
      'script.lua:4: @numbered comes before all @arg, as its arguments do',
    ],
    [
      'with an unknown tag',
      withLine('-- @args id'),
      /^script.lua:4: @args is unknown: expected one of numbered, keys, /,
    ],
    [
      'with an answer of an unknown kind',
      lines(...READER.slice(0, 3), '-- @returns found boolean: whether', READER[4]!, uses),
      "script.lua:4: @returns: got 'found boolean', expected a name and a kind: text, number, either with [] behind it, or words in quotes",
    ],
    [
      'that does not say what the script answers',
      lines(...READER.slice(0, 3), READER[4]!, uses),
      /^script.lua:1: no @returns/,
    ],
    ['that does not say what repeating it does', lines(...READER.slice(0, 4), uses), /^script.lua:1: no @repeat/],
    ['without a key', lines(READER[0]!, ...READER.slice(2), uses), /^script.lua:1: expected either @keys or @node/],
    [
      'that does not begin with its name',
      lines('-- read', ...READER.slice(1), uses),
      /^script.lua:1: the header begins with 'read'/,
    ],
  ])('%s', (_what, script, problem) => {
    const refusal = refusalOf({ 'script.lua': script });
    if (typeof problem === 'string') expect(refusal).toBe(problem);
    else expect(refusal).toMatch(problem);
  });
});
