import { isDeepStrictEqual } from 'node:util';
import { type GroupsRule, NO_GROUPS_RULE } from './group-options.js';
import { ANY_COUNT, type KeepRule, type OrderingRule, type QueueSettings, readQueueOptions } from './queue-options.js';
import type { RateRule } from './rate-limit.js';

/** How many ended jobs a worker keeps, and for how long; `null`: any number, or for any time. */
export interface SharedKeep {
  /** How many. */
  count: number | null;
  /** For how long, in ms. */
  ageMs: number | null;
}

/**
 * The options that must be alike in all processes of a queue, as one worker has them: defaults filled in, durations in milliseconds, and
 * `null` where there is no limit. An option is missing if the version of that worker does not tell it.
 */
export interface SharedOptions {
  /** As in `QueueOptions`, like all that follow. */
  ordering?: OrderingRule;
  /** `null` for no limit. */
  rateLimit?: RateRule | null;
  /** `null` for no limit. */
  globalConcurrency?: number | null;
  /** What holds for each group, `null` for no limit; missing where there is no limit and no `'fifo'`. */
  groups?: { concurrency: number | null; rateLimit: RateRule | null; order: 'due' | 'fifo' };
  /** How many completed jobs are kept. */
  keepCompleted?: SharedKeep;
  /** How many dead jobs are kept. */
  keepDead?: SharedKeep;
  /** How many discarded and cancelled jobs are kept; missing where none is. */
  keepEnded?: SharedKeep;
  /** How long a chosen id stays taken, in ms. */
  keepIdsMs?: number;
  /** How long a lease lasts, in ms. */
  leaseMs?: number;
  /** How long a job is left to the worker that it prefers, in ms. */
  stealAfterMs?: number;
  /** How many crashes make a job dead. */
  maxCrashes?: number;
  /** Whether it streams its events, and how many are kept. */
  streamEvents?: false | { maxLength: number };
  /** The id of the codec that stores payloads; `'json'` without one. */
  codec?: string;
}

/** `codec`: the id of the codec that the process writes with. */
export function sharedOptions(settings: QueueSettings, codec: string): SharedOptions {
  const { ordering, rateLimit, globalConcurrency, groups, keepCompleted, keepDead, keepEnded } = settings;
  const { keepIdsMs, leaseMs, stealAfterMs, maxCrashes, streamEvents } = settings;
  // In the order of the documents: a person prints it.
  return {
    ordering,
    rateLimit: rateLimit ?? null,
    globalConcurrency: orNull(globalConcurrency),
    ...(!isDeepStrictEqual(groups, NO_GROUPS_RULE) && {
      groups: { concurrency: orNull(groups.concurrency), rateLimit: groups.rateLimit ?? null, order: groups.order },
    }),
    keepCompleted: sharedKeep(keepCompleted),
    keepDead: sharedKeep(keepDead),
    ...(keepEnded.count > 0 && { keepEnded: sharedKeep(keepEnded) }),
    keepIdsMs,
    leaseMs,
    stealAfterMs,
    maxCrashes,
    streamEvents,
    codec,
  };
}

const orNull = (limit: number) => (Number.isFinite(limit) ? limit : null);

const sharedKeep = ({ count, ageMs }: KeepRule): SharedKeep => ({
  count: count === ANY_COUNT ? null : count,
  ageMs: ageMs === 0 ? null : ageMs,
});

/** The settings of a queue as one worker has told them, with the default of each option that it has not told. */
export function settingsOfShared({
  rateLimit,
  globalConcurrency,
  groups,
  keepCompleted,
  keepDead,
  keepEnded,
  codec: _,
  ...same
}: SharedOptions): QueueSettings {
  return {
    ...readQueueOptions('*', {}),
    ...same,
    ...(rateLimit && { rateLimit }),
    ...(globalConcurrency && { globalConcurrency }),
    ...(groups && { groups: groupsRule(groups) }),
    ...(keepCompleted && { keepCompleted: keepRule(keepCompleted) }),
    ...(keepDead && { keepDead: keepRule(keepDead) }),
    ...(keepEnded && { keepEnded: keepRule(keepEnded) }),
  };
}

const keepRule = ({ count, ageMs }: SharedKeep): KeepRule => ({ count: count ?? ANY_COUNT, ageMs: ageMs ?? 0 });

const groupsRule = ({ concurrency, rateLimit, order }: NonNullable<SharedOptions['groups']>): GroupsRule => ({
  concurrency: concurrency ?? Number.POSITIVE_INFINITY,
  ...(rateLimit && { rateLimit }),
  order,
});
