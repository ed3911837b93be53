import { LAST_INSTANT_MS } from '../constants.js';
import { Exclusions } from './exclusions.js';
import type { Timing } from './rule.js';
import { timeZone } from './time-zone.js';
import { DAY_MS, END_OF_WALL_TIMES, type WallTimes, wallTimes } from './wall-times.js';

export { TIME_ZONE_DATA } from './time-zone.js';

export interface Occurrence {
  /** The nominal instant. */
  atMs: number;
  /**
   * The wall time that the rule names, before any shift by a change of the clock, in the milliseconds that it would have since the
   * epoch if the wall clock showed UTC. Where two wall times fall together, the later one. Instants ascend; near a change of the clock
   * wall times may not.
   */
  wallMs: number;
}

/** So many wall times in a row without an instant end the search: a rule that never fires must not hang who asks. */
export const MOST_WALL_TIMES = 10_000;

/**
 * The occurrences of a rule later than an instant, ascending, as far as they are asked for. They end at the rule's `endAt`, with its last
 * wall time, and where `MOST_WALL_TIMES` in a row are excluded; excluded days and ranges count as one.
 */
export function occurrencesAfter(timing: Timing, afterMs: number): Iterable<Occurrence> {
  const fromMs = Math.max(Math.floor(afterMs) + 1, timing.startAtMs ?? 0, 0);
  const untilMs = timing.endAtMs ?? LAST_INSTANT_MS;
  return timing.cron === undefined
    ? intervals(timing, timing.everyMs!, fromMs, untilMs)
    : shownByClock(timing, wallTimes(timing.cron), fromMs, untilMs);
}

/** Whether a rule has an occurrence later than an instant. */
export function hasOccurrenceAfter(timing: Timing, afterMs: number): boolean {
  for (const _ of occurrencesAfter(timing, afterMs)) return true;
  return false;
}

/** Whether a rule fires both times when its clock is set back: one for every hour does. */
export function firesInRepeatedHours({ cron }: Timing): boolean {
  return cron !== undefined && wallTimes(cron).everyHour;
}

function* intervals(timing: Timing, everyMs: number, fromMs: number, untilMs: number): Generator<Occurrence> {
  const { offsetMs } = timing;
  const excluded = new Exclusions(timing.exclude);
  const firstFrom = (ms: number) => Math.ceil((ms - offsetMs) / everyMs) * everyMs + offsetMs;
  let passed = 0;
  for (let atMs = firstFrom(fromMs); atMs <= untilMs && passed < MOST_WALL_TIMES; ) {
    const after = excluded.instantAfter(atMs) ?? excluded.wallTimeAfter(atMs);
    if (after !== undefined) {
      passed++;
      atMs = firstFrom(after);
      continue;
    }
    passed = 0;
    yield { atMs, wallMs: atMs };
    atMs += everyMs;
  }
}

function* shownByClock(timing: Timing, times: WallTimes, fromMs: number, untilMs: number): Generator<Occurrence> {
  const zone = timeZone(timing.timeZone);
  const excluded = new Exclusions(timing.exclude);
  let passed = 0;
  let atMs = fromMs;
  while (passed < MOST_WALL_TIMES) {
    const allowedMs = excluded.instantAfter(atMs);
    if (allowedMs !== undefined) {
      passed++;
      atMs = allowedMs;
    }
    if (atMs > untilMs || atMs > END_OF_WALL_TIMES) return;
    const { fromMs: beginMs, toMs, offsetMs, offsetBeforeMs } = zone.stretchAt(atMs);
    // A wall time that the clock shows again after it was set back has had its instant, unless the rule is for every hour.
    const repeatedMs = times.everyHour ? 0 : Math.max(offsetBeforeMs - offsetMs, 0);
    const shown = new Line(times, offsetMs, Math.max(beginMs + repeatedMs, atMs), toMs);
    // A wall time that the clock has left out has the instant that it would have had by the offset before.
    const skippedMs = times.everyHour ? 0 : Math.max(offsetMs - offsetBeforeMs, 0);
    const skipped = new Line(times, offsetBeforeMs, atMs, beginMs + skippedMs);
    while (passed < MOST_WALL_TIMES) {
      const line = skipped.atMs < shown.atMs ? skipped : shown;
      const { atMs: instant, wallMs } = line;
      if (instant === Number.POSITIVE_INFINITY) break;
      if (instant > untilMs) return;
      const instantAfter = excluded.instantAfter(instant);
      const wallTimeAfter = excluded.wallTimeAfter(wallMs);
      passed++;
      if (instantAfter !== undefined) {
        shown.moveTo(instantAfter + shown.offsetMs);
        skipped.moveTo(instantAfter + skipped.offsetMs);
      } else if (wallTimeAfter !== undefined) {
        line.moveTo(wallTimeAfter);
      } else {
        passed = 0;
        yield { atMs: instant, wallMs };
        shown.moveTo(instant + 1 + shown.offsetMs);
        skipped.moveTo(instant + 1 + skipped.offsetMs);
      }
    }
    // From a day earlier than the end of the stretch, as the clock may be set back there.
    let next = times.from(toMs + offsetMs - DAY_MS);
    while (next !== undefined && passed < MOST_WALL_TIMES) {
      const after = excluded.wallTimeAfter(next);
      if (after === undefined) break;
      passed++;
      next = times.from(after);
    }
    if (next === undefined) return;
    atMs = Math.max(toMs, next - DAY_MS);
  }
}

/** The wall times of the instants from `fromMs` up to `toMs`, which have one offset. */
class Line {
  /** The next one; `Infinity` after the last one, as is `atMs`, its instant. */
  wallMs = Number.POSITIVE_INFINITY;
  atMs = Number.POSITIVE_INFINITY;

  constructor(
    private readonly times: WallTimes,
    readonly offsetMs: number,
    fromMs: number,
    private readonly toMs: number,
  ) {
    if (fromMs < toMs) this.find(fromMs + offsetMs);
  }

  /** Goes on to the first one at or after a wall time; never back. */
  moveTo(wallMs: number): void {
    if (wallMs > this.wallMs) this.find(wallMs);
  }

  private find(wallMs: number): void {
    const found = this.times.from(wallMs) ?? Number.POSITIVE_INFINITY;
    const isWithin = found - this.offsetMs < this.toMs;
    this.wallMs = isWithin ? found : Number.POSITIVE_INFINITY;
    this.atMs = this.wallMs - this.offsetMs;
  }
}
