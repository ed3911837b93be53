import { LAST_INSTANT_MS } from '../constants.js';

/** The version of the time-zone data that this process knows, such as `2025c`. */
export const TIME_ZONE_DATA: string = process.versions.tz ?? 'none';

/** A moment from which the wall clock of a zone shows another time. */
interface Change {
  readonly atMs: number;
  readonly beforeMs: number;
  readonly afterMs: number;
}

/** Instants between which the offset of a zone stays the same. */
export interface Stretch {
  /** A change of the clock less than `CHANGE_REACH_MS` earlier, or the instant that was asked for. */
  readonly fromMs: number;
  /** The next change of the clock, or an instant before it that is `LOOK_AHEAD_MS` or more later than the one asked for. */
  readonly toMs: number;
  /** How far the wall clock is ahead of UTC. */
  readonly offsetMs: number;
  /** The offset before the change at `fromMs`; that of the stretch where `fromMs` is no change. */
  readonly offsetBeforeMs: number;
}

const DAY_MS = 86_400_000;
/** No change since 1973 was by more than 24 hours (Apia, 2011), so that after twice of it wall times are as ever. */
const CHANGE_REACH_MS = 2 * DAY_MS;
/** A window of the cache. Stretches reach as far ahead, so that a daily rule asks once for a month. */
const WINDOW_MS = 32 * DAY_MS;
const LOOK_AHEAD_MS = WINDOW_MS;
/** Two changes of one zone lie at least 6.9 days apart since 1973 (2025c; Recife, October 2000): one between two looks is never missed. */
const LOOK_EVERY_MS = 2 * DAY_MS;
/** 87 years. A rule for far years would else keep each window on the way. */
const MOST_WINDOWS = 1_000;

/** Zones without changes, the default one among them: nothing need be looked for. */
const UNCHANGING = /^(?:UTC|GMT|Etc\/.+)$/i;
const OFFSET = /GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/;

/** The offsets of a zone over time, asked of `Intl` and remembered by windows of a month. */
export class TimeZone {
  private readonly format: Intl.DateTimeFormat;
  private readonly offsetForGoodMs?: number;
  private readonly windows = new Map<number, { offsetMs: number; changes: readonly Change[] }>();

  /** Throws a RangeError where `Intl` knows no such zone. */
  constructor(readonly name: string) {
    this.format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
    if (UNCHANGING.test(name)) this.offsetForGoodMs = this.offsetAt(0);
  }

  /** The stretch in which an instant lies. */
  stretchAt(atMs: number): Stretch {
    if (this.offsetForGoodMs !== undefined) return stretch(atMs, undefined, this.offsetForGoodMs, LAST_INSTANT_MS);
    const first = Math.floor((atMs - CHANGE_REACH_MS) / WINDOW_MS);
    const until = atMs + LOOK_AHEAD_MS;
    let { offsetMs } = this.window(first);
    let last: Change | undefined;
    for (let index = first; index * WINDOW_MS <= until; index++) {
      for (const change of this.window(index).changes) {
        if (change.atMs > atMs) return stretch(atMs, last, offsetMs, change.atMs);
        offsetMs = change.afterMs;
        last = change;
      }
    }
    return stretch(atMs, last, offsetMs, until);
  }

  private window(index: number): { offsetMs: number; changes: readonly Change[] } {
    const known = this.windows.get(index);
    if (known) return known;
    if (this.windows.size >= MOST_WINDOWS) this.windows.clear();
    const window = this.lookThrough(index * WINDOW_MS);
    this.windows.set(index, window);
    return window;
  }

  /** Changes after `from`, up to the beginning of the next window. */
  private lookThrough(from: number): { offsetMs: number; changes: readonly Change[] } {
    const offsetMs = this.offsetAt(from);
    const changes: Change[] = [];
    let beforeMs = offsetMs;
    for (let at = from; at < from + WINDOW_MS; at += LOOK_EVERY_MS) {
      const afterMs = this.offsetAt(at + LOOK_EVERY_MS);
      if (afterMs !== beforeMs) {
        changes.push({ atMs: this.changeBetween(at, at + LOOK_EVERY_MS, afterMs), beforeMs, afterMs });
        beforeMs = afterMs;
      }
    }
    return { offsetMs, changes };
  }

  /** The first instant after `from` that has the offset that holds at `to`. Changes lie at whole seconds. */
  private changeBetween(from: number, to: number, offsetMs: number): number {
    let [before, after] = [from, to];
    while (after - before > 1000) {
      const middle = before + Math.floor((after - before) / 2000) * 1000;
      if (this.offsetAt(middle) === offsetMs) after = middle;
      else before = middle;
    }
    return after;
  }

  private offsetAt(atMs: number): number {
    const [, sign, hours, minutes, seconds] = OFFSET.exec(this.format.format(Math.min(atMs, LAST_INSTANT_MS)))!;
    if (sign === undefined) return 0;
    const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds ?? 0)) * 1000;
    return sign === '-' ? -ms : ms;
  }
}

function stretch(atMs: number, last: Change | undefined, offsetMs: number, toMs: number): Stretch {
  return last && last.atMs > atMs - CHANGE_REACH_MS
    ? { fromMs: last.atMs, toMs, offsetMs, offsetBeforeMs: last.beforeMs }
    : { fromMs: atMs, toMs, offsetMs, offsetBeforeMs: offsetMs };
}

const zones = new Map<string, TimeZone>();

/** The zone of an IANA name, in any case. There are about 600, so that each is kept. Throws a RangeError where there is none. */
export function timeZone(name: string): TimeZone {
  const key = name.toLowerCase();
  const known = zones.get(key);
  if (known) return known;
  const zone = new TimeZone(name);
  zones.set(key, zone);
  return zone;
}
