interface Sources {
  get(file: string): unknown;
}
interface Modules {
  Sources: new (readText: (file: string) => string | undefined) => Sources;
  check(sources: Sources, scripts: readonly string[], keyTable: Map<string, object>): Map<string, Set<string>>;
  emitLua(sources: Sources, script: string, used: Set<string>): string;
}

const load = (file: string): Promise<Partial<Modules>> => import(`../../../scripts/lua/${file}`);
const { Sources, check, emitLua } = {
  ...(await load('read.mjs')),
  ...(await load('check.mjs')),
  ...(await load('emit-lua.mjs')),
} as Modules;

/** The keys that the table of keys.ts has. */
const KEYS = ['jobs', 'claims', 'tag:<tag>', 'receipt:<caller>'];

/** The text of `script.lua` as it is embedded, made of these files. Throws where they are refused. */
export function embed(files: Record<string, string>): string {
  const sources = new Sources((file) => files[file]);
  const used = check(sources, ['script.lua'], new Map(KEYS.map((key) => [key, {}])));
  return emitLua(sources, 'script.lua', used.get('script.lua')!);
}
