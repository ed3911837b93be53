import { readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { readLua, SCRIPT_FILES } from './lua-contract.js';

const PARTS = readdirSync(new URL('../../../../../lib/store/redis/scripts/parts/', import.meta.url)).map(
  (file) => `parts/${file}`,
);
const KEYWORDS =
  'and break do else elseif end false for function if in local nil not or repeat return then true until while';
const GIVEN = 'redis tonumber tostring string table math ipairs pairs unpack type KEYS';
const KNOWN = new Set([...KEYWORDS.split(' '), ...GIVEN.split(' ')]);

const includesOf = (file: string) => [...readLua(file).matchAll(/-- @include (\S+)/g)].map(([, part]) => part!);
const allIncludesOf = (file: string): string[] => includesOf(file).flatMap((part) => [part, ...allIncludesOf(part)]);
const codeOf = (file: string) =>
  readLua(file)
    .replace(/--.*/g, '')
    .replace(/'(?:\\.|[^'\\])*'/g, "''");

/** What a part names itself: locals, functions, parameters and what loops run through. */
function namesIn(file: string): string[] {
  const patterns = [
    /\blocal function (\w+)/g,
    /\blocal (\w[\w, ]*)/g,
    /\bfunction\b[^(]*\(([^)]*)\)/g,
    /\bfor (.+?) (?:=|in)\b/g,
  ];
  return patterns.flatMap((pattern) =>
    [...codeOf(file).matchAll(pattern)].flatMap(([, list]) => list!.split(',').map((name) => name.trim())),
  );
}

/** What it takes from the script around it, and from no other part. */
function takenBy(file: string): string[] {
  const known = new Set([...KNOWN, ...[file, ...PARTS].flatMap(namesIn)]);
  const fields = new Set([...codeOf(file).matchAll(/[{,]\s*(\w+) = /g)].map(([, field]) => field!));
  const used = [...codeOf(file).matchAll(/(?<![\w.])[A-Za-z_]\w*/g)].map(([name]) => name);
  return [...new Set(used)].filter((name) => !known.has(name) && !fields.has(name)).sort();
}

/** The embedding program holds a part to its own `@takes` and `@gives`. */
const saysWhatItTakes = (part: string) => /^-- @(takes|gives|changes) /m.test(readLua(part));
const isShared = (part: string) => SCRIPT_FILES.filter((file) => allIncludesOf(file).includes(part)).length > 1;

describe('a part that several scripts include says what they must have', () => {
  it.each(PARTS.filter((part) => isShared(part) && !saysWhatItTakes(part)))('%s', (part) => {
    const needs = readLua(part).match(/Needs .*/)?.[0] ?? '';
    const said = [...needs.matchAll(/`(\w+)`|\b(ARGV)\[/g)].map(([, name, argument]) => name ?? argument!);
    expect(said.sort()).toEqual(takenBy(part));
  });
});
