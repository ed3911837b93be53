import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { SCRIPTS, type ScriptName } from '../../../../../lib/store/redis/scripts/embedded.js';
import {
  type RedisCall,
  range,
  readAliases,
  readCalls,
  readHeader,
  readSchema,
  readUse,
  SCRIPT_FILES,
  type SchemaRow,
  sorted,
} from './lua-contract.js';

const EMBEDDED = new URL('../../../../../lib/store/redis/scripts/embedded.ts', import.meta.url);
const EMBEDDER: string = '../../../../../scripts/embed-lua.mjs';

const WRITES = ['HSET', 'HINCRBY', 'ZADD', 'SADD', 'SET', 'XADD', 'RPUSH'];
const REMOVES = ['HDEL', 'ZREM', 'ZREMRANGEBYRANK', 'ZREMRANGEBYSCORE', 'SREM', 'DEL'];
const TYPES: Record<string, string[]> = {
  HASH: ['HGET', 'HMGET', 'HSET', 'HDEL', 'HLEN', 'HINCRBY', 'HSCAN'],
  ZSET: ['ZADD', 'ZREM', 'ZCARD', 'ZCOUNT', 'ZRANGE', 'ZSCORE', 'ZREMRANGEBYRANK', 'ZREMRANGEBYSCORE'],
  SET: ['SADD', 'SREM', 'SCARD', 'SMEMBERS', 'SISMEMBER', 'SMISMEMBER'],
  STRING: ['GET', 'SET'],
  'STREAM or LIST': ['TYPE', 'XADD', 'RPUSH'],
};
const OF_ANY_TYPE = ['EXISTS', 'PEXPIRE', 'DEL'];
const WITHOUT_KEY = ['TIME', 'PUBLISH'];

const HEADS = ['heads:<priority>', 'heads:<priority>:<ending>'];
const LEVELS = ['levels', 'levels:<ending>'];
/** Keys that the scripts reach through a table of theirs; `key` is any sorted set, and only read. */
const BY_TABLE: Record<string, string[]> = {
  'lane.key': ['lane:<lane>'],
  'front.key': ['lane:<lane>'],
  'level.key': HEADS,
  'stream.key': HEADS,
  headsKey: HEADS,
  'index.key': LEVELS,
  'preferredIndex.key': LEVELS,
  'suspectIndex.key': LEVELS,
  'group.key': ['sleepers:<group>'],
  'tag.key': ['tag:<tag>'],
};

const names = SCRIPT_FILES.map((file) => file.replace('.lua', '')) as ScriptName[];
const schema = readSchema();

it('the embedded scripts are those of the .lua files', async () => {
  const { embed } = (await import(EMBEDDER)) as { embed(): string };
  expect(readFileSync(EMBEDDED, 'utf8')).toBe(embed());
  expect(Object.keys(SCRIPTS).sort()).toEqual([...names].sort());
});

describe.each(names)('the header of %s', (name) => {
  const read = () => ({ header: readHeader(`${name}.lua`), use: readUse(SCRIPTS[name].source) });

  it('begins with its name and says what it does, what it returns and what repeating it does', () => {
    const { header } = read();
    expect(header.title).toMatch(new RegExp(`^${name}: \\S`));
    expect(header.lines.filter((line) => /^Returns \S/.test(line))).toHaveLength(1);
    expect(header.lines.filter((line) => /^Repeating it( after a lost reply)?: \S/.test(line))).toHaveLength(1);
  });

  it('names just the KEYS that the body uses, in order', () => {
    const { header, use } = read();
    const documented = header.keys.map(({ number }) => number);
    expect(documented).toEqual(range(1, documented.length));
    expect(use.keys).toEqual(header.keys.filter(({ unread }) => !unread).map(({ number }) => number));
  });

  it('names just the ARGV that the body uses', () => {
    const { header, use } = read();
    expect(header.argv).toEqual(range(1, header.argv.length));
    // Every numbered call begins with the key base, whether its script needs it or not.
    const unread = header.lines.some((line) => line.includes('ARGV[1] key base (not read)')) ? [1] : [];
    expect([...unread, ...use.argv]).toEqual(header.argv);
    expect(use.argvFrom).toBe(header.argvFrom);
    if (header.argvFrom !== undefined) expect(header.argvFrom).toBe(header.argv.length + 1);
  });

  it('names nothing that the body only gives a name', () => {
    const { source } = SCRIPTS[name];
    const locals = [...source.matchAll(/^local ([\w, ]+) = .*\b(?:KEYS|ARGV)\b/gm)].flatMap(([, list]) =>
      list!.split(', '),
    );
    expect(locals.filter((local) => source.match(new RegExp(`\\b${local}\\b`, 'g'))!.length < 2)).toEqual([]);
  });

  it('names keys and types as the table of keys.ts does', () => {
    const { header } = read();
    const rows = header.keys.map(({ name: key }) => schema.find((row) => row.name === key));
    expect(rows.map((row) => row && [row.name, row.type])).toEqual(
      header.keys.map(({ name: key, type }) => [key, type]),
    );
  });
});

interface Touch extends RedisCall {
  script: ScriptName;
  row: SchemaRow;
}

/** Each call of a script, with the rows of the table that its key may have. */
function touches(script: ScriptName): Touch[] {
  const { source } = SCRIPTS[script];
  const { keys } = readHeader(`${script}.lua`);
  const aliases = readAliases(source);
  const namesOf = (key: string): (string | undefined)[] => {
    const number = key.match(/^KEYS\[(\d+)\]$/)?.[1] ?? aliases.get(key);
    if (number !== undefined) return [keys[Number(number) - 1]?.name];
    const begin = key.match(/^base \.\. '(\w+:)'$/)?.[1];
    return begin ? [schema.find(({ name }) => name.startsWith(begin))?.name] : (BY_TABLE[key] ?? [undefined]);
  };
  return readCalls(source)
    .filter(({ command, key }) => !WITHOUT_KEY.includes(command) && key !== 'key')
    .flatMap((call) =>
      namesOf(call.key ?? '').map((key) => {
        const row = schema.find(({ name }) => name === key);
        if (!row) throw new Error(`${script}: which key is it? ${call.text}`);
        return { ...call, script, row };
      }),
    );
}

describe('the table of keys.ts', () => {
  const all = () => names.flatMap(touches);
  const scriptsThat = (row: SchemaRow, does: (call: Touch) => boolean) =>
    [
      ...new Set(
        all()
          .filter((call) => call.row === row && does(call))
          .map(({ script }) => script),
      ),
    ].sort();

  it('has each key once, of a type that Redis has', () => {
    expect(new Set(schema.map(({ name }) => name)).size).toBe(schema.length);
    expect(schema.filter(({ type }) => !(type in TYPES))).toEqual([]);
  });

  it('says of each key the type that the scripts use it as', () => {
    const wrong = all().filter(({ command, row }) => ![...TYPES[row.type]!, ...OF_ANY_TYPE].includes(command));
    expect(wrong.map(({ script, text }) => `${script}: ${text}`)).toEqual([]);
  });

  it('leaves out no call whose key is handed to a function: these only read sorted sets', () => {
    const handed = names.flatMap((script) => readCalls(SCRIPTS[script].source)).filter(({ key }) => key === 'key');
    expect(sorted(handed.map(({ command }) => ['ZCARD', 'ZRANGE'].indexOf(command)))).toEqual([0, 1]);
  });

  it.each(schema.map((row) => [row.name, row] as const))('says who writes %s', (_, row) => {
    expect([...row.writtenBy].sort()).toEqual(scriptsThat(row, ({ command }) => WRITES.includes(command)));
  });

  it.each(schema.map((row) => [row.name, row] as const))('says what removes from %s', (_, row) => {
    const said = row.removedBy.filter(
      (word) => !['never', 'expires', 'or expires', 'a day', 'an hour', 'a minute'].includes(word),
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

it('the script of permissions tries each command of all others, but for those of relays alone, and no more', () => {
  const OF_RELAYS = ['TYPE', 'XADD', 'RPUSH'];
  const used = names.filter((name) => name !== 'permissions').flatMap((name) => readCalls(SCRIPTS[name].source));
  const needed = new Set(used.map(({ command }) => command).filter((command) => !OF_RELAYS.includes(command)));
  const { source } = SCRIPTS.permissions;
  const tried = [...source.matchAll(/^try\('(\w+)'/gm), ...source.matchAll(/\bnote\('(\w+)'/g)].map(
    ([, command]) => command!,
  );
  expect([...tried].sort()).toEqual([...needed].sort());
});
