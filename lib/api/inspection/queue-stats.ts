const COUNTERS = [
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
] as const;

/** How many times each thing has happened in a queue since it began; 0 for what has not. docs/job-life-cycle.md has the rules. */
export type QueueStats = Record<(typeof COUNTERS)[number], number>;

/** Counters that nothing has counted yet are 0. */
export function toStats(counted: Record<string, number>): QueueStats {
  return Object.fromEntries(COUNTERS.map((counter) => [counter, counted[counter] ?? 0])) as QueueStats;
}
