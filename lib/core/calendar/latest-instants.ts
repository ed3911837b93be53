import { occurrencesAfter } from './occurrences.js';
import type { Timing } from './rule.js';

/** How far back is looked at first; then twice as far each time. */
const FIRST_PART_MS = 60_000;
/** A part with so many more instants than twice those that are looked for is looked at in halves. */
const FEW = 100;

/**
 * A time behind which the latest `count` instants up to now lie, and not many more; `afterMs` where fewer lie behind that. Looks back from
 * now, as a long outage of a rule that fires often has more instants than anybody can walk through.
 */
export function startOfLatest(timing: Timing, count: number, afterMs: number, nowMs: number): number {
  let startMs = nowMs;
  let partMs = FIRST_PART_MS;
  for (let found = 0; found < count && startMs > afterMs; ) {
    const fromMs = Math.max(afterMs, startMs - partMs);
    const inPart = countBetween(timing, fromMs, startMs, 2 * count + FEW);
    if (inPart === undefined) {
      partMs = Math.ceil((startMs - fromMs) / 2);
      continue;
    }
    found += inPart;
    startMs = fromMs;
    partMs *= 2;
  }
  return startMs;
}

/** How many instants are later than one and not later than another; `undefined` for more than `most`. */
function countBetween(timing: Timing, afterMs: number, toMs: number, most: number): number | undefined {
  let count = 0;
  for (const { atMs } of occurrencesAfter(timing, afterMs)) {
    if (atMs > toMs) break;
    if (++count > most) return undefined;
  }
  return count;
}
