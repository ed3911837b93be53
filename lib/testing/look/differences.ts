import { inspect, isDeepStrictEqual } from 'node:util';
import { describe } from '../../core/read/describe.js';

const LONGEST = 80;

/** Where a value differs from what is expected of a part of it: a sentence for each place, none where it fits. */
export function differences(got: unknown, expected: unknown, path: string): string[] {
  if (isMatcher(expected))
    return expected.asymmetricMatch(got) ? [] : [`${path}: got ${shown(got)}, expected ${matcherText(expected)}`];
  if (expected instanceof Date) {
    const isSame = (got instanceof Date ? got.getTime() : Date.parse(String(got))) === expected.getTime();
    return isSame ? [] : [`${path}: got ${shown(got)}, expected ${expected.toISOString()}`];
  }
  if (isWhole(expected))
    return isDeepStrictEqual(got, expected) ? [] : [`${path}: got ${shown(got)}, expected ${shown(expected)}`];
  if (Array.isArray(expected)) return ofArrays(got, expected, path);
  if (typeof expected === 'object' && expected !== null) {
    if (typeof got !== 'object' || got === null) return [`${path}: got ${shown(got)}, expected ${shown(expected)}`];
    return Object.entries(expected).flatMap(([key, value]) =>
      differences((got as Record<string, unknown>)[key], value, `${path}.${key}`),
    );
  }
  return Object.is(got, expected) ? [] : [`${path}: got ${shown(got)}, expected ${shown(expected)}`];
}

/** A value on one line. */
export function shown(value: unknown): string {
  if (typeof value !== 'object' || value === null || value instanceof Date) return describe(value);
  if (isMatcher(value)) return shortened(matcherText(value));
  if (isWhole(value)) return shortened(inspect(value, { breakLength: Number.POSITIVE_INFINITY, depth: 3 }));
  try {
    return shortened(withMatchers(value));
  } catch {
    return describe(value);
  }
}

const shortened = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

function ofArrays(got: unknown, expected: readonly unknown[], path: string): string[] {
  if (!Array.isArray(got)) return [`${path}: got ${shown(got)}, expected ${shown(expected)}`];
  if (got.length !== expected.length) return [`${path}: got ${got.length} items, expected ${expected.length}`];
  return expected.flatMap((value, i) => differences(got[i], value, `${path}[${i}]`));
}

/** Their parts are no properties of theirs. */
function isWhole(value: unknown): boolean {
  return value instanceof Map || value instanceof Set || ArrayBuffer.isView(value);
}

/** Such as `expect.any(String)` of Jest and Vitest. */
interface Matcher {
  asymmetricMatch(value: unknown): boolean;
}

function isMatcher(value: unknown): value is Matcher {
  return typeof (value as Matcher | null | undefined)?.asymmetricMatch === 'function';
}

/** As JSON, with a text for each matcher in it: what JSON knows of a matcher is its inside. */
function withMatchers(value: unknown): string {
  const matchers: string[] = [];
  const json = JSON.stringify(value, (_key, part) => {
    if (!isMatcher(part)) return part;
    return `${MARK}${matchers.push(matcherText(part)) - 1}${MARK}`;
  });
  return json.replaceAll(MARKED, (_all, at) => matchers[Number(at)]!);
}

/** A character that JSON writes as it is, and that no text has. */
const MARK = '\uE000';
const MARKED = new RegExp(`"${MARK}(\\d+)${MARK}"`, 'g');

/** As Jest and Vitest print them: `Any<String>`, or the name and the sample, as in `ObjectContaining {"a":1}`. */
function matcherText(matcher: object): string {
  const { toAsymmetricMatcher, sample } = matcher as { toAsymmetricMatcher?: () => string; sample?: unknown };
  if (toAsymmetricMatcher) return toAsymmetricMatcher.call(matcher);
  const name = String(matcher);
  if (name.startsWith('[object ')) return 'what the matcher says';
  return sample === undefined ? name : `${name} ${sample instanceof RegExp ? String(sample) : shown(sample)}`;
}
