import { InvalidPayloadError, PayloadTooLargeError, type ScheduledQueueErrorFields } from '../errors.js';
import { describe } from '../read/describe.js';
import { isEmptied } from './emptied.js';

/** Deeper payloads are refused: JSON's own recursion would overflow the stack not far beyond. */
const MAX_DEPTH = 500;

/** UTF-8's, of one UTF-16 code unit. */
const MOST_BYTES_A_UNIT = 3;

/** The stored form of a missing payload. It cannot be confused with JSON, because no JSON text is empty. */
const NO_PAYLOAD = '';

/**
 * A payload as JSON. Refuses what JSON cannot hold (functions, BigInt, circles, NaN, Map) or would silently drop or change,
 * with the path to it. An undefined property is left out, as in JSON; `toJSON` is honoured.
 */
export function serialisePayload(payload: unknown, maxBytes: number, fields: ScheduledQueueErrorFields): string {
  if (payload === undefined) return NO_PAYLOAD;
  const problem = findUnserialisable(payload, '', 0, undefined);
  if (problem) {
    const at = problem.path === '' ? 'It' : `'${problem.path}'`;
    const findings = [{ path: problem.path, messages: [problem.message] }];
    throw invalidPayload(`cannot be serialised. ${at} ${problem.message}.`, fields, findings);
  }
  const text = stringify(payload, fields);
  const bytes = bytesBeyond(text, maxBytes);
  if (bytes !== undefined) throw new PayloadTooLargeError(bytes, maxBytes, fields);
  return text;
}

/** The size of a text that is larger than that. Counting reads the whole text, and most are far from the limit. */
export function bytesBeyond(text: string, maxBytes: number): number | undefined {
  if (text.length * MOST_BYTES_A_UNIT <= maxBytes) return undefined;
  const bytes = Buffer.byteLength(text);
  return bytes > maxBytes ? bytes : undefined;
}

/** Throws a `SyntaxError` that, unlike the one of `JSON.parse`, shows nothing of the payload: it goes into logs. */
export function deserialisePayload(text: string): unknown {
  if (text === NO_PAYLOAD) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new SyntaxError(`the stored payload, ${text.length} characters, is not valid JSON`);
  }
}

function stringify(payload: unknown, fields: ScheduledQueueErrorFields): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(payload);
  } catch (cause) {
    throw invalidPayload(`cannot be serialised: ${(cause as Error)?.message ?? describe(cause)}`, { ...fields, cause });
  }
  if (text === undefined) throw invalidPayload('serialises to nothing, expected a value that JSON can hold', fields);
  return text;
}

/** `message` goes on after the job's name. */
export function invalidPayload(
  message: string,
  fields: ScheduledQueueErrorFields,
  findings = [{ path: '', messages: [message] }],
): InvalidPayloadError {
  const sentence = `The payload of job '${fields.jobName}' ${message}`;
  return new InvalidPayloadError(/[.!?]$/.test(sentence) ? sentence : `${sentence}.`, findings, fields);
}

interface Problem {
  path: string;
  message: string;
}

/** An object, and the object that contains it. */
interface Chain {
  value: object;
  inside?: Chain;
}

function isIn(chain: Chain | undefined, value: object): boolean {
  for (let link = chain; link; link = link.inside) if (link.value === value) return true;
  return false;
}

function findUnserialisable(
  value: unknown,
  path: string,
  depth: number,
  inside: Chain | undefined,
): Problem | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : { path, message: `is ${value}, which JSON would turn into null` };
    case 'bigint':
      return { path, message: 'is a BigInt: send it as a string' };
    case 'function':
    case 'symbol':
      return { path, message: `is ${describe(value)}, which JSON would drop` };
    default:
      return value === null ? undefined : findInObject(value as object, path, depth, inside);
  }
}

function findInObject(value: object, path: string, depth: number, inside: Chain | undefined): Problem | undefined {
  const prototype = Object.getPrototypeOf(value);
  const isPlain = prototype === Object.prototype || prototype === Array.prototype;
  if (!isPlain && value instanceof Date && Number.isNaN(value.getTime())) {
    return { path, message: 'is an invalid Date, which JSON would turn into null' };
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') return undefined;
  if (isIn(inside, value)) return { path, message: 'is circular: it contains itself' };
  if (depth >= MAX_DEPTH)
    return { path: `${path.slice(0, 60)}…`, message: `is nested more than ${MAX_DEPTH} levels deep` };
  if (isPlain) return findInMembers(value, path, depth, inside);
  if (isEmptied(value)) {
    return { path, message: `is ${describe(value)}, which JSON cannot hold: send plain objects and arrays` };
  }
  return findInMembers(value, path, depth, inside);
}

function findInMembers(value: object, path: string, depth: number, inside: Chain | undefined): Problem | undefined {
  const here = { value, inside };
  return Array.isArray(value)
    ? findInArray(value, path, depth, here)
    : findInProperties(value as Record<string, unknown>, path, depth, here);
}

function findInArray(items: unknown[], path: string, depth: number, inside: Chain | undefined): Problem | undefined {
  for (let i = 0; i < items.length; i++) {
    if (items[i] === undefined)
      return { path: `${path}[${i}]`, message: 'is undefined, which JSON would turn into null' };
    const problem = findUnserialisable(items[i], `${path}[${i}]`, depth + 1, inside);
    if (problem) return problem;
  }
  return undefined;
}

function findInProperties(
  value: Record<string, unknown>,
  path: string,
  depth: number,
  inside: Chain | undefined,
): Problem | undefined {
  for (const key of Object.keys(value)) {
    const problem = findUnserialisable(value[key], path === '' ? key : `${path}.${key}`, depth + 1, inside);
    if (problem) return problem;
  }
  return undefined;
}
