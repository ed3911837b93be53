import { isEmptied } from '../core/payload/emptied.js';
import { describe } from '../core/read/describe.js';

/** Deeper payloads are refused, and so are circles. */
const MAX_DEPTH = 500;

/** Objects around a primitive, which msgpackr writes as `{}`. */
const BOXED = /^\[object (Number|String|Boolean|BigInt)\]$/;

/** Half of a character beyond 16 bits: UTF-8, and so MessagePack, cannot hold it. */
const LONE_SURROGATE = /\p{Surrogate}/u;
const HALF_A_CHARACTER = 'holds half a character (a lone surrogate), which would become U+FFFD';

const LEAST_INT64 = -(2n ** 63n);
const MOST_UINT64 = 2n ** 64n - 1n;

interface Problem {
  path: string;
  message: string;
}

/** The first thing in a payload that MessagePack cannot hold, or that msgpackr would silently drop or change. */
export function findUnpackable(value: unknown, path: string, depth: number): Problem | undefined {
  switch (typeof value) {
    case 'string':
      return LONE_SURROGATE.test(value) ? { path, message: HALF_A_CHARACTER } : undefined;
    case 'number':
      return Object.is(value, -0) ? { path, message: 'is -0, which would become 0: send 0' } : undefined;
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
  if (!isPlain && 'toJSON' in value && typeof value.toJSON === 'function') {
    const written: unknown = value.toJSON();
    if (written !== value) return findUnpackable(written, path, depth + 1);
  }
  if (BOXED.test(Object.prototype.toString.call(value)))
    return { path, message: `is ${describe(value)} object, which would become {}: send the value itself` };
  if (isEmptied(value))
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
    const at = path === '' ? key : `${path}.${key}`;
    // It does no harm as it is stored, but msgpackr reads it as `__proto_`.
    if (key === '__proto__') return { path: at, message: "would become '__proto_': send it under another name" };
    const problem = findUnpackable(key, at, depth) ?? findUnpackable(value[key], at, depth + 1);
    if (problem) return problem;
  }
  return undefined;
}
