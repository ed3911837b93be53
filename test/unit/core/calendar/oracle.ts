/**
 * What API.md says about recurrence and daylight saving, by brute force: each minute of some days is asked of `Intl`, and each wall
 * minute is held against the fields. It shares no code with lib and does not use croner, so that both would have to err alike.
 */

const MINUTE = 60_000;
const DAY = 86_400_000;
const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

export interface Expected {
  atMs: number;
  wallMs: number;
}

/** Some days of a zone's clock: which wall minute each minute shows. Wall times are the milliseconds that they would have in UTC. */
export interface ClockTable {
  fromMs: number;
  toMs: number;
  shown: readonly number[];
  /** The first minute that shows a wall minute. */
  firstShown: ReadonlyMap<number, number>;
}

export function clockTable(timeZone: string, fromMs: number, toMs: number): ClockTable {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  const shown: number[] = [];
  for (let at = fromMs; at < toMs; at += MINUTE) {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    shown.push(Date.UTC(parts.year!, parts.month! - 1, parts.day!, parts.hour!, parts.minute!));
  }
  const firstShown = new Map<number, number>();
  for (const [i, wall] of shown.entries()) if (!firstShown.has(wall)) firstShown.set(wall, fromMs + i * MINUTE);
  return { fromMs, toMs, shown, firstShown };
}

/** Where the clock of a table jumps: the minutes whose wall time is not that of the minute before plus one. */
export function jumpsOf({ fromMs, shown }: ClockTable): number[] {
  return shown.flatMap((wall, i) => (i > 0 && wall - shown[i - 1]! !== MINUTE ? [fromMs + i * MINUTE] : []));
}

/** The occurrences whose wall times lie in a table, which must begin and end a day away from the nearest jump. */
export function expectedOccurrences(
  cron: string,
  { fromMs, shown, firstShown }: ClockTable,
  isExcluded: (at: number, wall: number) => boolean,
): Expected[] {
  const texts = fieldsOf(cron);
  const seconds = numbersIn(texts[0]!, 0, 59);
  const minutes = new Set(numbersIn(texts[1]!, 0, 59));
  const hours = new Set(numbersIn(texts[2]!, 0, 23));
  const isDay = dayTest(texts);
  const matches = (wall: number) =>
    minutes.has((wall / MINUTE) % 60) && hours.has(Math.floor(wall / (60 * MINUTE)) % 24) && isDay(wall);

  const found: Expected[] = [];
  if (hours.size === 24) {
    for (let i = 0; i < shown.length; i++) {
      if (matches(shown[i]!)) found.push({ atMs: fromMs + i * MINUTE, wallMs: shown[i]! });
    }
  } else {
    let offsetBefore = shown[0]! - fromMs;
    for (let wall = shown[0]!; wall <= shown.at(-1)!; wall += MINUTE) {
      const at = firstShown.get(wall);
      if (at !== undefined) offsetBefore = wall - at;
      if (matches(wall)) found.push({ atMs: at ?? wall - offsetBefore, wallMs: wall });
    }
  }
  const byInstant = new Map<number, number>();
  for (const { atMs, wallMs } of found) {
    for (const second of seconds) {
      const [at, wall] = [atMs + second * 1000, wallMs + second * 1000];
      if (!isExcluded(at, wall)) byInstant.set(at, Math.max(wall, byInstant.get(at) ?? 0));
    }
  }
  return [...byInstant].sort(([a], [b]) => a - b).map(([atMs, wallMs]) => ({ atMs, wallMs }));
}

/** Seconds first, a year last. */
function fieldsOf(cron: string): string[] {
  const texts = cron.trim().split(/\s+/);
  if (texts.length === 5) texts.unshift('0');
  if (texts.length === 6) texts.push('*');
  return texts.map((text) => text.replaceAll('?', '*'));
}

/** Lists, ranges and steps. */
function numbersIn(text: string, first: number, last: number): number[] {
  const numbers = new Set<number>();
  for (const item of text.split(',')) {
    const [range, step = '1'] = item.split('/') as [string, string?];
    const [from, to = range === '*' ? last : undefined] = range === '*' ? [first] : range.split('-').map(Number);
    for (let n = from!; n <= (to ?? from!); n += Number(step)) numbers.add(n);
  }
  return [...numbers].sort((a, b) => a - b);
}

const weekdayFormat = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', weekday: 'short' });

/** Whether the date of a wall time is meant, asked once a day. */
function dayTest(texts: readonly string[]): (wall: number) => boolean {
  const [, , , dayText, monthText, weekdayText, yearText] = texts.map((text) => text.toUpperCase());
  const months = new Set(numbersIn(named(monthText!, MONTHS, 1), 1, 12));
  const years = yearText === '*' ? undefined : new Set(numbersIn(yearText!, 1, 9999));
  const asksForBoth = weekdayText!.startsWith('+');
  const weekdays = weekdayText!.replace('+', '').split(',');
  const answers = new Map<number, boolean>();

  function test(day: number): boolean {
    const date = new Date(day);
    const [year, month, dayOfMonth] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
    if (!months.has(month + 1) || (years && !years.has(year))) return false;
    const length = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
    const byDate = dayText!.split(',').some((item) => isDayOfMonth(item, { year, month, dayOfMonth, length }));
    const byWeekday = weekdays.some((item) => isWeekday(item, weekdayName(day), dayOfMonth, length));
    if (dayText === '*' || weekdayText === '*' || asksForBoth) return byDate && byWeekday;
    return byDate || byWeekday;
  }

  return (wall) => {
    const day = Math.floor(wall / DAY) * DAY;
    if (!answers.has(day)) answers.set(day, test(day));
    return answers.get(day)!;
  };
}

function weekdayName(day: number): string {
  return weekdayFormat.format(day).toUpperCase();
}

function isDayOfMonth(
  item: string,
  { year, month, dayOfMonth, length }: { year: number; month: number; dayOfMonth: number; length: number },
): boolean {
  const nameOf = (day: number) => weekdayName(Date.UTC(year, month, day));
  const isWorkday = (day: number) => day >= 1 && day <= length && !['SAT', 'SUN'].includes(nameOf(day));
  if (item === 'L') return dayOfMonth === length;
  if (item === 'LW') {
    let last = length;
    while (!isWorkday(last)) last--;
    return dayOfMonth === last;
  }
  if (item.endsWith('W')) {
    const target = Number(item.slice(0, -1));
    if (target > length) return false;
    // A Saturday goes back and a Sunday on, each the other way round at the edge of the month.
    const order = [target, ...(nameOf(target) === 'SAT' ? [-1, 1, 2] : [1, -1, -2]).map((by) => target + by)];
    return dayOfMonth === order.find(isWorkday);
  }
  return numbersIn(item, 1, 31).includes(dayOfMonth);
}

/** `5`, `1-5`, `5L`, `5#2` or `5#L`, after a list has been taken apart. */
function isWeekday(item: string, name: string, dayOfMonth: number, length: number): boolean {
  const last = /#?L$/.test(item);
  const nth = /#(\d)$/.exec(item)?.[1];
  const days = item.replace(/#\d$|#?L$/, '').replace(/-SUN/, '-7');
  if (!numbersIn(named(days, WEEKDAYS, 0), 0, 6).some((day) => WEEKDAYS[day % 7] === name)) return false;
  if (nth) return Math.ceil(dayOfMonth / 7) === Number(nth);
  return !last || dayOfMonth + 7 > length;
}

function named(text: string, names: readonly string[], first: number): string {
  return names.reduce((result, name, i) => result.replaceAll(name, String(i + first)), text);
}
