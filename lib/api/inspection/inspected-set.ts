import type { SetState } from '../../core/job/job-set.js';
import type { KnownSet } from '../../store/job-store.js';

/** What is known of a set. */
export interface InspectedSet {
  /** Unique in its queue. */
  id: string;
  /** `open`: members may still come; `closed`: it is done once none is pending; `done`: its completion job was scheduled, if it has one. */
  state: SetState;
  /** How many members it has had: the sum of the following numbers. */
  total: number;
  /** Waiting, running, or queued behind a running job; dead ones that were replayed, too. */
  pending: number;
  /** Completed, or moved by a relay. */
  completed: number;
  /** Dead letters. */
  dead: number;
  /** Discarded by their handlers or by their late rule. */
  discarded: number;
  /** Cancelled, removed, cleared, or replaced by a job that is no member. */
  cancelled: number;
  /** When it was opened, by Redis' clock. */
  openedAt: Date;
}

export function toInspectedSet({ openedAtMs, ...known }: KnownSet): InspectedSet {
  return { ...known, openedAt: new Date(openedAtMs) };
}
