interface Sources {
  get(file: string): { header: unknown };
}
interface Modules {
  Sources: new (readText: (file: string) => string | undefined) => Sources;
  check(sources: Sources, scripts: readonly string[], keyTable: Map<string, object>): Map<string, Map<string, number>>;
  emitTypes(headers: readonly unknown[]): string;
  emitLua(sources: Sources, script: string, declaredAt: Map<string, number>): readonly string[];
}

const load = (file: string): Promise<Partial<Modules>> => import(`../../../scripts/lua/${file}`);
const { Sources, check, emitLua, emitTypes } = {
  ...(await load('read.mjs')),
  ...(await load('check.mjs')),
  ...(await load('emit-lua.mjs')),
  ...(await load('emit-types.mjs')),
} as Modules;

/** The keys that the table of keys.ts has. */
const KEYS = ['jobs', 'claims', 'tag:<tag>', 'receipt:<caller>'];

/** The text of `script.lua` as it is embedded, made of these files, beside other scripts. Throws where they are refused. */
export function embed(files: Record<string, string>, ...others: string[]): string {
  const sources = new Sources((file) => files[file]);
  const declaredAt = check(sources, ['script.lua', ...others], new Map(KEYS.map((key) => [key, {}])));
  return emitLua(sources, 'script.lua', declaredAt.get('script.lua')!).join('\n');
}

/** The TypeScript that is made of a script's header. */
export function typesOf(script: string): string {
  return emitTypes([new Sources(() => script).get('script.lua').header]);
}

/** What an embedding is refused for, '' where it is not. */
export function refusalOf(files: Record<string, string>, ...others: string[]): string {
  try {
    embed(files, ...others);
    return '';
  } catch (error) {
    return (error as Error).message.replace('The Lua scripts are refused:\n', '');
  }
}
