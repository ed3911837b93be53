import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ownerOf } from '../../../../../lib/store/redis/keys.js';
import { SCRIPTS, type ScriptName } from '../../../../../lib/store/redis/scripts/embedded.js';
import { type KeyRow, type RedisCall, readCalls, readSchema, SCRIPT_NAMES, textOf } from './redis-calls.js';

const SCRIPTS_FOLDER = 'lib/store/redis/scripts';
/** One in each folder that has scripts. */
const CONTRACTS = readdirSync(SCRIPTS_FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('contract.ts'))
  .sort();
const EMBEDDER: string = '../../../../../scripts/embed-lua.mjs';

const WRITES = ['HSET', 'HINCRBY', 'ZADD', 'SADD', 'SET', 'XADD', 'RPUSH'];
const REMOVES = ['HDEL', 'ZREM', 'ZREMRANGEBYRANK', 'ZREMRANGEBYSCORE', 'SREM', 'DEL', 'UNLINK', 'XTRIM'];
const TYPES: Record<string, string[]> = {
  HASH: ['HGET', 'HMGET', 'HSET', 'HDEL', 'HLEN', 'HINCRBY', 'HSCAN', 'HEXISTS', 'HKEYS', 'HGETALL'],
  ZSET: [
    'ZADD',
    'ZREM',
    'ZCARD',
    'ZCOUNT',
    'ZRANGE',
    'ZSCAN',
    'ZSCORE',
    'ZMSCORE',
    'ZLEXCOUNT',
    'ZREMRANGEBYRANK',
    'ZREMRANGEBYSCORE',
  ],
  SET: ['SADD', 'SREM', 'SCARD', 'SMEMBERS', 'SMISMEMBER'],
  STRING: ['GET', 'MGET', 'SET'],
  STREAM: ['XADD', 'XRANGE', 'XREVRANGE', 'XTRIM'],
  'STREAM or LIST': ['TYPE', 'XADD', 'RPUSH'],
};
const OF_ANY_TYPE = ['EXISTS', 'PEXPIRE', 'DEL', 'UNLINK'];
const WITHOUT_KEY = ['TIME', 'PUBLISH'];

const HEADS = ['heads:<priority>', 'heads:<priority>:<ending>'];
const LEVELS = ['levels', 'levels:<ending>'];
/** Keys that the scripts reach through a table of theirs; `key` is any sorted set or hash, and only read. */
const BY_TABLE: Record<string, string[]> = {
  'lane.key': ['lane:<lane>'],
  laneKey: ['lane:<lane>'],
  'front.key': ['lane:<lane>'],
  'level.key': HEADS,
  'source.key': HEADS,
  'seen.key': HEADS,
  'unseen.key': HEADS,
  headsKey: HEADS,
  seenKey: ['heads:<priority>:<ending>'],
  unseenKey: ['heads:<priority>:<ending>'],
  'index.key': LEVELS,
  'level.indexKey': LEVELS,
  indexKey: LEVELS,
  'preferredIndex.key': LEVELS,
  'suspectIndex.key': LEVELS,
  groupsKey: ['groups', 'runningOfGroups', 'held'],
  'stream.key': ['turns:<priority>:<versioned name>'],
  'crew.key': ['sleepers:<crew>'],
  'tag.key': ['tag:<tag>'],
  'set.key': ['members:<set>'],
  hashKey: ['jobs', 'members:<set>'],
  'ending.key': ['set:<id>'],
};

const schema = await readSchema();

describe('what is made of the .lua files', () => {
  it('is up to date', async () => {
    const { embed } = (await import(EMBEDDER)) as { embed(): Record<string, string> };
    const made = embed();
    expect(Object.keys(made)).toEqual([
      'embedded.ts',
      '../../../testing/redis/lua/programs.ts',
      ...CONTRACTS,
      '../../../core/constants.ts',
    ]);
    for (const [file, text] of Object.entries(made))
      expect(readFileSync(join(SCRIPTS_FOLDER, file), 'utf8')).toBe(text);
  });

  it('has each script, and no other', () => {
    expect(Object.keys(SCRIPTS).sort()).toEqual([...SCRIPT_NAMES].sort());
  });

  it('binds each script to its keys, for somebody who calls it', () => {
    const contracts = CONTRACTS.map((file) => readFileSync(join(SCRIPTS_FOLDER, file), 'utf8')).join('');
    const bound = [...contracts.matchAll(/^export const (\w+Script) = [\s\S]*?\n {2}name: '(.+)',$/gm)];

    expect(bound.map(([, , script]) => script).sort()).toEqual([...SCRIPT_NAMES].sort());
    const callers = readdirSync('lib/store/redis', { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.startsWith('scripts'))
      .map((file) => readFileSync(join('lib/store/redis', file), 'utf8'));
    const uncalled = bound.filter(([, name]) => !callers.some((text) => text.includes(`${name}(`)));
    expect(uncalled.map(([, name]) => name)).toEqual([]);
  });
});

interface Touch extends RedisCall {
  script: ScriptName;
  row: KeyRow;
}

/** The rows that a key may have, as it is written in a script: a header's keys have the names of their rows. */
function rowsOf(key: string): (KeyRow | undefined)[] {
  const begin = key.match(/^base \.\. '(\w+:)'$/)?.[1];
  if (begin) return [schema.find(({ name }) => name.startsWith(begin))];
  // Of scripts that mostly need none of them: where the queue has no recurrences.
  const made = key.match(/^base \.\. '(\w+)'$/)?.[1];
  if (made) return [schema.find(({ name }) => name === made)];
  if (BY_TABLE[key]) return BY_TABLE[key].map((name) => schema.find((row) => row.name === name));
  const named = key.match(/^(\w+)Key$/)?.[1];
  return [schema.find(({ name }) => named !== undefined && name.match(/\w+/)![0] === named)];
}

/** Each call of a script, with the rows of the table that its key may have. */
function touches(script: ScriptName): Touch[] {
  return readCalls(script)
    .filter(({ command, key }) => !WITHOUT_KEY.includes(command) && key !== 'key')
    .flatMap((call) =>
      rowsOf(call.key ?? '').map((row) => {
        if (!row) throw new Error(`${script}: which key is it? ${call.text}`);
        return { ...call, script, row };
      }),
    );
}

describe('the table of keys.ts', () => {
  const all = () => SCRIPT_NAMES.flatMap(touches);
  const scriptsThat = (row: KeyRow, does: (call: Touch) => boolean) =>
    [
      ...new Set(
        all()
          .filter((call) => call.row === row && does(call))
          .map(({ script }) => script),
      ),
    ].sort();

  it('has each key once, of a type that Redis has', () => {
    const rows = readFileSync('lib/store/redis/keys.ts', 'utf8').match(/^ \* \| (?!key|---)/gm)!;
    expect(schema).toHaveLength(rows.length);
    expect(schema.filter(({ type }) => !(type in TYPES))).toEqual([]);
  });

  it('has every key of a queue by which `ownerOf` knows its owner, and no others', () => {
    const names = schema.map(({ name }) => name.replaceAll(/<[^>]*>/g, '5:a b:c'));
    const owned = names.filter((name) => ownerOf(`shop:eu:{mail}:${name}`));
    expect(names.filter((name) => !owned.includes(name))).toEqual(['5:a b:c']);
    expect(ownerOf('shop:eu:{mail}:lane:5::a}:{b')).toEqual({ prefix: 'shop:eu', queue: 'mail' });
    const others = [
      'sq:{mail}:job',
      'sq:{mail}:jobs:1',
      'sq:{mail}:',
      'sq:mail:jobs',
      '{mail}:relay:out',
      'sq:{}:jobs',
    ];
    expect(others.filter(ownerOf)).toEqual([]);
  });

  it('says of each key the type that the scripts use it as', () => {
    const wrong = all().filter(({ command, row }) => ![...TYPES[row.type]!, ...OF_ANY_TYPE].includes(command));
    expect(wrong.map(({ script, text }) => `${script}: ${text}`)).toEqual([]);
  });

  it('leaves out no call whose key is handed to a function: these only read', () => {
    const handed = SCRIPT_NAMES.flatMap(readCalls).filter(({ key }) => key === 'key');
    expect([...new Set(handed.map(({ command }) => command))].sort()).toEqual(['HLEN', 'HSCAN', 'ZCARD', 'ZRANGE']);
  });

  it.each(schema.map((row) => [row.name, row] as const))('says who writes %s', (_, row) => {
    expect([...row.writtenBy].sort()).toEqual(scriptsThat(row, ({ command }) => WRITES.includes(command)));
  });

  it.each(schema.map((row) => [row.name, row] as const))('says what removes from %s', (_, row) => {
    const said = row.removedBy.filter(
      (word) => !['never', 'expires', 'or expires', 'a week', 'a day', 'an hour', 'a minute'].includes(word),
    );
    const removers = scriptsThat(row, ({ command }) => REMOVES.includes(command));
    expect(said.flatMap((word) => (word === 'the same' ? row.writtenBy : word)).sort()).toEqual(removers);
    const expires = all().some(
      (call) => call.row === row && (call.command === 'PEXPIRE' || call.text.includes(`'PX'`)),
    );
    expect(row.removedBy.some((word) => word.endsWith('expires'))).toBe(expires);
    expect(row.removedBy.includes('never')).toBe(removers.length === 0 && !expires);
  });
});

it('the script of permissions tries each command of all others, but for those of relays and events alone, and no more', () => {
  const OPTIONAL = ['TYPE', 'XADD', 'RPUSH', 'XRANGE', 'XREVRANGE', 'XTRIM'];
  const used = SCRIPT_NAMES.filter((name) => name !== 'permissions').flatMap(readCalls);
  const needed = new Set(used.map(({ command }) => command).filter((command) => !OPTIONAL.includes(command)));
  const source = textOf('permissions');
  const tried = [...source.matchAll(/^try\('(\w+)'/gm), ...source.matchAll(/\bnote\('(\w+)'/g)].map(
    ([, command]) => command!,
  );
  expect([...tried].sort()).toEqual([...needed].sort());
});

it('a use of the queue that ends an ordinary turn ends one of groups in order too', () => {
  const keysIn = (file: string) =>
    [...readFileSync(join(SCRIPTS_FOLDER, 'turn', file), 'utf8').matchAll(/base \.\. '([^']+)'/g)].map(
      ([, key]) => key!,
    );
  const uses = keysIn('uses.lua').filter((key) => !['groups', 'runningOfGroups', 'held'].includes(key));
  expect(uses).toContain('gate');
  expect(keysIn('uses-beside-groups.lua')).toEqual(expect.arrayContaining(uses));
});
