import { DEAD_REASONS } from '../core/job/events.js';
import { setId } from '../core/job/job-set.js';
import { describe } from '../core/read/describe.js';
import { instant } from '../core/read/due.js';
import { jobId, jobName, jobTag, keyPrefix, recurrenceId } from '../core/read/names.js';
import { type Check, duration, integer } from '../core/read/shape.js';
import type { JobState } from '../store/job-store.js';
import { unknownWord } from './usage-error.js';

/** An option of the command line. */
export interface Option<T> {
  /** What stands behind it, such as `<n>`; a flag has nothing there. */
  readonly value?: string;
  readonly summary: string;
  /** Reads the text behind it. What several of them have read is joined where each has read a list. */
  readonly read: Check<T>;
}

export const STATES: readonly JobState[] = ['scheduled', 'due', 'active', 'completed', 'dead'];

const text: Check<string> = (value) =>
  value === '' ? { problem: 'got nothing, expected a text' } : { value: value as string };

const numberIn = (value: unknown) => (/^\d+(\.\d+)?$/.test(value as string) ? Number(value) : value);

const whole =
  (min: number): Check<number> =>
  (value) =>
    integer(min)(numberIn(value));

const aboveNone: Check<number> = (value) => {
  const number = numberIn(value);
  return typeof number === 'number' && number > 0
    ? { value: number }
    : { problem: `got ${describe(value)}, expected a number above 0` };
};

const time: Check<Date> = (value) => {
  const read = instant(numberIn(value));
  return 'value' in read ? { value: new Date(read.value) } : read;
};

/** After an event, before all that are kept, or a time. */
const eventPlace: Check<string | Date> = (value) =>
  value === '0' || /^\d+-\d+$/.test(value as string) ? { value: value as string } : time(value);

const one =
  <T>(check: Check<T>): Check<readonly T[]> =>
  (value) => {
    const read = check(value);
    return 'value' in read ? { value: [read.value] } : read;
  };

/** A list without a name would hide nothing: it may come of an empty variable. */
const properties: Check<readonly string[]> = (value) => {
  const names = (value as string).split(',').map((name) => name.trim());
  return names.includes('')
    ? { problem: `got ${describe(value)}, expected names of properties, such as password,token` }
    : { value: names };
};

/** Answers one of the known words. */
export function known<T extends string>(kind: string, words: readonly T[]): Check<T> {
  return (value) =>
    words.includes(value as T) ? { value: value as T } : { problem: unknownWord(kind, value as string, words) };
}

const states: Check<readonly JobState[]> = (value) => {
  const read = (value as string).split(',').map(known('state', STATES));
  const bad = read.find((each) => 'problem' in each);
  return bad ?? { value: read.flatMap((each) => ('value' in each ? [each.value] : [])) };
};

const flag = (summary: string): Option<true> => ({ summary, read: () => ({ value: true }) });
const option = <T>(value: string, read: Check<T>, summary: string): Option<T> => ({ value, read, summary });

/** Those that every command takes. */
export const COMMON = {
  url: option('<url>', text, 'where Redis is; else REDIS_URL, else localhost. Several nodes: a:6379,b:6379'),
  cluster: flag('Redis is a cluster, of which --url names some nodes'),
  sentinel: option('<master>', text, '--url names sentinels, which know the master by this name'),
  prefix: option('<prefix>', keyPrefix, 'the module option prefix (sq)'),
  json: flag('print JSON'),
  yes: flag('ask nothing'),
  codecs: option('<module>', text, 'a file or package whose codecs read payloads; JSON is read anyway'),
  redact: option('<a,b>', properties, 'hide the values of these properties, at any depth'),
  help: flag('print how to use it'),
  version: flag('print the version'),
};

/** Those that some commands take. */
const OWN = {
  limit: option('<n>', whole(1), 'how many at most (100)'),
  offset: option('<n>', whole(0), 'how many are passed over (0)'),
  name: option('<name>', one(jobName), 'of this name; several: any of them'),
  tag: option('<tag>', one(jobTag), 'with this tag'),
  set: option('<id>', setId, 'of this set; its dead members with --state dead'),
  'id-prefix': option('<text>', jobId, 'whose id begins so'),
  state: option('<state>', states, `${STATES.join(', ')}; several: any of them`),
  'due-from': option('<time>', time, 'due then or later; ISO 8601 with Z or offset'),
  'due-to': option('<time>', time, 'due before that'),
  running: flag('those that run'),
  reason: option('<reason>', known('reason', DEAD_REASONS), 'that died for this reason'),
  'died-before': option('<time>', time, 'that died before then; ISO 8601 with Z or offset'),
  'per-second': option('<n>', aboveNone, 'so many are due a second (all at once)'),
  for: option('<time>', duration(1), 'for so long, such as 10m (until it is resumed)'),
  recurrence: option('<id>', recurrenceId, 'the recurrence of this id'),
  from: option(
    '<place>',
    eventPlace,
    'after this event id, from this time on, or 0 for all that are kept (from now on)',
  ),
};

export const OPTIONS = { ...COMMON, ...OWN };

export type OptionName = keyof typeof OPTIONS;
export type OwnOption = keyof typeof OWN;

/** What was given, read. */
export type Options = {
  [Name in OptionName]?: (typeof OPTIONS)[Name] extends Option<infer T> ? T : never;
};
