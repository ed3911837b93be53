import type { ScriptName } from '../../../store/redis/scripts/embedded.js';
import { LIBRARY } from './library.js';
import { FILES, PATTERNS, PIECES, PROGRAMS } from './programs.js';
import type { LuaResult, LuaTable, LuaValue } from './table.js';

/** `redis.call` with the commands that stand in scripts by their names, and the two functions for all others. */
export type Calls = Record<string, (args: LuaValue[]) => LuaValue> & {
  readonly call: (args: LuaValue[]) => LuaValue;
  /** Answers a table with `err` where the command fails. */
  readonly pcall: (args: LuaValue[]) => LuaValue;
};

/** A script as JavaScript. */
export type Program = (keys: LuaTable, argv: LuaTable, redis: Calls) => LuaResult;

const compiled = new Map<ScriptName, Program>();

/** Compiled when it is first asked for: few tests call more than a handful of scripts. */
export function programOf(script: ScriptName): Program {
  const program = compiled.get(script) ?? compile(script);
  compiled.set(script, program);
  return program;
}

/** What the compiled code is called in stacks. */
const SOURCE = 'scheduled-queue-script';
/** The first line of a script is the second of its code, and `Function` puts two lines of its own before that. */
const LINES_BEFORE = 3;

function compile(script: ScriptName): Program {
  const names = Object.keys(LIBRARY).map((name) => `${name}: $${name}`);
  const code = [
    `const { ${names.join(', ')} } = $library; return function $script(KEYS, ARGV, $redis) { const $keys = KEYS.$list, $argv = ARGV.$list;`,
    ...PROGRAMS[script].map((index) => PIECES[index]![2]),
    `}\n//# sourceURL=${SOURCE}:${script}`,
  ];
  return new Function('$library', '$patterns', code.join('\n'))(LIBRARY, PATTERNS) as Program;
}

/** The line of Lua in which an error of a script was thrown, "<file>:<line>"; `undefined` where it was not in one. */
export function placeOf(error: Error): string | undefined {
  const [, script, line] = new RegExp(`${SOURCE}:([\\w-]+):(\\d+)`).exec(error.stack ?? '') ?? [];
  if (script === undefined || !(script in PROGRAMS)) return undefined;
  let at = Number(line) - LINES_BEFORE;
  for (const index of PROGRAMS[script as ScriptName]) {
    const [file, first, code] = PIECES[index]!;
    const lines = code.split('\n').length;
    if (at < lines) return `${FILES[file]}:${first + at}`;
    at -= lines;
  }
  return undefined;
}
