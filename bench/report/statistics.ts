/** Of several rounds. */
export interface Summary {
  median: number;
  min: number;
  max: number;
  rounds: number[];
}

/** Of an even number of values the mean of the two in the middle. Throws where there are none. */
export function median(values: readonly number[]): number {
  const sorted = sortedCopy(values);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The smallest value that so many per cent of all do not exceed. Throws where there are none. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = sortedCopy(values);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)]!;
}

export function summarise(rounds: readonly number[]): Summary {
  return { median: median(rounds), min: Math.min(...rounds), max: Math.max(...rounds), rounds: [...rounds] };
}

function sortedCopy(values: readonly number[]): number[] {
  if (values.length === 0) throw new Error('Nothing was measured, so there is no median.');
  return [...values].sort((a, b) => a - b);
}
