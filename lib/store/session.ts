import type { SkipReason } from '../core/calendar/rule.js';
import type { OnLate } from '../core/job/definition.js';
import type { DeadReason } from '../core/job/events.js';
import type { VersionRange } from '../core/job/job-versions.js';
import type { NewJob } from '../core/job/new-job.js';
import type { Due } from '../core/read/due.js';
import type { CallSize } from './call-size.js';
import type { Envelope, Failure, Unreadable } from './envelope.js';

/** Which claim of a job is meant: one with a lower fence than the job's changes nothing. */
export interface Claim {
  id: string;
  fence: string;
}

/** What the run of a job has reported last: how far it is. */
export interface ProgressReport extends Claim {
  /** JSON. */
  value: string;
}

/** A job that this session holds until its lease ends. */
export interface ClaimedJob extends Claim {
  dueAtMs: number;
  claimedAtMs: number;
  attempt: number;
  /** How often a worker died with it. */
  crashes: number;
  envelope: Envelope | Unreadable;
}

/** What a run has reported last, as JSON. */
export interface LastProgress {
  progress?: string;
}

/** How a claimed job leaves its session, or how much longer it stays. Counts only where the fence is still the job's. */
export type Settlement = Claim &
  /** `next`: the next job of its chain, which is scheduled if the completion counts. */
  (
    | ({ transition: 'complete'; result?: string; idWasChosen: boolean; next?: NextJob } & LastProgress)
    | ({ transition: 'retry'; delayMs: number; failure: Failure } & LastProgress)
    /** `ran`: the attempt began, and is counted. `failed`: it threw, and is counted as failed. */
    | ({ transition: 'dead'; failure: Failure; ran: boolean; failed: boolean; idWasChosen: boolean } & LastProgress)
    /** Goes back for later; the attempt is not counted. */
    | ({ transition: 'snooze'; due: Due } & LastProgress)
    /** `reason`: for whoever asks later, where `keepEnded` keeps the job. */
    | { transition: 'discard'; idWasChosen: boolean; reason?: string }
    /** Goes back as if nothing had been. */
    | ({ transition: 'release' } & LastProgress)
    | { transition: 'cancel' }
    /** Stays with its holder: the lease ends so long from now. */
    | { transition: 'extend'; leaseMs: number }
  );

/** A job that a completion schedules; its delay counts from then. */
export type NextJob = NewJob & { id: string; due: { delayMs: number } };

/** A job that the store has scheduled, as the last member of its set has ended. */
export interface CompletionJob {
  id: string;
  name: string;
  dueAtMs: number;
}

/**
 * What became of a settlement:
 * - `counted`: it took effect;
 * - `replaced`: it took effect, and the job that was queued behind the run has taken its place;
 * - `final`: it took effect, but for another attempt or a dead letter: the job has ended as cancelled, because the job that was queued
 *   behind the run was cancelled;
 * - `cancelled`: the job ended as cancelled instead, because somebody had asked for that; a queued job has taken its place;
 * - `lost`: the lease was no longer held, and nothing changed.
 */
export type Settled = 'counted' | 'replaced' | 'final' | 'cancelled' | 'lost';

/** A job whose lease ran out. `dead`: once too often. `cancelled`: somebody had asked for that. */
export interface RecoveredJob {
  id: string;
  name: string;
  attempt: number;
  /** What became of it; a reason where it is dead. */
  fate: 'waiting' | 'cancelled' | DeadReason;
  /** Whose lease ran out; `undefined` where nothing tells any more. */
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

/** An occurrence of a recurrence that its policy leaves out. */
export interface SkippedOccurrence {
  id: string;
  name: string;
  /** `missed`: it had not begun in time; `overlap`: the previous one had not ended. */
  reason: SkipReason;
}

/** A job that could not be handed out: its envelope is gone or, where a relay was to move the job, unreadable, or its chain goes on. */
export interface BrokenJob {
  id: string;
  name: string;
  /** How many have begun. */
  attempt: number;
  reason: Extract<DeadReason, 'envelope-missing' | 'unreadable' | 'not-relayable'>;
}

/** What a call of the handler of one name weighs here, and how many more jobs it may get. */
export interface HandlerCapacity {
  name: string;
  weight: number;
  /** Of a handler that gets several jobs a call: the room in the call that is being filled, and `size` for each further one that may begin. */
  free: number;
  /** How many jobs it gets in one call, which weighs no more than one of them alone. */
  size: number;
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

/** The stuck handlers of a session: their runs have timed out, were cancelled or lost their leases. */
export interface StuckHandlers {
  count: number;
  /** What weight of places they take. */
  weight: number;
  /** The job of the one stuck longest, and for how long. */
  id: string;
  name: string;
  forMs: number;
}

/** One round trip of a session. */
export interface Turn {
  settlements: readonly Settlement[];
  renewals: readonly Claim[];
  /**
   * What running jobs have reported, none of which this turn settles. Each report takes the place of the one before, and is kept until the
   * job's next claim or its end; with a completed job that is kept, too. It counts only where the fence is still the job's.
   */
  reports?: readonly ProgressReport[];
  /** What weight of jobs may be claimed; 0 claims none. */
  limit: number;
  /** Names whose handlers have a weight or a limit of their own, or get several jobs a call. */
  handlers: readonly HandlerCapacity[];
  /** Whether this is the session's last turn: it is no longer counted among those that are there. */
  isLast: boolean;
  /**
   * Whether the session goes on looking for jobs after this turn: `stays` as a worker does; `until-claimed`, of a pull for which
   * somebody waits, unless it has claimed something; `goes`, when nobody waits after this turn.
   */
  standing: 'stays' | 'until-claimed' | 'goes';
  /** Look from the start, not from the cursor: the pops for which the last turn looked no longer wait. */
  looksAnew?: boolean;
  suspects: SuspectWish;
  /** Told with the presence of the session; missing where there are none. */
  stuck?: StuckHandlers;
}

export interface TurnAnswer {
  /** For each settlement in order. */
  settled: readonly Settled[];
  /** Ids of leases that are no longer this session's. */
  lost: readonly string[];
  /** Ids of renewed jobs that somebody wants cancelled. */
  toCancel: readonly string[];
  recovered: readonly RecoveredJob[];
  late: readonly LateJob[];
  /** Occurrences that ended as discarded, because the policy of their recurrence leaves them out. */
  skippedOccurrences: readonly SkippedOccurrence[];
  /** Waiting jobs that are dead because somebody, or an eviction, has taken or damaged their envelopes. */
  brokenJobs: readonly BrokenJob[];
  /** Dead jobs that were deleted, because `keepDead` keeps fewer or younger ones. */
  deadDropped: readonly { id: string; name: string }[];
  /** Completion jobs of sets whose last members have ended in this turn. */
  completions: readonly CompletionJob[];
  claimed: readonly ClaimedJob[];
  /** The claim was so large that no job of it may begin before a turn has renewed its lease. Recovery counts no crash before that. */
  isUnconfirmed: boolean;
  /** Claims whose leases were over before their answer came. They are to be released. */
  expired: readonly Claim[];
  /** The turn had run before, and its answer was lost. This answer says nothing of renewals, nor of what was recovered. */
  isReplay: boolean;
  /**
   * How long until this session should look again, in ms and fractions. 0: now, as there is more to look for, or as the answer is a replay;
   * `undefined`: as soon as it has capacity for what it found due.
   */
  sleepMs: number | undefined;
  /** More was due than this session could take, and another one of this queue was in the same case lately. */
  isContended: boolean;
  /** It was a whole turn (see docs/glossary.md), which costs the store more than an ordinary one, or one of groups in order. No turn of a relay is. */
  isWhole: boolean;
  /**
   * What this session settles frees no place that anybody waits for: as far as the turn has seen, the queue has no groups, limits, pauses,
   * recurrences, suspects or preferred workers, and no handler of the session has a limit of its own, weighs more than 1 or gets batches.
   */
  freesNothingForOthers: boolean;
  /** In how many ms the recurrences of the queue are to be tended; `undefined` where it has none. See `QueueRecurrences.tend`. */
  tendInMs: number | undefined;
  /** Ids of recurrences that are to be tended at once: few instants of theirs are known ahead. */
  toTend: readonly string[];
  /**
   * - `reserved`: the process is kept for a suspect;
   * - `taken`: the one job that this turn claimed is a suspect;
   * - `waits`: there are suspects, and the wish of this turn was `''` or `reserve`: an empty process might have got one.
   */
  suspect?: 'reserved' | 'taken' | 'waits';
}

/** What a session is told between its turns. */
export interface SessionHints {
  /** Something earlier than known may be due in so many ms. */
  look(inMs: number): void;
  /** Somebody wants a job cancelled that this session may hold: renewing tells which. */
  cancel(): void;
}

/** Which names a worker handles, and whether some of their handlers have limits of their own. */
export interface SessionNames {
  names: readonly string[];
  limited: boolean;
  /** Of the names that it handles in other versions than the first alone: which ones. */
  versions?: ReadonlyMap<string, VersionRange>;
  /** Of the names whose calls weigh more than 1 or get several jobs. */
  calls?: ReadonlyMap<string, CallSize>;
}

/**
 * The talk of one consumer with one queue: who it is, which names it takes, and, kept here, where its next turn goes on looking. Cursor and
 * settings cross no turn.
 */
export interface Session {
  /**
   * Settles, renews, recovers and claims in one step; waits out an outage until `signal` aborts. Where it throws, the same
   * turn, the very object, must be sent until it is answered: it may have happened. `heard` is called whenever the store is heard
   * meanwhile without the answer being whole: a part of it has come, or the store says that it cannot take the turn now.
   */
  turn(turn: Turn, signal: AbortSignal, heard?: () => void): Promise<TurnAnswer>;
  /** Hears what others say to this session. What is said is a hint: it may be lost. */
  listen(hints: SessionHints): void;
  /** Stops listening. */
  leave(): void;
  /** Why the store cannot be reached; `undefined` where it can, or where nothing is known. */
  readonly trouble?: Error | undefined;
}
