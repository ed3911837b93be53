/**
 * What the scripts may use of Lua's library and of Redis, with what it answers: a kind as in value-kinds.mjs for one value, `many`
 * for none or several. lib/testing/redis/lua/library.ts has each of them, under the same name with a '_' for the point.
 */
export const BUILTINS = new Map(
  Object.entries({
    tonumber: 'number?',
    tostring: 'string',
    type: 'string',
    next: 'any',
    unpack: 'many',
    select: 'many',
    setmetatable: 'table',
    'string.match': 'many',
    'string.find': 'many',
    'string.gmatch': 'any',
    'string.gsub': 'many',
    'string.sub': 'string',
    'string.byte': 'number?',
    'string.rep': 'string',
    'string.len': 'number',
    'string.lower': 'string',
    'string.upper': 'string',
    'string.format': 'string',
    'table.insert': 'any',
    'table.remove': 'any',
    'table.concat': 'string',
    'table.sort': 'any',
    'math.floor': 'number',
    'math.ceil': 'number',
    'math.abs': 'number',
    'math.min': 'number',
    'math.max': 'number',
    'cjson.encode': 'string',
    'redis.call': 'any',
    'redis.pcall': 'any',
    'redis.error_reply': 'table',
    'redis.status_reply': 'table',
    'redis.sha1hex': 'string',
  }),
);

/** Values of the library that are no functions, as JavaScript. */
export const CONSTANTS = new Map([['math.huge', 'Infinity']]);

/** Which of these take a pattern, at this place. */
export const TAKES_PATTERN = new Set(['string.match', 'string.find', 'string.gmatch', 'string.gsub']);

/** `string.match` -> `$string_match`. */
export const libraryCall = (builtin) => `$${builtin.replace('.', '_')}`;
