/** How many times each thing has happened in a queue since it began. docs/job-life-cycle.md has the rules. */
export interface QueueStats {
  scheduled: number;
  started: number;
  completed: number;
  failed: number;
  retried: number;
  dead: number;
  cancelled: number;
  discarded: number;
  snoozed: number;
  recovered: number;
  deadDropped: number;
}

const COUNTERS: readonly (keyof QueueStats)[] = [
  'scheduled',
  'started',
  'completed',
  'failed',
  'retried',
  'dead',
  'cancelled',
  'discarded',
  'snoozed',
  'recovered',
  'deadDropped',
];

/** Counters that nothing has counted yet are 0. */
export function toStats(counted: Record<string, number>): QueueStats {
  return Object.fromEntries(COUNTERS.map((counter) => [counter, counted[counter] ?? 0])) as unknown as QueueStats;
}
