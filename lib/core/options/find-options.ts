import { invalidSchedule } from '../errors.js';
import { setId } from '../job/job-set.js';
import { describe } from '../read/describe.js';
import { instant } from '../read/due.js';
import { jobGroup, jobId, jobNames, keyPart } from '../read/names.js';
import { type Check, integer, oneOf, readOptions, type Shape } from '../read/shape.js';
import { tags } from '../read/tags.js';
import { DEFAULT_QUEUE } from './queue-options.js';

const STATES = ['scheduled', 'due', 'active', 'completed', 'dead'] as const;
type State = (typeof STATES)[number];

const MOST_JOBS_A_PAGE = 1_000;
const JOBS_A_PAGE = 100;

/** Which jobs a search is for: those that fit all that is given. */
export interface FindOptions<Job> {
  /** Default `'default'`. */
  queue?: string;
  /** Default: scheduled, due and active ones. */
  states?: readonly State[];
  /** Jobs of any of these names, up to 1 000. Default: of any name. */
  names?: readonly string[];
  /** Jobs that carry all of these tags, up to 16. A search for a tag looks at the jobs of the first one alone, unless it is for completed jobs. */
  tags?: readonly string[];
  /** Members of this set: those that are pending, and with the state `dead` its dead ones. Default: of any, and of none. */
  set?: string;
  /** Jobs of this group. Default: of any, and of none. */
  group?: string;
  /** How their ids begin. */
  idPrefix?: string;
  /** Jobs that are due, or were, at this instant or later: a Date, epoch ms, or ISO 8601 with time and `Z` or offset. */
  dueFrom?: Date | number | string;
  /** And before this one. */
  dueTo?: Date | number | string;
  /** Jobs for which this function answers `true`, or a promise of it. It is called in this process, for jobs that fit all the rest. */
  where?: (job: Job) => boolean | Promise<boolean>;
  /** At most so many of them a call: 1 to 1 000, by default 100. */
  limit?: number;
  /** Where the search goes on: what the call before answered. With it, all else must be as it was in that call, but for `where` and `limit`. */
  cursor?: string;
}

/** A call to `find` that has been read. */
export type FindRequest<Job> = Omit<FindOptions<Job>, 'dueFrom' | 'dueTo'> &
  Required<Pick<FindOptions<Job>, 'queue' | 'states' | 'limit'>> & { dueFrom?: number; dueTo?: number };

/** A list may name a state several times. */
const MOST_ITEMS = 100;
const state = oneOf(...STATES);
const states: Check<readonly State[]> = (value) => {
  if (!Array.isArray(value) || value.length === 0)
    return { problem: `got ${Array.isArray(value) ? 'none' : describe(value)}, expected an array of states` };
  if (value.length > MOST_ITEMS) return { problem: `got ${value.length} states, expected each of them once` };
  for (const [i, each] of value.entries()) {
    const read = state(each);
    if ('problem' in read) return { problem: `state ${i}: ${read.problem}` };
  }
  return { value: [...new Set<State>(value)].sort() };
};

const condition: Check<FindRequest<never>['where'] & object> = (value) =>
  typeof value === 'function' ? { value: value as never } : { problem: `got ${describe(value)}, expected a function` };

const text: Check<string> = (value) =>
  typeof value === 'string' && value !== ''
    ? { value }
    : { problem: `got ${describe(value)}, expected the cursor of a page` };

const SHAPE: Shape<FindRequest<never>> = {
  queue: keyPart,
  states,
  names: jobNames,
  tags,
  set: setId,
  group: jobGroup,
  idPrefix: jobId,
  dueFrom: instant,
  dueTo: instant,
  where: condition,
  limit: integer(1, MOST_JOBS_A_PAGE),
  cursor: text,
};

const DEFAULTS = { queue: DEFAULT_QUEUE, states: ['active', 'due', 'scheduled'] as const, limit: JOBS_A_PAGE };

/** Reads a call to `find`. Throws `InvalidScheduleError`. */
export function readFind<Job>(given: unknown): FindRequest<Job> {
  return { ...DEFAULTS, ...(readOptions(given, SHAPE, 'find', invalidSchedule) as Partial<FindRequest<Job>>) };
}
