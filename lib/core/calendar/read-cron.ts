import { describe } from '../read/describe.js';
import { wallTimes } from './wall-times.js';

interface Field {
  readonly name: string;
  readonly first: number;
  readonly last: number;
  readonly further: string;
}

/** A list of all seconds has 169. Croner takes a millisecond for each few ranges of years that a longer text could name. */
const CRON_CHARACTERS = 512;
const LIST = `'*', lists, ranges and steps such as '1,5', '1-5' and '*/5'`;
const SECOND: Field = { name: 'second', first: 0, last: 59, further: '' };
const FIELDS: readonly Field[] = [
  { name: 'minute', first: 0, last: 59, further: '' },
  { name: 'hour', first: 0, last: 23, further: '' },
  { name: 'day of month', first: 1, last: 31, further: `, 'L', 'LW' and '15W'` },
  { name: 'month', first: 1, last: 12, further: `, or JAN to DEC` },
  { name: 'day of week', first: 0, last: 7, further: `, or SUN to SAT, '5L' and '5#2'` },
];
const YEAR: Field = { name: 'year', first: 1, last: 9_999, further: '' };
const NICKNAMES = '@yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly';
const STEP_FROM_NUMBER = /^(\d*)\/(\d+)$/;

/** The expression with single spaces, or a sentence that says what is wrong with it. */
export function readCron(given: unknown): { value: string } | { problem: string } {
  if (typeof given !== 'string')
    return { problem: `got ${describe(given)}, expected a cron expression such as '0 9 * * MON-FRI'` };
  if (given.length > CRON_CHARACTERS)
    return { problem: `got ${describe(given)}, expected at most ${CRON_CHARACTERS} characters` };
  const texts = given.split(/\s+/).filter(Boolean);
  const value = texts.join(' ');
  const problem = problemOf(value);
  if (problem === undefined) return { value };
  const got = `got ${describe(given)}`;
  if (value.startsWith('@')) return { problem: `${got}, expected fields or one of ${NICKNAMES}` };
  if (texts.length < 5 || texts.length > 7) {
    return {
      problem: `${got}, expected five fields (minute, hour, day of month, month, day of week), six with seconds first, or seven with a year last`,
    };
  }
  const fields = [...(texts.length > 5 ? [SECOND] : []), ...FIELDS, ...(texts.length === 7 ? [YEAR] : [])];
  for (const [i, field] of fields.entries()) {
    const alone = fields.map((_, j) => (i === j ? texts[i]! : '*')).join(' ');
    if (problemOf(alone) === undefined) continue;
    const hint = hintOf(texts[i]!, field);
    const expected = hint ?? `expected ${field.first} to ${field.last}${field.further}, as numbers or ${LIST}`;
    return { problem: `${got}, whose field ${field.name} is ${describe(texts[i])}: ${expected}` };
  }
  return { problem: `${got}: ${problem}` };
}

/** Croner reads `0/5` neither as Quartz does nor as Vixie cron does, but not at all. */
function hintOf(text: string, { first, last }: Field): string | undefined {
  const parts = text.split(',');
  const part = parts.findIndex((each) => STEP_FROM_NUMBER.test(each));
  if (part < 0) return undefined;
  const [, from, step] = STEP_FROM_NUMBER.exec(parts[part]!)!;
  const meant = from === '' || Number(from) === first ? `*/${step}` : `${from}-${last}/${step}`;
  return `expected a range before the step, write '${parts.with(part, meant).join(',')}'`;
}

function problemOf(cron: string): string | undefined {
  try {
    wallTimes(cron);
    return undefined;
  } catch (error) {
    return (error as Error).message.replace(/^CronPattern: /, '');
  }
}
