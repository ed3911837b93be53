import { createHash } from 'node:crypto';
import type { Rule, Timing } from '../../lib/core/calendar/rule.js';
import type { NewRecurrence, QueueStore } from '../../lib/store/job-store.js';
import type { World } from './world.js';

type Parts = Partial<Omit<Rule, 'timing'>> & Partial<Timing>;

export const SECOND = 1_000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;
export const DAY = 86_400_000;

/** A rule, each minute unless said otherwise. */
export function ruleOf({
  cron,
  timeZone = 'UTC',
  everyMs,
  offsetMs = 0,
  startAtMs,
  endAtMs,
  exclude = [],
  ...policy
}: Parts = {}): Rule {
  return {
    timing: {
      ...(cron === undefined ? { everyMs: everyMs ?? MINUTE } : { cron }),
      timeZone,
      offsetMs,
      ...(startAtMs !== undefined && { startAtMs }),
      ...(endAtMs !== undefined && { endAtMs }),
      exclude,
    },
    onMissed: 'once',
    overlap: 'allow',
    jitterMs: 0,
    ...policy,
  };
}

/** A recurrence named `r` whose jobs are named `work`. */
export function recurrenceOf(rule: Parts = {}, job: Partial<NewRecurrence['job']> = {}, id = 'r'): NewRecurrence {
  return { id, rule: ruleOf(rule), job: { name: 'work', priority: 5, settings: {}, payload: '{}', ...job } };
}

/** The first multiple of a period after a time. */
export const nextMultiple = (nowMs: number, everyMs: number) => (Math.floor(nowMs / everyMs) + 1) * everyMs;

export const every = (everyMs: number, policy: Omit<Parts, 'cron'> = {}): Rule => ruleOf({ ...policy, everyMs });

export const cron = (text: string, policy: Omit<Parts, 'everyMs'> = {}): Rule => ruleOf({ ...policy, cron: text });

/** As `recurrenceOf`, of a rule that is made already. */
export function recurrence(
  rule: Rule,
  { id = 'r', ...job }: Partial<NewRecurrence['job']> & { id?: string } = {},
): NewRecurrence {
  return { ...recurrenceOf({}, job, id), rule };
}

/** The part of a jitter of so many ms that an occurrence has, as every process has to reckon it. */
export function jitterOf(id: string, atMs: number, mostMs: number): number {
  const seed = createHash('sha1').update(`${id}@${atMs}`).digest('hex').slice(0, 8);
  return Number.parseInt(seed, 16) % (mostMs + 1);
}

/** Opens the queue of a case at the beginning of a second, so that the case can say when occurrences come. */
export function storeOnTheSecond(world: World): QueueStore {
  world.pass(SECOND - (world.now() % SECOND));
  return world.store();
}
