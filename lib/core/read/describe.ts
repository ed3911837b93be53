const SHOWN_CHARACTERS = 60;
/** The longest known name has fewer. Comparing takes as long as the product of both lengths, and the name may come from a form. */
const MOST_COMPARED = 64;

/** A value as an error message shows it: its type, and the value where it is short and says something. */
export function describe(value: unknown): string {
  if (typeof value === 'string') {
    const shown = value.length > SHOWN_CHARACTERS ? `${value.slice(0, SHOWN_CHARACTERS)}…` : value;
    return `${JSON.stringify(shown)}${value.length > SHOWN_CHARACTERS ? ` (${value.length} characters)` : ''}`;
  }
  if (typeof value === 'number' || typeof value === 'boolean' || value === null || value === undefined) {
    return String(value);
  }
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value ? `the bigint ${value}` : 'a long bigint';
  if (typeof value === 'function') return value.name ? `the function '${value.name}'` : 'a function';
  if (typeof value === 'symbol') return 'a symbol';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid Date' : value.toISOString();
  const name = Object.getPrototypeOf(value)?.constructor?.name;
  return name && name !== 'Object' ? `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name}` : 'an object';
}

/** The first few of a list as a message shows them, and how many more there are. */
export function firstFew(items: readonly string[], most: number, separator = ', '): string {
  const told = items.slice(0, most).join(separator);
  return items.length > most ? `${told} and ${items.length - most} more` : told;
}

/** The known name that a misspelt one most likely meant, or `undefined` when none is near, or the name is longer than names are. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > MOST_COMPARED) return undefined;
  let best: string | undefined;
  // Beyond a third of it, or where no character need be kept, a word is another word.
  let bestDistance = Math.min(Math.max(2, Math.ceil(name.length / 3)) + 1, name.length);
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Levenshtein's distance: how many single-character edits lie between two words. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next[j] = Math.min(replaced, row[j]! + 1, next[j - 1]! + 1);
    }
    row = next;
  }
  return row[b.length]!;
}
