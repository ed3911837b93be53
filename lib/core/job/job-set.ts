import { printable } from '../read/names.js';
import type { Check } from '../read/shape.js';

/** The id of a set, unique in its queue. */
export const setId: Check<string> = printable(256);

/** `open`: members may still come; `closed`: it is done once none of its members is pending; `done`: its completion job was scheduled, if it has one. */
export type SetState = 'open' | 'closed' | 'done';

/** How the members of a done set have ended, each counted once. */
export interface JobSetDone {
  /** The id of the set. */
  readonly id: string;
  /** How many members it had. */
  readonly total: number;
  /** Completed, or moved by a relay. */
  readonly completed: number;
  /** Dead letters. */
  readonly dead: number;
  /** Discarded by their handlers or by their late rule. */
  readonly discarded: number;
  /** Cancelled, removed, cleared, or replaced by a job that is no member. */
  readonly cancelled: number;
}
