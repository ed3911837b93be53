/** What Lua and Redis give every script. */
export const GLOBALS = new Set(
  'redis cjson tonumber tostring string table math ipairs pairs next unpack setmetatable select type error'.split(' '),
);
/** By number; a part is given what it needs of them by name. */
export const INPUTS = new Set(['KEYS', 'ARGV']);

export const isGlobal = (name) => GLOBALS.has(name) || INPUTS.has(name);
