import { describe } from '../core/read/describe.js';

/** Deeper payloads are refused, and so are circles. */
const MAX_DEPTH = 500;

/** What would arrive as something else, or as nothing. Most likely sent by mistake, such as a promise that nobody awaited. */
const LOST = [Map, Set, WeakMap, WeakSet, Promise, RegExp, Error];

const LEAST_INT64 = -(2n ** 63n);
const MOST_UINT64 = 2n ** 64n - 1n;

interface Problem {
  path: string;
  message: string;
}

/** The first thing in a payload that MessagePack cannot hold, or that msgpackr would silently drop or change. */
export function findUnpackable(value: unknown, path: string, depth: number): Problem | undefined {
  switch (typeof value) {
    case 'bigint':
      if (value >= LEAST_INT64 && value <= MOST_UINT64) return undefined;
      return { path, message: 'is a BigInt of more than 64 bits: send it as a string' };
    case 'function':
    case 'symbol':
      return { path, message: `is ${describe(value)}, which MessagePack cannot hold` };
    case 'object':
      return value === null ? undefined : findInObject(value, path, depth);
    default:
      return undefined;
  }
}

function findInObject(value: object, path: string, depth: number): Problem | undefined {
  if (depth >= MAX_DEPTH)
    return { path: `${path.slice(0, 60)}…`, message: `is nested more than ${MAX_DEPTH} levels deep, or circular` };
  if (Array.isArray(value)) return findInArray(value, path, depth);
  if (value instanceof Uint8Array || value instanceof ArrayBuffer) return undefined;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? { path, message: 'is an invalid Date' } : undefined;
  // msgpackr asks instances of classes alone for their `toJSON`.
  const isPlain = Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain && 'toJSON' in value && typeof value.toJSON === 'function') return undefined;
  if (ArrayBuffer.isView(value) || LOST.some((type) => value instanceof type))
    return { path, message: `is ${describe(value)}, which MessagePack cannot hold: send plain objects and arrays` };
  return findInProperties(value as Record<string, unknown>, path, depth);
}

function findInArray(items: unknown[], path: string, depth: number): Problem | undefined {
  for (let i = 0; i < items.length; i++) {
    if (items[i] === undefined) return { path: `${path}[${i}]`, message: 'is undefined, which would become null' };
    const problem = findUnpackable(items[i], `${path}[${i}]`, depth + 1);
    if (problem) return problem;
  }
  return undefined;
}

function findInProperties(value: Record<string, unknown>, path: string, depth: number): Problem | undefined {
  for (const key of Object.keys(value)) {
    const problem = findUnpackable(value[key], path === '' ? key : `${path}.${key}`, depth + 1);
    if (problem) return problem;
  }
  return undefined;
}
