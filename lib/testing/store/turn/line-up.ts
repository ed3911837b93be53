import type { GroupState } from '../groups.js';
import { isSuspect, type Job } from '../job.js';
import type { SortedList } from '../lists/sorted-list.js';
import { Turns } from '../turns.js';
import type { Stage } from './stage.js';

/** Jobs of one priority that take turns: those of a group, or, under '', all that have none. */
export interface Unit {
  readonly group: string;
  readonly jobs: SortedList<Job>;
  /** How many jobs of the group may start, whatever their priority. */
  readonly state: Pick<GroupState, 'room' | 'holder'>;
}

/** The jobs that all have no group are held by nothing that is the group's. */
const FREE = { room: Number.POSITIVE_INFINITY, holder: undefined };

/**
 * Lets the units of each priority line up that may start a job now, and answers them: those without a group first, then by name. Where
 * nothing of a priority is due, its turns are forgotten; where no group of it may start a job, jobs without a group need no turns.
 */
export function lineUp({ queue, nowMs }: Stage): Map<number, Unit[]> {
  const { ledger, groups, turns, settings } = queue;
  const states = new Map<string, Unit['state']>([['', FREE]]);
  const stateOf = (group: string) => {
    const state = states.get(group) ?? groups.stateOf(group, nowMs);
    states.set(group, state);
    return state;
  };
  const found = new Map<number, Unit[]>();
  const due = new Set<number>();
  for (const { priority, units } of ledger.waiting()) {
    const ready: Unit[] = [];
    for (const [group, jobs] of units) {
      if (!firstDue(jobs, nowMs, settings.maxCrashes)) continue;
      due.add(priority);
      const unit = { group, jobs, state: stateOf(group) };
      const { holder, room } = unit.state;
      if (room > 0 && (!holder || (holder.envelope.priority === priority && !isSuspect(holder, settings.maxCrashes))))
        ready.push(unit);
    }
    found.set(
      priority,
      ready.sort((a, b) => (a.group < b.group ? -1 : 1)),
    );
    const isGrouped = ready.some(({ group }) => group !== '');
    if (isGrouped && !turns.has(priority)) turns.set(priority, new Turns());
    turns.get(priority)?.lineUp(new Set(isGrouped ? ready.map(({ group }) => group) : []));
  }
  for (const priority of turns.keys()) if (!due.has(priority)) turns.delete(priority);
  return found;
}

/** Moves the units on of which jobs were claimed, and lets those leave that have nothing due now, or are held. */
export function moveOn(stage: Stage): void {
  const { ledger, turns, groups } = stage.queue;
  const starts = new Map<string, { priority: number; group: string; count: number }>();
  for (const { id } of stage.claimed) {
    const { priority, group = '' } = ledger.jobs.get(id)!.envelope;
    const key = `${priority} ${group}`;
    const count = (starts.get(key)?.count ?? 0) + 1;
    starts.set(key, { priority, group, count });
  }
  for (const { priority, group, count } of starts.values())
    turns.get(priority)?.moveOn(group, count, groups.weightOf(group));
  lineUp(stage);
}

/** The first due job that is no suspect: suspects take no turns. */
function firstDue(jobs: SortedList<Job>, nowMs: number, maxCrashes: number): Job | undefined {
  for (const job of jobs) {
    if (job.dueAtMs > nowMs) return undefined;
    if (!isSuspect(job, maxCrashes)) return job;
  }
  return undefined;
}
