import type { AppJobScheduler } from '@bull-board/api/typings/app';
import type { RecurrenceView } from '../api/recurrence/recurrence-view.js';
import { boardId } from './board-id.js';

/** A recurrence as bull-board shows its schedulers, redacted before: when it runs, and what job it makes. */
export function toScheduler(recurrence: RecurrenceView): Omit<AppJobScheduler, 'queueName'> {
  const { id, name, rule, payload, nextAt, lastAt, count } = recurrence;
  // A view has durations as numbers and instants as Dates.
  const { cron: pattern, everyMs, timeZone: tz, limit, startAt, endAt } = rule;
  return {
    id: boardId(id),
    name,
    ...(pattern !== undefined && { pattern, tz: tz ?? 'UTC' }),
    ...(everyMs !== undefined && { every: everyMs as number }),
    ...(limit !== undefined && { limit }),
    ...(startAt !== undefined && { startDate: Number(startAt) }),
    ...(endAt !== undefined && { endDate: Number(endAt) }),
    ...(nextAt && { next: nextAt.getTime() }),
    ...(lastAt && { lastRun: lastAt.getTime() }),
    iterationCount: count,
    ...(payload !== undefined && { template: { data: payload } }),
  };
}
