/** A figure for people: three digits, thousands apart, no more decimals than say something. */
export function shown(value: number): string {
  const size = Math.abs(value);
  if (size >= 100) return grouped(Number(value.toPrecision(3)));
  if (size >= 10) return trimmed(value.toFixed(1));
  return trimmed(value.toFixed(2));
}

function grouped(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ' ');
}

function trimmed(text: string): string {
  return text.replace(/\.?0+$/, '').replace(/^-0$/, '0');
}
