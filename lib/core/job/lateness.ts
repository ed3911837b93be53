/** The ways to treat a job that is claimed later than it may begin. */
export const ON_LATE = ['run', 'discard', 'dead-letter'] as const;
export type OnLate = (typeof ON_LATE)[number];

/** How late a job may begin, and how a later one is treated. */
export interface LatenessRule {
  maxLatenessMs: number;
  onLate: OnLate;
}
