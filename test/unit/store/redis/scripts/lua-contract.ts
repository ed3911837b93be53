import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../../../../../lib/store/redis/scripts/', import.meta.url);
const KEYS_FILE = new URL('../../../../../lib/store/redis/keys.ts', import.meta.url);

export const SCRIPT_FILES = readdirSync(FOLDER).filter((file) => file.endsWith('.lua'));

export interface DocumentedKey {
  number: number;
  /** Without what every key begins with, such as `lane:<lane>`. */
  name: string;
  type: string;
  /** Whether the header says that the script does not read it. */
  unread: boolean;
}

/** What a script's header says. */
export interface Header {
  title: string;
  lines: string[];
  keys: DocumentedKey[];
  argv: number[];
  /** From which number on there are as many as the caller likes. */
  argvFrom?: number;
}

export function readLua(file: string): string {
  return readFileSync(new URL(file, FOLDER), 'utf8');
}

export function readHeader(file: string): Header {
  const all = readLua(file).split('\n');
  const end = all.findIndex((line) => !line.startsWith('-- ') || line.startsWith('-- @include'));
  const lines = all.slice(0, end).map((line) => line.slice('-- '.length));
  const keys = lines.flatMap((line) => {
    const found = line.match(
      /^KEYS\[(\d+)\] (?:sq:\{<queue>\}:(?=[^<])|(?=<target>))(\S+)\s+([A-Z]+(?: or [A-Z]+)?) \S/,
    );
    if (!found && line.startsWith('KEYS')) throw new Error(`${file}: cannot be understood: ${line}`);
    return found
      ? [{ number: Number(found[1]), name: found[2]!, type: found[3]!, unread: line.includes('; not read)') }]
      : [];
  });
  const text = lines.join('\n');
  const open = [...text.matchAll(/ARGV\[(\d+)…\]/g)].map(([, number]) => Number(number));
  if (open.length > 1) throw new Error(`${file}: two open ends: ARGV[${open.join('…], ARGV[')}…]`);
  const argv = [...text.matchAll(/ARGV\[(\d+)\]/g)].map(([, number]) => Number(number));
  return { title: lines[0] ?? '', lines, keys, argv, argvFrom: open[0] };
}

/** What a script's body, its parts included and its comments gone, reads of KEYS and ARGV. */
export interface Use {
  keys: number[];
  argv: number[];
  argvFrom?: number;
}

export function readUse(source: string): Use {
  let rest = source;
  const take = (pattern: RegExp): RegExpMatchArray[] => {
    const found = [...rest.matchAll(pattern)];
    rest = rest.replace(pattern, '');
    return found;
  };
  const keys = [
    ...take(/\bunpack\(KEYS, (\d+), (\d+)\)/g).flatMap(([, from, to]) => range(Number(from), Number(to))),
    ...take(/\bKEYS\[(\d+)\]/g).map(([, number]) => Number(number)),
  ];
  const openEnds = [
    ...take(/\bunpack\(ARGV, (\d+)\)/g).map(([, from]) => Number(from)),
    ...take(/\bfor \w+ = (\w+), #ARGV\b/g).map(([, from]) => constant(source, from!)),
    ...take(/\bat = (\w+)\nwhile ARGV\[at\] do/g).map(([, from]) => constant(source, from!)),
    // A cursor stands at the length of the next list, whose fields follow it.
    ...take(/\bARGV\[cursor\]|\bunpack\(ARGV, cursor \+ 1, \w+\)/g).map(() => constant(source, 'cursor')),
  ];
  const argv = take(/\bARGV\[(\d+)\]/g).map(([, number]) => Number(number));
  // Any other index is part of walking through an open end.
  if (openEnds.length > 0)
    take(/\bARGV\[((i|at)( \+ \d+)?|(cursor|fencesFrom|ids|ends) \+ i|ids|from \+ .*? \+ field)\]/g);
  const unread = rest.match(/.*\b(KEYS|ARGV)\b.*/);
  if (unread) throw new Error(`cannot be understood: ${unread[0]}`);
  if (new Set(openEnds).size > 1) throw new Error(`two open ends: ${openEnds.join(' and ')}`);
  return { keys: sorted(keys), argv: sorted(argv), argvFrom: openEnds[0] };
}

/** The number that a local, on its own or in a list of locals, begins as. */
function constant(source: string, name: string): number {
  if (/^\d+$/.test(name)) return Number(name);
  for (const [, names, values] of source.matchAll(/^local ([\w, ]+) = ([\d, ]+)$/gm)) {
    const place = names!.split(', ').indexOf(name);
    if (place >= 0) return Number(values!.split(', ')[place]);
  }
  throw new Error(`no constant named ${name}`);
}

/** One call of a script to Redis, with the key it goes to as it is written there. */
export interface RedisCall {
  command: string;
  key?: string;
  text: string;
}

export function readCalls(source: string): RedisCall[] {
  return [...source.matchAll(/redis\.p?call\('(\w+)'(?:, (KEYS\[\d+\]|base \.\. '\w+:'|[\w.]+))?.*/g)].map(
    ([text, command, key]) => ({ command: command!, key, text }),
  );
}

/** Which KEYS a script's locals stand for. */
export function readAliases(source: string): Map<string, number> {
  const aliases = new Map<string, number>();
  for (const [, names, values] of source.matchAll(/^local ([\w, ]+) = (.*KEYS.*)$/gm)) {
    const spread = values!.match(/^unpack\(KEYS, (\d+), (\d+)\)$/);
    const numbers = spread
      ? range(Number(spread[1]), Number(spread[2]))
      : [...values!.matchAll(/KEYS\[(\d+)\]/g)].map(([, number]) => Number(number));
    for (const [i, name] of names!.split(', ').entries()) aliases.set(name, numbers[i]!);
  }
  return aliases;
}

export interface SchemaRow {
  name: string;
  type: string;
  writtenBy: string[];
  removedBy: string[];
}

/** The table at the top of keys.ts. */
export function readSchema(): SchemaRow[] {
  return readFileSync(KEYS_FILE, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(' * | ') && !/^ \* \| (key|---)/.test(line))
    .map((line) => {
      const [name, type, , writtenBy, removedBy] = line
        .slice(' * | '.length)
        .split('|')
        .map((cell) => cell.trim());
      return { name: name!, type: type!, writtenBy: who(writtenBy!), removedBy: who(removedBy!) };
    });
}

const SCRIPTS_WITH = (part: string) =>
  SCRIPT_FILES.filter((file) => readLua(file).includes(`-- @include parts/${part}.lua\n`)).map((file) =>
    file.replace('.lua', ''),
  );

function who(cell: string): string[] {
  return cell.split(', ').flatMap((word) => {
    if (word === 'nobody') return [];
    if (word === 'every script that moves a job') return SCRIPTS_WITH('lanes');
    if (word === 'every numbered call') return SCRIPTS_WITH('call');
    return word;
  });
}

export function sorted(numbers: number[]): number[] {
  return [...new Set(numbers)].sort((a, b) => a - b);
}

export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}
