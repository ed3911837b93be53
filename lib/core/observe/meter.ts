/**
 * Measures what the events do not tell. It is called in the middle of the work, so no method may throw or wait. Where an instance has none,
 * nothing is made for it.
 */
export interface Meter {
  /** A call to Redis was answered after so many ms, whatever the answer. */
  redisAnswered(durationMs: number): void;
  /** One claim brought so many jobs, at least one: to handlers or to a pop. */
  jobsClaimed(queue: string, count: number): void;
  /** A run has ended, however it ended. */
  runEnded(queue: string, name: string, durationMs: number): void;
}
