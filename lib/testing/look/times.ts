const SPANS: [unit: string, ms: number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
  ['ms', 1],
];

/** An instant as failures print it. */
export const iso = (ms: number) => new Date(ms).toISOString();

/** The two largest units of a length of time. */
export function span(ms: number): string {
  let left = Math.round(ms);
  const parts: string[] = [];
  for (const [unit, size] of SPANS) {
    if (left < size || parts.length === 2) continue;
    parts.push(`${Math.floor(left / size)} ${unit}`);
    left %= size;
  }
  return parts.join(' ') || '0 ms';
}
