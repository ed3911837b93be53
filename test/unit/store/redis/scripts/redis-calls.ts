import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { ScriptName } from '../../../../../lib/store/redis/scripts/embedded.js';

const FOLDER = new URL('../../../../../lib/store/redis/scripts/', import.meta.url);
const KEYS_FILE = new URL('../keys.ts', FOLDER);
const EMBEDDER: string = '../../../../../scripts/embed-lua.mjs';
const KEY_TABLE: string = '../../../../../scripts/lua/key-table.mjs';

export const SCRIPT_NAMES = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.lua') && /\n-- @returns? /.test(readFileSync(new URL(file, FOLDER), 'utf8')))
  .map((file) => basename(file, '.lua') as ScriptName);

const { listScripts } = (await import(EMBEDDER)) as {
  listScripts(): { name: ScriptName; lines: { written: string }[] }[];
};
const TEXTS = new Map(listScripts().map(({ name, lines }) => [name, lines.map(({ written }) => written).join('\n')]));

/** The text of a script by the names in its files; what goes over the wire has short ones. */
export const textOf = (name: ScriptName): string => TEXTS.get(name)!;

export interface KeyRow {
  name: string;
  type: string;
  writtenBy: readonly string[];
  removedBy: readonly string[];
}

/** The table at the top of keys.ts. */
export async function readSchema(): Promise<KeyRow[]> {
  const { readKeyTable } = (await import(KEY_TABLE)) as {
    readKeyTable(text: string): Map<string, Record<string, string>>;
  };
  return [...readKeyTable(readFileSync(KEYS_FILE, 'utf8')).values()].map(
    ({ name = '', type = '', writtenBy = '', removedBy = '' }) => ({
      name,
      type,
      writtenBy: who(writtenBy),
      removedBy: who(removedBy),
    }),
  );
}

/** Which scripts hold such a line. */
const scriptsWith = (line: string) => SCRIPT_NAMES.filter((name) => textOf(name).includes(line));

function who(cell: string): string[] {
  return cell.split(', ').flatMap((word) => {
    if (word === 'nobody') return [];
    if (word === 'every script that moves a job') return scriptsWith('function closeLanes(');
    if (word === 'every script that moves jobs of groups') return scriptsWith('ofGroups.turnsEnded) do');
    if (word === 'every script that arms an occurrence') return scriptsWith('function writeArmed()');
    if (word === 'every script that disarms one') return scriptsWith('function writeDisarmed()');
    if (word === 'every script that ends a job') return scriptsWith('function writeFollowUps()');
    if (word === 'every numbered call') return scriptsWith("redis.call('SET', receiptKey");
    return word;
  });
}

/** One call of a script to Redis, with the key it goes to as it is written there. */
export interface RedisCall {
  command: string;
  key?: string;
  text: string;
}

export function readCalls(name: ScriptName): RedisCall[] {
  return [
    ...textOf(name).matchAll(/redis\.p?call\('(\w+)'(?:, (base \.\. '\w+:?'|[\w.]+))?(?:(?!redis\.p?call).)*/g),
  ].map(([text, command, key]) => ({ command: command!, key, text }));
}
