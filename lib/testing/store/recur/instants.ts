import { createHash } from 'node:crypto';
import { occurrencesAfter } from '../../../core/calendar/occurrences.js';
import type { Rule, Timing } from '../../../core/calendar/rule.js';
import { LAST_INSTANT_MS, MISSED_AFTER_MS } from '../../../core/constants.js';
import { occurrenceId } from '../../../core/job/occurrence-id.js';
import type { Recurrence } from './recurrence.js';

/** The instants of a rule from one of them until now, in order. */
export interface Past {
  readonly count: number;
  at(index: number): number;
}

/** The first nominal instant that is later; `undefined` where there is none. */
export function instantAfter(timing: Timing, afterMs: number): number | undefined {
  for (const { atMs } of occurrencesAfter(timing, afterMs)) return atMs;
  return undefined;
}

/** The instants from `firstMs`, which is one of them, until now. */
export function pastOf(timing: Timing, firstMs: number, nowMs: number): Past {
  if (!isReckoned(timing)) {
    const instants: number[] = [];
    for (const { atMs } of occurrencesAfter(timing, firstMs - 1)) {
      if (atMs > nowMs) break;
      instants.push(atMs);
    }
    return { count: instants.length, at: (index) => instants[index]! };
  }
  const { everyMs, endAtMs = LAST_INSTANT_MS } = timing;
  const count = Math.max(0, Math.floor((Math.min(nowMs, endAtMs) - firstMs) / everyMs) + 1);
  return { count, at: (index) => firstMs + index * everyMs };
}

/** When an occurrence is due that begins in time: up to `jitterMs` later than its nominal instant, equally in every process. */
export function dueOf(recurrenceId: string, { timing, jitterMs }: Rule, atMs: number): number {
  if (jitterMs === 0) return atMs;
  const mostMs = Math.min(jitterMs, (instantAfter(timing, atMs) ?? Number.POSITIVE_INFINITY) - atMs - 1);
  const seed = createHash('sha1').update(occurrenceId(recurrenceId, atMs)).digest('hex').slice(0, 8);
  return atMs + (Number.parseInt(seed, 16) % (mostMs + 1));
}

/** True where an occurrence that is due then has not begun by the time the next one is due, or a minute later if that is earlier. */
export function isMissed(id: string, rule: Rule, atMs: number, dueAtMs: number, nowMs: number): boolean {
  const nextAtMs = instantAfter(rule.timing, atMs);
  return (nextAtMs !== undefined && nowMs >= dueOf(id, rule, nextAtMs)) || nowMs >= dueAtMs + MISSED_AFTER_MS;
}

/** Multiples of an interval, of which none is excluded, are reckoned: an outage of a year is no more work than one of a second. */
function isReckoned(timing: Timing): timing is Timing & { everyMs: number } {
  return timing.everyMs !== undefined && timing.exclude.length === 0;
}

/**
 * The first instant of the rule later than this one, but for those whose jobs are known (there, or ended and remembered), or have `left` in
 * this very turn: these count as decided.
 */
export function advanceOverKnown(
  recurrence: Recurrence,
  afterMs: number,
  isJobKnown: (jobId: string) => boolean,
  left?: ReadonlySet<string>,
): number | undefined {
  const { id, rule, armedAtMs } = recurrence;
  let atMs = instantAfter(rule.timing, afterMs);
  const isKnown = (jobId: string) => isJobKnown(jobId) || left?.has(jobId);
  while (atMs !== undefined && atMs !== armedAtMs && isKnown(occurrenceId(id, atMs))) {
    recurrence.reachedAtMs = atMs;
    atMs = instantAfter(rule.timing, atMs);
  }
  return atMs;
}
