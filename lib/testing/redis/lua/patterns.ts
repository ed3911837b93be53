/** The classes of Lua in the locale of Redis, as parts of a set. */
const CLASSES: Record<string, string> = {
  a: 'A-Za-z',
  c: '\\x00-\\x1f\\x7f',
  d: '0-9',
  l: 'a-z',
  p: '!-\\/:-@\\[-`{-~',
  s: '\\t-\\r ',
  u: 'A-Z',
  w: '0-9A-Za-z',
  x: '0-9A-Fa-f',
};

/** True if a pattern of Lua means nothing but its own text. */
export const isPlain = (pattern: string): boolean => !/[\^$*+?.()[%-]/.test(pattern);

/**
 * A pattern of Lua as a regular expression that finds the same: one that begins with `^` is sticky, another one global. Throws where the
 * pattern uses what no script needs: captures of places, `%b`, `%1`.
 */
export function toRegExp(pattern: string): RegExp {
  const isAnchored = pattern.startsWith('^');
  let source = '';
  let at = isAnchored ? 1 : 0;
  while (at < pattern.length) {
    const char = pattern[at]!;
    if (char === '(' && pattern[at + 1] === ')') throw new Error(`the pattern '${pattern}' captures places`);
    if (char === '(' || char === ')') {
      source += char;
      at++;
    } else if (char === '$' && at === pattern.length - 1) {
      source += '$';
      at++;
    } else {
      const item = readItem(pattern, at);
      at = item.end;
      const repeat = pattern[at] ?? '';
      const isRepeated = repeat !== '' && '*+-?'.includes(repeat);
      source += item.source + (isRepeated ? repeat.replace('-', '*?') : '');
      if (isRepeated) at++;
    }
  }
  return new RegExp(source, isAnchored ? 'y' : 'g');
}

/** One character, class or set of a pattern. */
function readItem(pattern: string, at: number): { source: string; end: number } {
  const char = pattern[at]!;
  if (char === '[') return readSet(pattern, at);
  if (char === '%' && pattern[at + 1] === 'f') return readFrontier(pattern, at + 2);
  if (char === '%') return { source: `[${classOf(pattern, at + 1)}]`, end: at + 2 };
  return { source: char === '.' ? '[\\s\\S]' : escaped(char), end: at + 1 };
}

/** `%f[set]`: a place where the set begins. Before the text and behind it stands a byte 0, which is in a set of what is not. */
function readFrontier(pattern: string, at: number): { source: string; end: number } {
  const { source: set, end } = readSet(pattern, at);
  const isNot = set.startsWith('[^');
  return { source: isNot ? `(?<!^|${set})(?=${set}|$)` : `(?<!${set})(?=${set})`, end };
}

function readSet(pattern: string, from: number): { source: string; end: number } {
  let at = from + 1;
  const isNot = pattern[at] === '^';
  if (isNot) at++;
  let source = '';
  // A bracket that comes first is one of the set.
  for (const first = at; pattern[at] !== ']' || at === first; ) {
    const char = pattern[at];
    if (char === undefined) throw new Error(`the pattern '${pattern}' has a set without an end`);
    if (char === '%') {
      source += classOf(pattern, at + 1);
      at += 2;
    } else if (pattern[at + 1] === '-' && pattern[at + 2] !== ']' && pattern[at + 2] !== undefined) {
      source += `${escaped(char)}-${escaped(pattern[at + 2]!)}`;
      at += 3;
    } else {
      source += escaped(char);
      at++;
    }
  }
  return { source: `[${isNot ? '^' : ''}${source}]`, end: at + 1 };
}

/** What stands behind a `%`, as a part of a set. */
function classOf(pattern: string, at: number): string {
  const char = pattern[at];
  if (char === undefined) throw new Error(`the pattern '${pattern}' ends with '%'`);
  const lower = CLASSES[char.toLowerCase()];
  if (lower !== undefined) return char === char.toLowerCase() ? lower : without(char.toLowerCase());
  if (/[\da-z]/i.test(char)) throw new Error(`the pattern '${pattern}' uses %${char}`);
  return escaped(char);
}

/** All bytes that are not of a class: a set may hold these beside others. */
function without(name: string): string {
  const isIn = new RegExp(`[${CLASSES[name]}]`);
  const bytes = Array.from({ length: 256 }, (_, code) => code).filter((code) => !isIn.test(String.fromCharCode(code)));
  return bytes.map((code) => `\\x${code.toString(16).padStart(2, '0')}`).join('');
}

const escaped = (char: string) =>
  /[\w ]/.test(char) ? char : `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`;
