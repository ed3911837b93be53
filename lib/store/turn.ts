import type { DeadReason } from '../core/job/events.js';
import type { OnLate } from '../core/job/lateness.js';
import type { Due } from '../core/read/due.js';

/** A job that this worker holds until its lease ends. */
export interface ClaimedJob {
  id: string;
  fence: string;
  dueAtMs: number;
  claimedAtMs: number;
  attempt: number;
  /** How often a worker died with it. */
  crashes: number;
  envelope: string;
}

/** How a claimed job leaves its worker, or how much longer it stays. Counts only where the fence is still the job's. */
export type Settlement = { id: string; fence: string } & (
  | { transition: 'complete'; result?: string; idWasChosen: boolean }
  | { transition: 'retry'; delayMs: number; failure: string }
  /** `ran`: the attempt began, and is counted. `failed`: it threw, and is counted as failed. */
  | { transition: 'dead'; failure: string; ran: boolean; failed: boolean; idWasChosen: boolean }
  /** Goes back for later; the attempt is not counted. */
  | { transition: 'snooze'; due: Due }
  | { transition: 'discard'; idWasChosen: boolean }
  | { transition: 'release' }
  | { transition: 'cancel' }
  /** Stays with its holder: the lease ends so long from now. */
  | { transition: 'extend'; leaseMs: number }
);

/**
 * What became of a settlement:
 * - `counted`: it took effect;
 * - `replaced`: it took effect, and the job that was queued behind the run has taken its place;
 * - `cancelled`: the job ended as cancelled instead, because somebody had asked for that; a queued job has taken its place;
 * - `lost`: the lease was no longer held, and nothing changed.
 */
export type Settled = 'counted' | 'replaced' | 'cancelled' | 'lost';

/** A job whose lease ran out. `dead`: once too often. `cancelled`: somebody had asked for that. */
export interface RecoveredJob {
  id: string;
  name: string;
  attempt: number;
  /** What became of it; a reason where it is dead. */
  fate: 'waiting' | 'cancelled' | DeadReason;
  /** Whose lease ran out; `undefined` where nothing in Redis tells any more. */
  worker?: string;
}

/** A job that nobody could begin in time, and what became of it for that. */
export interface LateJob {
  id: string;
  name: string;
  /** How many have begun; 0 where it is late at its first. */
  attempt: number;
  latenessMs: number;
  onLate: OnLate;
}

/** A job that could not be handed out: what it was made of is gone, or, where a relay was to move it, unreadable. */
export interface MissingJob {
  id: string;
  name: string;
  /** How many have begun. */
  attempt: number;
  reason: Extract<DeadReason, 'envelope-missing' | 'unreadable'>;
}

/** What a run of one name weighs here, and how many more its handler may run. */
export interface HandlerRoom {
  name: string;
  weight: number;
  free: number;
}

/**
 * What a turn wishes about suspects, jobs that have to run with nothing else in their process:
 * - '': nothing;
 * - 'reserve': the process holds jobs. If a suspect is due, keep the process for it, and claim nothing else;
 * - 'take': the process holds nothing. If a suspect is due, claim it, alone;
 * - 'keep': the process stays reserved;
 * - 'claim': the process is reserved and holds nothing. As 'take'; if no suspect is due, give the reservation up;
 * - 'leave': give the reservation up.
 */
export type SuspectWish = '' | 'reserve' | 'take' | 'keep' | 'claim' | 'leave';

/** One round trip of a worker. */
export interface Turn {
  settlements: readonly Settlement[];
  renewals: readonly { id: string; fence: string }[];
  /** What weight of jobs there is room for; 0 claims none. */
  room: number;
  /** Names whose handlers have a weight or a limit of their own. */
  handlers: readonly HandlerRoom[];
  /** Where the last turn stopped looking, or '' for the start. */
  lookFrom: string;
  /** Whether this is the worker's last turn: it is no longer counted among those that are there. */
  leaving: boolean;
  /**
   * Of a pull, which does not go on looking as a worker does. `waits`: until something is claimed, somebody waits for it;
   * `goes`: nobody waits after this turn.
   */
  pull?: 'waits' | 'goes';
  suspects: SuspectWish;
}

export interface TurnAnswer {
  /** For each settlement in order. */
  settled: readonly Settled[];
  /** Ids of leases that are no longer this worker's. */
  lost: readonly string[];
  /** Ids of renewed jobs that somebody wants cancelled. */
  toCancel: readonly string[];
  recovered: readonly RecoveredJob[];
  late: readonly LateJob[];
  /** Waiting jobs that are dead because somebody, or an eviction, took what they were made of, or damaged it. */
  missing: readonly MissingJob[];
  /** Dead jobs that were deleted, as there are more or older ones than are kept. */
  dropped: readonly { id: string; name: string }[];
  claimed: readonly ClaimedJob[];
  /** The claim was so large that no job of it may begin before a turn has renewed its lease. Recovery counts no crash before that. */
  isUnconfirmed: boolean;
  /** Claims whose leases were over before their answer came. They have no envelopes, and are to be released. */
  expired: readonly ClaimedJob[];
  /** The turn had run before, and its answer was lost. This answer says nothing of renewals, nor of what was recovered. */
  isReplay: boolean;
  /** How long until this worker should look again, in ms and fractions; `undefined` when it had no room to look. */
  sleepMs?: number;
  lookFrom: string;
  /** Another worker was the last to fill sixteen places or more. */
  hasCompany: boolean;
  /** `reserved`: the process is kept for a suspect. `taken`: the one job that this turn claimed is a suspect. */
  suspect?: 'reserved' | 'taken';
}

export interface WorkerHints {
  /** Something earlier than known may be due in so many ms. */
  look(inMs: number): void;
  /** Somebody wants a job cancelled that this worker may hold: renewing tells which. */
  renew(): void;
}

/** Which names a worker handles, and whether some of their handlers have limits of their own. */
export interface SeatNames {
  names: readonly string[];
  limited: boolean;
}

/** A worker's place at one queue: who it is, and which names it handles. */
export interface WorkerSeat {
  /**
   * Settles, renews, recovers and claims in one step; waits out an outage until `signal` aborts. Where it throws, the same
   * turn, the very object, must be sent until it is answered: it may have happened.
   */
  turn(turn: Turn, signal: AbortSignal): Promise<TurnAnswer>;
  /** Hears what others say to this worker. What is said is a hint: it may be lost. */
  listen(hints: WorkerHints): void;
  /** Stops listening. */
  leave(): void;
  /** Why Redis cannot be reached; `undefined` where it can, or where nothing is known. */
  readonly trouble?: Error | undefined;
}
