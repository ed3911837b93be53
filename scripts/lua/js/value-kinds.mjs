import { BUILTINS } from './builtins.mjs';

/**
 * Kinds of values: `number`, `string`, `boolean`, `table` and `function`; `nil`; one of these with a `?` behind it, where nil or false may
 * stand in its place; `any`; and `undefined` where nothing has been seen yet.
 */

const ARITHMETIC = new Set(['+', '-', '*', '/', '%', '^']);
const LIBRARIES = new Set(['string', 'table', 'math', 'redis', 'cjson']);

/** What commands of Redis answer a script, where it is always the same kind. */
const OF_COMMANDS = new Map([
  ...`DEL UNLINK EXISTS HDEL HEXISTS HINCRBY HLEN HSET PEXPIRE PUBLISH RPUSH SADD SCARD SISMEMBER XTRIM ZCARD ZCOUNT ZLEXCOUNT ZREM
  ZREMRANGEBYRANK ZREMRANGEBYSCORE`
    .split(/\s+/)
    .map((name) => [name, 'number']),
  ...'HGETALL HMGET HSCAN MGET SMEMBERS SMISMEMBER TIME XRANGE XREVRANGE ZMSCORE ZRANGE ZSCAN'
    .split(' ')
    .map((name) => [name, 'table']),
  ...'GET HGET ZSCORE'.split(' ').map((name) => [name, 'string?']),
]);

/** The kind of a place that may hold either. */
export function either(a, b) {
  if (a === undefined || a === b) return b;
  if (b === undefined) return a;
  if (a === 'nil') return orNil(b);
  if (b === 'nil') return orNil(a);
  return baseOf(a) === baseOf(b) ? orNil(a) : 'any';
}

export const orNil = (kind) => (kind === 'any' || kind === 'nil' || kind === undefined ? kind : `${baseOf(kind)}?`);
export const baseOf = (kind) => kind?.replace('?', '');

/**
 * `string.match` for a node that names a function of the library, unless `isLocal` says that its first name is none. Names that the library
 * lacks are answered too.
 */
export function libraryNameOf(node, isLocal) {
  if (node.type === 'Identifier') return BUILTINS.has(node.name) && !isLocal(node.name) ? node.name : undefined;
  if (node.type !== 'MemberExpression' || node.base.type !== 'Identifier') return undefined;
  const library = node.base.name;
  return LIBRARIES.has(library) && !isLocal(library) ? `${library}.${node.identifier.name}` : undefined;
}

/** `redis.call('GET', …)`: GET. `undefined` where the command is none that stands there by its name. */
export function commandOf({ arguments: [name] }, builtin) {
  return builtin === 'redis.call' && name?.type === 'StringLiteral' ? name.raw.slice(1, -1) : undefined;
}

/**
 * The kind of an expression. `scope` knows the names: `kindOf(name)`, `isLocal(name)`, and of a function `answerOf(node)`: the kind of what
 * it answers first.
 */
export function kindOf(node, scope) {
  const kind = (each) => kindOf(each, scope);
  switch (node.type) {
    case 'NilLiteral':
      return 'nil';
    case 'NumericLiteral':
      return 'number';
    case 'StringLiteral':
      return 'string';
    case 'BooleanLiteral':
      return 'boolean';
    case 'TableConstructorExpression':
      return 'table';
    case 'FunctionDeclaration':
      return 'function';
    case 'UnaryExpression':
      return node.operator === 'not' ? 'boolean' : 'number';
    case 'BinaryExpression':
      if (node.operator === '..') return 'string';
      return ARITHMETIC.has(node.operator) ? 'number' : 'boolean';
    case 'LogicalExpression':
      return kindOfLogical(node, kind);
    case 'Identifier':
      return scope.kindOf(node.name);
    case 'MemberExpression':
      return libraryNameOf(node, scope.isLocal) === 'math.huge' ? 'number' : 'any';
    case 'IndexExpression':
      return isInput(node, scope) ? 'string' : 'any';
    case 'CallExpression': {
      const builtin = libraryNameOf(node.base, scope.isLocal);
      if (builtin === undefined) return scope.answerOf(node.base);
      const command = commandOf(node, builtin);
      if (command !== undefined) return OF_COMMANDS.get(command) ?? 'any';
      const answered = BUILTINS.get(builtin);
      return answered === 'many' || answered === undefined ? 'any' : answered;
    }
    default:
      return 'any';
  }
}

/** `a and b` is nil or false, or `b`; `a or b` is `a` where that is neither. */
function kindOfLogical({ operator, left, right }, kind) {
  const [a, b] = [kind(left), kind(right)];
  if (a === undefined || b === undefined) return undefined;
  if (operator === 'and') {
    if (a === 'nil' || (a === 'boolean' && b === 'boolean')) return a;
    if (!a.endsWith('?') && a !== 'any' && a !== 'boolean') return b;
    return orNil(b);
  }
  if (a === 'nil') return b;
  if (a === 'boolean' && b === 'boolean') return a;
  if (a === 'boolean') return 'any';
  if (!a.endsWith('?') && a !== 'any') return a;
  return baseOf(a) === baseOf(b) ? b : 'any';
}

/** `KEYS[1]`, `ARGV[n]`: how many there are says the header of the script, so one that is asked for is there. */
export function isInput({ base, index }, scope) {
  const isOne =
    base.type === 'Identifier' && (base.name === 'KEYS' || base.name === 'ARGV') && !scope.isLocal(base.name);
  return isOne && index.type === 'NumericLiteral';
}
