import { describe } from '../read/describe.js';
import { jobGroup } from '../read/names.js';
import { type Check, integer, oneOf, options, readOne } from '../read/shape.js';
import { type RateLimit, type RateRule, rateLimitUpTo } from './rate-limit.js';

/** What holds for each group of a queue, over all processes, where `setGroup` says nothing else of it; not for jobs without a group. */
export interface GroupsOptions {
  /**
   * How many jobs of one group may run at once, popped ones included. The place of a crashed process is freed when its lease runs out. At
   * least 1. Default: no limit.
   */
  concurrency?: number;
  /** How many jobs of one group may start within how long, as the queue's `rateLimit`; `max` is at most 10 000. Default: no limit. */
  rateLimit?: RateLimit;
  /**
   * `'due'`: the jobs of a group start in the order of their due times. `'fifo'`: besides, one at a time, and a job that has begun holds
   * its group until it has ended: its next attempt comes before any other job of the group, also while it waits for a later due time. One
   * at a time holds whatever `setGroup` says; a `concurrency` other than 1 is an error. Default `'due'`.
   */
  order?: 'due' | 'fifo';
}

/** `GroupsOptions` that have been read. */
export interface GroupsRule {
  /** Infinite for any number; 1 where the order is `'fifo'`. */
  concurrency: number;
  rateLimit?: RateRule;
  order: 'due' | 'fifo';
}

/** What `setGroup` sets for one group. It replaces all that was set for it; what is left out falls back to the queue's option `groups`. */
export interface GroupOptions {
  /** How many turns the group has for each one of a group of weight 1: 0.01 to 1 000. Default 1. */
  weight?: number;
  /** How many of its jobs may run at once, over all processes: at least 1, or `'unlimited'`. Default: as the queue's `groups` says. */
  concurrency?: number | 'unlimited';
  /**
   * How many of its jobs may start within how long, over all processes; `max` is at most 10 000. `'unlimited'`: any number. Default: as the
   * queue's `groups` says.
   */
  rateLimit?: RateLimit | 'unlimited';
}

/** `GroupOptions` that have been read. */
export interface GroupSettings {
  weight?: number;
  concurrency?: number | 'unlimited';
  rateLimit?: RateRule | 'unlimited';
}

export const NO_GROUPS_RULE: GroupsRule = { concurrency: Number.POSITIVE_INFINITY, order: 'due' };

/** Redis keeps an entry for each start of a group within its window, and there may be many groups. */
const MOST_STARTS = 10_000;

const groupRate = rateLimitUpTo(MOST_STARTS);

const groupsOptions = options<GroupsRule>({
  concurrency: integer(1),
  rateLimit: groupRate,
  order: oneOf('due', 'fifo'),
});

export const groups: Check<GroupsRule> = (value) => {
  const read = groupsOptions(value);
  if ('problem' in read) return read;
  const rule = { ...NO_GROUPS_RULE, ...read.value };
  if (rule.order === 'due') return { value: rule };
  const { concurrency = 1 } = read.value;
  if (concurrency === 1) return { value: { ...rule, concurrency } };
  return {
    problem: `got order 'fifo' with concurrency ${concurrency}, expected concurrency 1, or none, which means 1`,
  };
};

const UNLIMITED = 'unlimited';
const LIGHTEST = 0.01;
const HEAVIEST = 1_000;

const orUnlimited =
  <T>(check: Check<T>): Check<T | typeof UNLIMITED> =>
  (value) => {
    if (value === UNLIMITED) return { value };
    const read = check(value);
    return 'problem' in read ? { problem: `${read.problem}, or '${UNLIMITED}'` } : read;
  };

const weight: Check<number> = (value) =>
  typeof value === 'number' && value >= LIGHTEST && value <= HEAVIEST
    ? { value }
    : { problem: `got ${describe(value)}, expected a number from ${LIGHTEST} to ${HEAVIEST}` };

const groupSettings = options<GroupSettings>({
  weight,
  concurrency: orUnlimited(integer(1)),
  rateLimit: orUnlimited(groupRate),
});

/** Reads which group is meant. Throws `InvalidScheduleError`. */
export const readGroup = (group: unknown, where: string): string => readOne(jobGroup, group, `${where}: group`);

/** Reads what is to be set for a group. `undefined` is refused, as `{}` forgets all that was set. Throws `InvalidScheduleError`. */
export const readGroupSettings = (given: unknown, where: string): GroupSettings => readOne(groupSettings, given, where);
