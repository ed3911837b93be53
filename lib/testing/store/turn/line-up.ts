import type { GroupState } from '../groups.js';
import type { Job } from '../job.js';
import type { Level } from '../ledger.js';
import type { SortedList } from '../lists/sorted-list.js';
import type { Stage } from './stage.js';

/** Jobs of one priority that take turns: those of a group, or, under '', all that have none. */
export interface Unit {
  readonly group: string;
  readonly jobs: SortedList<Job>;
  /** Where it stands. */
  readonly turn: number;
  /** How many jobs of the group may start, whatever their priority. */
  readonly state: Pick<GroupState, 'free' | 'holder'>;
}

/** No group's limits hold for jobs without one. */
const FREE = { free: Number.POSITIVE_INFINITY, holder: undefined };

/** The units of a level that may start a job now. `states`: of the groups that this claim has met. */
export function lineUp({ queue, nowMs, returning }: Stage, level: Level, states: Map<string, GroupState>): Unit[] {
  const stateOf = (group: string) => {
    const state = states.get(group) ?? queue.groups.stateOf(group, nowMs);
    states.set(group, state);
    return state;
  };
  const isHeld = (group: string) => {
    const { free, holder } = stateOf(group);
    // A job that goes back in this turn holds its group until the next.
    return free <= 0 || (holder !== undefined && returning.includes(holder));
  };
  return queue.turns.lineUp(level, nowMs, isHeld).map(([group, turn]) => {
    const state = group === '' ? FREE : stateOf(group);
    return { group, turn, jobs: level.units.get(group)!, state };
  });
}

/** The jobs that a claim has started move their units on. */
export function moveOn({ queue: { ledger, turns }, claimed }: Stage): void {
  const starts = new Map<number, Map<string, number>>();
  for (const { id } of claimed) {
    const { priority, group = '' } = ledger.jobs.get(id)!.envelope;
    const ofLevel = starts.get(priority) ?? new Map<string, number>();
    starts.set(priority, ofLevel.set(group, (ofLevel.get(group) ?? 0) + 1));
  }
  for (const [priority, ofLevel] of starts) for (const [unit, count] of ofLevel) turns.moveOn(priority, unit, count);
}
