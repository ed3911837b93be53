/** When time alone changes something, and what. */
export interface Instant {
  /** Infinite for never. */
  readonly atMs: number;
  /** As a failure tells it: "job 'mail' of queue 'default' became due". */
  because(): string;
}
