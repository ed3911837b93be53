import { CronPattern } from 'croner';
import { MonthDays, numbersOf } from './month-days.js';

export const DAY_MS = 86_400_000;
/** The last year of a field for years. */
const LAST_YEAR = 9_999;
/** No wall time lies at or after it. */
export const END_OF_WALL_TIMES = Date.UTC(LAST_YEAR + 1, 0, 1);
/** After so many years the calendar repeats, weekdays included: days that are not among them are none at all. */
const YEARS_OF_CYCLE = 400;

/** For each number from 0 on the next one that is named, itself included; -1 where there is none. */
type Following = Int8Array;

/**
 * The wall times that a cron expression names, as milliseconds that they would have since the epoch if the wall clock showed UTC. Croner
 * reads the fields. The search is ours, because that of croner takes about 50 µs a time.
 */
export class WallTimes {
  /** Whether the hour field, as it was parsed, covers all 24 hours. */
  readonly everyHour: boolean;
  private readonly seconds: Following;
  private readonly minutes: Following;
  private readonly hours: Following;
  private readonly months: Following;
  private readonly days: MonthDays;
  /** Missing where every year will do. */
  private readonly years?: ReadonlySet<number>;
  private readonly lastYear: number;
  /** Mostly the next time lies on the same day. */
  private lastFound?: number;

  /** Throws what croner throws where it cannot read the expression. */
  constructor(cron: string) {
    const pattern = new CronPattern(cron);
    this.seconds = followingOf(pattern.second);
    this.minutes = followingOf(pattern.minute);
    this.hours = followingOf(pattern.hour);
    this.months = followingOf(pattern.month);
    this.days = new MonthDays(pattern);
    this.everyHour = pattern.hour.every(Boolean);
    const years = pattern.starYear ? [] : numbersOf(pattern.year);
    if (!pattern.starYear) this.years = new Set(years);
    this.lastYear = years.at(-1) ?? LAST_YEAR;
  }

  /** The first wall time at or after `wallMs`, or `undefined` if there is none any more. */
  from(wallMs: number): number | undefined {
    const second = Math.ceil(wallMs / 1000);
    const day = Math.floor(second / 86_400);
    const time = this.timeFrom(second - day * 86_400);
    const found = this.dayFrom(time === undefined ? day + 1 : day);
    if (found === undefined) return undefined;
    return found * DAY_MS + 1000 * (found === day ? time! : this.timeFrom(0)!);
  }

  /** The first time of day at or after `second`, in seconds since midnight. */
  private timeFrom(second: number): number | undefined {
    const hour = Math.floor(second / 3600);
    const minute = Math.floor(second / 60) % 60;
    if (this.hours[hour] === hour) {
      const inMinute = this.minutes[minute] === minute ? this.seconds[second % 60]! : -1;
      if (inMinute >= 0) return hour * 3600 + minute * 60 + inMinute;
      const laterMinute = this.minutes[minute + 1]!;
      if (laterMinute >= 0) return hour * 3600 + laterMinute * 60 + this.seconds[0]!;
    }
    const laterHour = this.hours[hour + 1]!;
    return laterHour < 0 ? undefined : laterHour * 3600 + this.minutes[0]! * 60 + this.seconds[0]!;
  }

  /** The first day at or after `day`, in days since the epoch. */
  private dayFrom(day: number): number | undefined {
    if (day === this.lastFound) return day;
    const found = this.searchDay(day);
    if (found !== undefined) this.lastFound = found;
    return found;
  }

  private searchDay(day: number): number | undefined {
    const date = new Date(day * DAY_MS);
    let year = date.getUTCFullYear();
    let month = date.getUTCMonth();
    let past = date.getUTCDate() - 1;
    const lastYear = this.years ? this.lastYear : Math.min(year + YEARS_OF_CYCLE, LAST_YEAR);
    for (; year <= lastYear; year++, month = 0, past = 0) {
      if (this.years && !this.years.has(year)) continue;
      for (; month < 12; month++, past = 0) {
        if (this.months[month] !== month) continue;
        const first = Date.UTC(year, month, 1) / DAY_MS;
        const length = Date.UTC(year, month + 1, 1) / DAY_MS - first;
        const left = this.days.mask(weekdayOf(first), length) >>> past;
        if (left !== 0) return first + past + 31 - Math.clz32(left & -left);
      }
    }
    return undefined;
  }
}

/**
 * 1 January 1970 was a Thursday; Sunday is 0. Of the month before it only the last day is ever asked for, as zones west of Greenwich show it at
 * the epoch. That day would come out right without the second remainder too, so no test can tell whether it is there.
 */
function weekdayOf(day: number): number {
  return (((day + 4) % 7) + 7) % 7;
}

/** One more than there are numbers, so that what follows the last one need not be a case of its own. */
function followingOf(set: readonly number[]): Following {
  const following = new Int8Array(set.length + 1).fill(-1);
  let next = -1;
  for (let i = set.length - 1; i >= 0; i--) {
    if (set[i]) next = i;
    following[i] = next;
  }
  return following;
}

/** About 1 kB each, more where many years are named; reading one takes 30 µs, most of it for the ten thousand years of croner. */
const MOST_KNOWN = 2_000;
const known = new Map<string, WallTimes>();

/** As the constructor, but remembers those it has made. */
export function wallTimes(cron: string): WallTimes {
  const found = known.get(cron);
  if (found) return found;
  const made = new WallTimes(cron);
  if (known.size >= MOST_KNOWN) known.delete(known.keys().next().value!);
  known.set(cron, made);
  return made;
}
