/**
 * Measures what the events do not tell. It is called in the middle of the work, so no method may throw or wait. Where an instance has none,
 * nothing is made for it.
 */
export interface Meter {
  /** A call to Redis was answered after so many ms, whatever the answer. One whose answer was lost counts when it is answered again. */
  redisAnswered(durationMs: number): void;
  /** One answer of Redis brought so many jobs, at least one: to handlers, or to those who pop. */
  jobsClaimed(queue: string, count: number): void;
  /**
   * A run has ended, however it ended, once: a run whose time is over, that is cancelled or that has lost its lease ends then, and not when
   * its handler returns. A popped job is no run.
   */
  runEnded(queue: string, name: string, durationMs: number): void;
}
