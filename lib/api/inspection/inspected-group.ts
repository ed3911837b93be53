import type { HeldBy, KnownGroup } from '../../store/job-store.js';

/** A group of jobs, as the inspector shows it. */
export interface InspectedGroup {
  /** Whose jobs they are. */
  group: string;
  /** How many of its jobs have not begun or wait for another attempt, due or not. */
  waiting: number;
  /** How many of these are due. */
  due: number;
  /** How many of its jobs run, popped ones included. */
  active: number;
  /** How many turns it has for each one of a group of weight 1. */
  weight: number;
  /** As `setGroup` set it; missing if it did not: then the queue's option `groups` holds. */
  concurrency?: number | 'unlimited';
  /** As `concurrency`. */
  rateLimit?: { max: number; perMs: number } | 'unlimited';
  /** Whether it is paused now. */
  isPaused: boolean;
  /** Until when; `null` if it is not paused, or is paused until somebody calls `resumeGroup`. */
  pausedUntil: Date | null;
  /**
   * What would keep a due job of it from starting now, the first of these; `null` if nothing would. `order`: under `groups.order: 'fifo'`
   * the job that has begun runs, or waits for its next attempt; once it is due again, it may start.
   */
  heldBy: HeldBy | null;
}

export function toInspectedGroup({
  group,
  waiting,
  due,
  active,
  settings: { weight = 1, concurrency, rateLimit },
  pausedUntilMs,
  heldBy,
}: KnownGroup): InspectedGroup {
  const isTimed = pausedUntilMs !== undefined && Number.isFinite(pausedUntilMs);
  return {
    group,
    waiting,
    due,
    active,
    weight,
    ...(concurrency !== undefined && { concurrency }),
    ...(rateLimit !== undefined && { rateLimit }),
    isPaused: pausedUntilMs !== undefined,
    pausedUntil: isTimed ? new Date(pausedUntilMs) : null,
    heldBy: heldBy ?? null,
  };
}
