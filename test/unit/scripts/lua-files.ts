interface Sources {
  get(file: string): { header: unknown };
}
interface Modules {
  Sources: new (readText: (file: string) => string | undefined) => Sources;
  check(
    sources: Sources,
    scripts: readonly string[],
    keyTable: Map<string, object>,
  ): { declaredAt: Map<string, Map<string, number>>; names: Map<string, object> };
  emitTypes(headers: readonly unknown[]): string;
  ShortNames: new (sources: Sources, names: Map<string, object>) => object;
  emitLua(
    sources: Sources,
    scripts: readonly string[],
    declaredAt: Map<string, Map<string, number>>,
    names: object,
  ): Map<string, Line[][]>;
  emitJs(sources: Sources, scripts: readonly string[], checked: object): MadeJs;
}

/** See scripts/lua/emit-js.mjs. */
export interface MadeJs {
  programs: Map<string, { file: string; line: number; code: string }[]>;
  patterns: string[];
  commands: string[];
  fields: string[];
}

/** A line of a script: see scripts/lua/emit-lua.mjs. */
export interface Line {
  file: string;
  line: number;
  written: string;
  sent: string;
}

const load = (file: string): Promise<Partial<Modules>> => import(`../../../scripts/lua/${file}`);
const { Sources, ShortNames, check, emitJs, emitLua, emitTypes } = {
  ...(await load('read.mjs')),
  ...(await load('check.mjs')),
  ...(await load('emit-js.mjs')),
  ...(await load('emit-lua.mjs')),
  ...(await load('emit-types.mjs')),
  ...(await load('short-names.mjs')),
} as Modules;

/** The keys that the table of keys.ts has. */
const KEYS = ['jobs', 'claims', 'tag:<tag>', 'receipt:<caller>'];

/** The pieces of each of these scripts but the first, which is the same in all, made of these files. Throws where they are refused. */
export function piecesOf(files: Record<string, string>, scripts: readonly string[]): Line[][][] {
  const sources = new Sources((file) => files[file]);
  const { declaredAt, names } = check(sources, scripts, new Map(KEYS.map((key) => [key, {}])));
  const pieces = emitLua(sources, scripts, declaredAt, new ShortNames(sources, names));
  return scripts.map((script) => pieces.get(script)!.slice(1));
}

/** The same as JavaScript. */
export function jsOf(files: Record<string, string>, scripts: readonly string[]): MadeJs {
  const sources = new Sources((file) => files[file]);
  return emitJs(sources, scripts, check(sources, scripts, new Map(KEYS.map((key) => [key, {}]))));
}

const linesOf = (files: Record<string, string>, others: readonly string[] = []) =>
  piecesOf(files, ['script.lua', ...others])[0]!.flat();

/** The text of `script.lua` as it is embedded but for its first line, made of these files, beside other scripts, by the names in the files. Throws where they are refused. */
export function embed(files: Record<string, string>, ...others: string[]): string {
  return linesOf(files, others)
    .map(({ written }) => written)
    .join('\n');
}

/** The same text as it goes over the wire. */
export function shorten(files: Record<string, string>): string {
  return linesOf(files)
    .map(({ sent }) => sent)
    .join('\n');
}

/** The TypeScript that is made of a script's header. */
export function typesOf(script: string): string {
  return emitTypes([new Sources(() => script).get('script.lua').header]);
}

/** What an embedding is refused for, '' where it is not. */
export function refusalOf(files: Record<string, string>, ...others: string[]): string {
  try {
    embed(files, ...others);
    jsOf(files, ['script.lua', ...others]);
    return '';
  } catch (error) {
    return (error as Error).message.replace('The Lua scripts are refused:\n', '');
  }
}
