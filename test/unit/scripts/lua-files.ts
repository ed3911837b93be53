interface Sources {
  get(file: string): unknown;
}
interface Modules {
  Sources: new (readText: (file: string) => string | undefined) => Sources;
  check(sources: Sources, scripts: readonly string[]): void;
  emitLua(sources: Sources, script: string): string;
}

const load = (file: string): Promise<Partial<Modules>> => import(`../../../scripts/lua/${file}`);
const { Sources, check, emitLua } = {
  ...(await load('read.mjs')),
  ...(await load('check.mjs')),
  ...(await load('emit-lua.mjs')),
} as Modules;

/** The text of `script.lua` as it is embedded, made of these files. Throws where they are refused. */
export function embed(files: Record<string, string>): string {
  const sources = new Sources((file) => files[file]);
  check(sources, ['script.lua']);
  return emitLua(sources, 'script.lua');
}
