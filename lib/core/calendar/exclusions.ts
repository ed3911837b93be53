import type { DayRange, Exclusion } from './rule.js';

const DAY_MS = 86_400_000;

interface Span {
  readonly from: number;
  /** The first number after it. */
  readonly to: number;
}

/** What a rule leaves out, ready to be asked by instant and by wall time. */
export class Exclusions {
  private readonly instants: ReadonlySet<number>;
  /** Ranges of instants, and of wall times, each by its beginning and none touching the next one. */
  private readonly ranges: readonly Span[];
  private readonly days: readonly Span[];

  constructor(exclusions: readonly Exclusion[]) {
    this.instants = new Set(exclusions.filter((excluded) => typeof excluded === 'number'));
    this.ranges = joined(exclusions.filter((excluded) => isInstantRange(excluded)));
    this.days = joined(
      exclusions.flatMap((excluded) => {
        const range = typeof excluded === 'string' ? { from: excluded, to: excluded } : excluded;
        return isDayRange(range) ? [{ from: Date.parse(range.from), to: Date.parse(range.to) + DAY_MS }] : [];
      }),
    );
  }

  /** If an instant is excluded as one, or by a range of instants: the first one after that. */
  instantAfter(atMs: number): number | undefined {
    if (this.ranges.length > 0) {
      const after = endOf(this.ranges, atMs);
      if (after !== undefined) return after;
    }
    return this.instants.has(atMs) ? atMs + 1 : undefined;
  }

  /** If the day of a wall time is excluded: the first wall time of the next day that is not. */
  wallTimeAfter(wallMs: number): number | undefined {
    return this.days.length > 0 ? endOf(this.days, wallMs) : undefined;
  }
}

function isInstantRange(excluded: Exclusion): excluded is { from: number; to: number } {
  return typeof excluded === 'object' && typeof excluded.from === 'number';
}

function isDayRange(excluded: Exclusion): excluded is DayRange {
  return typeof excluded === 'object' && typeof excluded.from === 'string';
}

/** Sorted, those that overlap or touch made one. */
export function joined(spans: readonly Span[]): readonly Span[] {
  const result: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last && span.from <= last.to) result[result.length - 1] = { from: last.from, to: Math.max(last.to, span.to) };
    else result.push(span);
  }
  return result;
}

/** The end of the span that holds `ms`. */
function endOf(spans: readonly Span[], ms: number): number | undefined {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (spans[middle]!.to <= ms) low = middle + 1;
    else high = middle;
  }
  const span = spans[low];
  return span && span.from <= ms ? span.to : undefined;
}
