import { describe, expect, it } from '@jest/globals';

interface Constant {
  name: string;
  value: string;
  prose: string;
}
interface Modules {
  readConstants(file: string, text: string): Constant[];
  withValues(constants: readonly Constant[], text: string): string;
  emitConstants(constants: readonly Constant[]): string;
}

const file = '../../../scripts/lua/constants.mjs';
const { readConstants, withValues, emitConstants }: Modules = await import(file);

const constants = readConstants(
  'constants.lua',
  '-- Of the file.\n\n-- How large.\n-- In bytes.\nLARGE_BYTES = 2 * 1024\nLONG_MS = 1e3\n',
);

describe('constants that Lua and TypeScript share', () => {
  it('stand in a script as their values, and take none of the 200 locals of Lua', () => {
    expect(withValues(constants, "if size / LARGE_BYTES > 1 then return LONG_MS, 'XX', LARGE_BYTES_READ end")).toBe(
      "if size / (2 * 1024) > 1 then return 1e3, 'XX', LARGE_BYTES_READ end",
    );
  });

  it('keep their names in comments', () => {
    expect(withValues(constants, '  -- See LONG_MS.')).toBe('  -- See LONG_MS.');
  });

  it('come to TypeScript with the comments above them, but for that of the file', () => {
    expect(emitConstants(constants).split('\n').slice(1)).toEqual([
      '/** How large. In bytes. */',
      'export const LARGE_BYTES = 2 * 1024;',
      'export const LONG_MS = 1e3;',
      '',
    ]);
  });

  it.each(["NAME = 'text'", 'name = 1', 'NAME = OTHER', 'local NAME = 1'])('may not be written as %s', (line) => {
    expect(() => readConstants('constants.lua', `-- A comment.\n${line}`)).toThrow(
      `constants.lua:2: got '${line}', expected a comment or NAME = value`,
    );
  });
});
