/** JSON text with the keys of each object in one order. Text that is no JSON, such as none at all, stays as it is. */
export function canonicalJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), (_, value) => sorted(value));
  } catch {
    return text;
  }
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
