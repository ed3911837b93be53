import type { CronPattern } from 'croner';

/** The bit that croner sets for `L` behind a day of the week: its last one in the month. */
const LAST_OF_MONTH = 0b100000;

/**
 * The days of a month that the fields for days name, as bits: bit 0 is the first. They depend on nothing but the weekday of the first
 * and the length of the month, so that 28 masks say all there is to say for any year.
 */
export class MonthDays {
  private readonly masks: (number | undefined)[] = [];
  private readonly matchedMask: (firstWeekday: number, length: number) => number;

  constructor(pattern: CronPattern) {
    // Copied, because a pattern of croner holds an array of ten thousand years.
    const { day, nearestWeekdays, dayOfWeek, lastDayOfMonth, lastWeekday, starDOM, starDOW, useAndLogic } = pattern;
    const named = bits(day);
    const nearest = numbersOf(nearestWeekdays).map((index) => index + 1);
    const weekdays = dayOfWeek.slice(0, 7);
    // `*` in one field leaves the decision to the other; fields that both restrict name a day if either does, unless `+` asks for both.
    const needsBoth = useAndLogic || starDOM;
    this.matchedMask = (firstWeekday, length) => {
      const whole = 2 ** length - 1;
      let byDate = named & whole;
      for (const target of nearest) byDate |= nearestWorkday(target, firstWeekday, length);
      if (lastDayOfMonth) byDate |= 1 << (length - 1);
      if (lastWeekday) byDate |= lastWorkday(firstWeekday, length);
      if (starDOW) return byDate;
      const byWeekday = maskOfWeekdays(weekdays, firstWeekday, length);
      return needsBoth ? byDate & byWeekday : byDate | byWeekday;
    };
  }

  mask(firstWeekday: number, length: number): number {
    const index = firstWeekday * 4 + length - 28;
    this.masks[index] ??= this.matchedMask(firstWeekday, length);
    return this.masks[index];
  }
}

/** Which indexes of an array of croner are set. */
export function numbersOf(set: readonly number[]): number[] {
  return set.flatMap((is, index) => (is ? [index] : []));
}

function bits(set: readonly number[]): number {
  return numbersOf(set).reduce((mask, index) => mask | (1 << index), 0);
}

/** Sunday is 0. */
function weekdayOf(day: number, firstWeekday: number): number {
  return (firstWeekday + day - 1) % 7;
}

/** The day from Monday to Friday that is nearest to `target` in the same month; none where the month is too short for `target`. */
function nearestWorkday(target: number, firstWeekday: number, length: number): number {
  if (target > length) return 0;
  const weekday = weekdayOf(target, firstWeekday);
  let day = target;
  if (weekday === 6) day += target === 1 ? 2 : -1;
  if (weekday === 0) day += target === length ? -2 : 1;
  return 1 << (day - 1);
}

function lastWorkday(firstWeekday: number, length: number): number {
  const weekday = weekdayOf(length, firstWeekday);
  const back = weekday === 0 ? 2 : weekday === 6 ? 1 : 0;
  return 1 << (length - back - 1);
}

/** `weekdays`: for each day of the week bit 0 for its first one in the month, up to bit 4, and the bit for its last one. */
function maskOfWeekdays(weekdays: readonly number[], firstWeekday: number, length: number): number {
  let mask = 0;
  for (let day = 1; day <= length; day++) {
    const wanted = weekdays[weekdayOf(day, firstWeekday)]!;
    const nth = 1 << Math.floor((day - 1) / 7);
    const isLast = day + 7 > length;
    if (wanted & nth || (isLast && wanted & LAST_OF_MONTH)) mask |= 1 << (day - 1);
  }
  return mask;
}
