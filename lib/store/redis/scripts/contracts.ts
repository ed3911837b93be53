// Made by scripts/embed-lua.mjs from the headers of lib/store/redis/scripts; change these and run `npm run embed`.
import type { QueueKeys } from '../keys.js';
import type { BoundScript, NumberedScript, ScriptArgument } from './bound-script.js';

/**
 * Add events to the stream of the queue, as one entry, and cut off what is beyond its cap. Events are numbered from
 * 1. An entry's id is "<epoch ms>-<number of its last event>", so both ends of the stream tell how many events it
 * holds, and a reader that finds another number than the next one knows that it has missed some.
 * Answers: the id of the entry.
 * A repeated call is answered from its receipt.
 * It adds nothing.
 */
export interface AddEventsArguments {
  /** How many events. */
  count: number;
  /** How many of the latest events to keep; the entry in which the first of these lies is kept whole. */
  maxLength: number;
  /** The events, between line breaks (see codec/event-text.ts). */
  lines: string;
}

export type AddEventsReply = [status: string, now: string, place: string];

const encodeAddEvents = (a: AddEventsArguments): ScriptArgument[] => [a.count, a.maxLength, a.lines];

/** Binds the script to the keys of a queue. */
export const addEventsScript = (keys: QueueKeys): NumberedScript<AddEventsArguments, AddEventsReply> => ({
  name: 'add-events',
  keys: [keys.events],
  encode: encodeAddEvents,
  isNumbered: true,
});

/**
 * Add occurrences beside the rule at these nominal instants, due now, but for those whose ids are known.
 * Answers: how many were added, '' where there is no such recurrence; whether its instants run short: it is to be
 * tended at once.
 * A repeated call is answered from its receipt.
 */
export interface BackfillRecurrenceArguments {
  /** Whether Redis is a cluster. */
  clustered: boolean;
  /** How late a job must be before any worker may take it from the one that it prefers (ms). */
  stealAfterMs: number;
  /** Id of the recurrence. */
  id: string;
  /** Epoch ms. */
  instants: readonly ScriptArgument[];
}

export type BackfillRecurrenceReply = [status: string, now: string, count: string, isShort: '1' | '0'];

const encodeBackfillRecurrence = (a: BackfillRecurrenceArguments): ScriptArgument[] => [a.clustered ? 1 : 0, a.stealAfterMs, a.id, ...a.instants];

/** Binds the script to the keys of a queue. */
export const backfillRecurrenceScript = (keys: QueueKeys): NumberedScript<BackfillRecurrenceArguments, BackfillRecurrenceReply> => ({
  name: 'backfill-recurrence',
  keys: [
    keys.jobs,
    keys.usedIds,
    keys.stats,
    keys.completed,
    keys.results,
    keys.levels,
    keys.sleeping,
  ],
  encode: encodeBackfillRecurrence,
  isNumbered: true,
});

/**
 * The blackouts that were set, and until when one lasts that is on.
 * Answers: the time of Redis; until when a blackout lasts that is on (epoch ms; 'inf' where nobody has computed that;
 * '' where none is on); which list it is, and the list, '' where none was set; when more blackouts are to be computed
 * (epoch ms, '' = never); what `gate` holds of the one that is on or comes next (see shared/blackout.lua).
 * It only reads.
 */
export type BlackoutsArguments = Record<string, never>;

export type BlackoutsReply = [now: string, ends: string, version: string, rules: string, tendAt: string, copy: string];

const encodeBlackouts = (): ScriptArgument[] => [];

/** Binds the script to the keys of a queue. */
export const blackoutsScript = (keys: QueueKeys): BoundScript<BlackoutsArguments, BlackoutsReply> => ({
  name: 'blackouts',
  keys: [keys.gate, keys.blackouts, keys.blackoutRules],
  encode: encodeBlackouts,
});

/**
 * Ask for a running job to be cancelled. Its holder hears of it by a message, or with its next renewal; from now on
 * the job ends as cancelled, whatever its holder says, and also where its holder says nothing any more.
 * Answers: 0 where the job waited, had ended or was never there.
 * A repeated call is answered from its receipt.
 */
export interface CancelRunningArguments {
  /** Whether Redis is a cluster. */
  clustered: boolean;
  /** Job id. */
  id: string;
}

export type CancelRunningReply = [status: string, now: string, wasRunning: '1' | '0'];

const encodeCancelRunning = (a: CancelRunningArguments): ScriptArgument[] => [a.clustered ? 1 : 0, a.id];

/** Binds the script to the keys of a queue. */
export const cancelRunningScript = (keys: QueueKeys): NumberedScript<CancelRunningArguments, CancelRunningReply> => ({
  name: 'cancel-running',
  keys: [keys.claims],
  encode: encodeCancelRunning,
  isNumbered: true,
});

/**
 * Take the next jobs that carry a tag, and wait or are queued behind running ones, out of their queue for good.
 * Answers: "<index after which to go on> <last index> <when the first step was taken>" and, a tab before each, the
 * ids of the cancelled jobs, in the order in which they came by the tag.
 * A repeated call is answered from its receipt.
 */
export interface CancelTaggedArguments {
  /** The index in the tag after which to begin, '0' = at the first. */
  from: string;
  /** The last index to look at, '' = that of the last job there is now. */
  last: string;
  /** When the first step was taken, 0 = now (epoch ms). */
  began: number;
  /** How many jobs to look at at the most. */
  limit: number;
  /** How many discarded and cancelled jobs are kept, and for how long (see jobs/keep-ended.lua), '' = none. */
  keepEnded: string;
}

export type CancelTaggedReply = [status: string, now: string, result: string];

const encodeCancelTagged = (a: CancelTaggedArguments): ScriptArgument[] => [a.from, a.last, a.began, a.limit, a.keepEnded];

/** Binds the script to the keys of a queue. */
export const cancelTaggedScript = (keys: QueueKeys, names: { tag: string }): NumberedScript<CancelTaggedArguments, CancelTaggedReply> => ({
  name: 'cancel-tagged',
  keys: [
    keys.jobs,
    keys.claims,
    keys.failures,
    keys.queued,
    keys.stats,
    keys.levels,
    `${keys.base}tag:${names.tag}`,
  ],
  encode: encodeCancelTagged,
  isNumbered: true,
});

/**
 * Take a waiting job out of its queue for good, or the one that is queued behind a running job.
 * Answers: 1 if the job was waiting or queued and will never start; 0 if it had started, ended or was never there.
 * A repeated call is answered from its receipt.
 */
export interface CancelArguments {
  /** Job id. */
  id: string;
  /** How many discarded and cancelled jobs are kept, and for how long (see jobs/keep-ended.lua), '' = none. */
  keepEnded: string;
}

export type CancelReply = [status: string, now: string, count: '1' | '0'];

const encodeCancel = (a: CancelArguments): ScriptArgument[] => [a.id, a.keepEnded];

/** Binds the script to the keys of a queue. */
export const cancelScript = (keys: QueueKeys): NumberedScript<CancelArguments, CancelReply> => ({
  name: 'cancel',
  keys: [keys.jobs, keys.claims, keys.failures, keys.queued, keys.stats, keys.levels],
  encode: encodeCancel,
  isNumbered: true,
});

/**
 * Look at the next jobs of the queue, and take those that wait, or are queued behind running ones, out of it for
 * good. A walk through `jobs` rather than through the lanes: it comes to each job that is there from beginning to
 * end, however lanes change meanwhile, and knows nothing of ids in a lane that are no jobs, on which a walk by heads
 * would never get past.
 * Answers: "<how many were cancelled> <where to go on, 0 = the walk is over> <bytes of what was looked at> <by when,
 * epoch ms>" and, a tab before each, the ids of recurrences that are to be tended.
 * A repeated call is answered from its receipt.
 */
export interface ClearArguments {
  /** Where to go on, '0' = from the start. */
  cursor: string;
  /** About how many jobs to look at. */
  limit: number;
  /** Only jobs that were scheduled by then, 0 = by now (epoch ms). */
  scheduledBy: number;
  /** How many discarded and cancelled jobs are kept, and for how long (see jobs/keep-ended.lua), '' = none. */
  keepEnded: string;
}

export type ClearReply = [status: string, now: string, result: string];

const encodeClear = (a: ClearArguments): ScriptArgument[] => [a.cursor, a.limit, a.scheduledBy, a.keepEnded];

/** Binds the script to the keys of a queue. */
export const clearScript = (keys: QueueKeys): NumberedScript<ClearArguments, ClearReply> => ({
  name: 'clear',
  keys: [keys.jobs, keys.claims, keys.failures, keys.queued, keys.stats, keys.levels],
  encode: encodeClear,
  isNumbered: true,
});

/**
 * Tell the time of the Redis that holds the queue.
 * Answers: epoch ms.
 * It only reads.
 */
export type ClockArguments = Record<string, never>;

export type ClockReply = string;

const encodeClock = (): ScriptArgument[] => [];

/** Binds the script to the keys of a queue. */
export const clockScript = (keys: QueueKeys): BoundScript<ClockArguments, ClockReply> => ({
  name: 'clock',
  keys: [keys.jobs],
  encode: encodeClock,
});

/**
 * How many jobs are in each state, those of so many due lanes at a time.
 * Answers: `due` counts the lanes looked into; next: where to go on, '' = no due lane is left; nextDue: '' where
 * nothing waits.
 * It only reads.
 */
export interface CountsArguments {
  /** What every key of the queue begins with. */
  base: string;
  /** Where to go on with the due lanes, '' = from the start. */
  from: string;
  /** How many due lanes to look into at the most, 0 = not even at their levels. */
  costLeft: number;
}

export type CountsReply = [waiting: number, due: number, active: number, dead: number, completed: number, next: string, now: string, nextDue: string];

const encodeCounts = (a: CountsArguments): ScriptArgument[] => [a.base, a.from, a.costLeft];

/** Binds the script to the keys of a queue. */
export const countsScript = (keys: QueueKeys): BoundScript<CountsArguments, CountsReply> => ({
  name: 'counts',
  keys: [keys.jobs, keys.active, keys.dead, keys.completed, keys.levels],
  encode: encodeCounts,
});

/**
 * Make a declaration the rule of its recurrence, unless another one wins by now.
 * Answers: 'again' where the instants do not tell the first one after `from`, and nothing has changed.
 * A repeated call is answered from its receipt.
 */
export interface DeclareRecurrenceArguments {
  /** Whether Redis is a cluster. */
  clustered: boolean;
  /** How late a job must be before any worker may take it from the one that it prefers (ms). */
  stealAfterMs: number;
  /** Whose declaration it is. */
  app: string;
  /** Which build makes it, '-' = none. */
  revision: string;
  /** When the process first declared something in this queue (epoch ms). */
  startedAt: number;
  /** After how long without a live process that declares it a declaration gives way to others (ms). */
  orphanAfterMs: number;
  /** Digest of the declaration. */
  digest: string;
  /** Whether it switches the recurrence off; the arguments from `head` on mean nothing then. */
  isOff: boolean;
  /** Id of the recurrence. */
  id: string;
  /** The numbers of its record (see recur/record.lua), but for the version. */
  head: string;
  /** The rule, as JSON. */
  ruleText: string;
  /** The first line of the envelope of each occurrence. */
  route: string;
  /** What follows the time of creation in it. */
  rest: string | Buffer;
  /** The version of the time-zone data by which the instants were reckoned. */
  zones: string;
  /** From when on (epoch ms). */
  reckonedFrom: number;
  /** The instants, '-' where this script is to reckon them. */
  list: string;
  /** How many discarded and cancelled jobs are kept, and for how long (see jobs/keep-ended.lua), '' = none. */
  keepEnded: string;
}

export type DeclareRecurrenceReply = [status: string, now: string, status: 'wins' | 'loses' | 'upserted' | 'again', from: string];

const encodeDeclareRecurrence = (a: DeclareRecurrenceArguments): ScriptArgument[] => [
  a.clustered ? 1 : 0,
  a.stealAfterMs,
  a.app,
  a.revision,
  a.startedAt,
  a.orphanAfterMs,
  a.digest,
  a.isOff ? 1 : 0,
  a.id,
  a.head,
  a.ruleText,
  a.route,
  a.rest,
  a.zones,
  a.reckonedFrom,
  a.list,
  a.keepEnded,
];

/** Binds the script to the keys of a queue. */
export const declareRecurrenceScript = (keys: QueueKeys): NumberedScript<DeclareRecurrenceArguments, DeclareRecurrenceReply> => ({
  name: 'declare-recurrence',
  keys: [
    keys.jobs,
    keys.usedIds,
    keys.stats,
    keys.completed,
    keys.results,
    keys.levels,
    keys.sleeping,
    keys.queued,
    keys.active,
    keys.dead,
    keys.gate,
  ],
  encode: encodeDeclareRecurrence,
  isNumbered: true,
});

/**
 * Note what a live process declares, and tell which of it is to be sent whole, and which recurrences are orphans.
 * Answers: `began`, or now; a letter for each declaration: 'w' it is the rule, 'l' another one wins, 'u' the
 * recurrence was upserted, 'n' it is to be sent whole by declare-recurrence; then ids of orphans.
 * A repeated call is answered from its receipt.
 */
export interface DeclareArguments {
  /** Whose declarations these are. */
  app: string;
  /** Which build makes them, '-' = none. */
  revision: string;
  /** When the process first declared something in this queue, 0 = now (epoch ms). */
  began: number;
  /** After how long without a live process that declares it a recurrence is an orphan (ms). */
  orphanAfterMs: number;
  /** Which orphans to tell: those that nobody has been told, or all. */
  tells: 'none' | 'new' | 'all';
  /** Ids of recurrences, and the digest of each declaration. Flat rows: id, digest. */
  declared: readonly ScriptArgument[];
}

export type DeclareReply = [status: string, now: string, startedAt: string, letters: string, ...orphans: string[]];

const encodeDeclare = (a: DeclareArguments): ScriptArgument[] => [a.app, a.revision, a.began, a.orphanAfterMs, a.tells, ...a.declared];

/** Binds the script to the keys of a queue. */
export const declareScript = (keys: QueueKeys): NumberedScript<DeclareArguments, DeclareReply> => ({
  name: 'declare',
  keys: [keys.gate],
  encode: encodeDeclare,
  isNumbered: true,
});

/**
 * Look at some jobs, and tell those that a search wants.
 * Answers: where to go on, '' = the walk is over, with a '~' behind it where jobs may be met again (see
 * find/scan.lua); how many jobs were looked at, and how many bytes that took; ids of further ones that may be wanted;
 * for each job that is told its id and what the script `job` answers.
 * It only reads.
 */
export interface FindArguments {
  /** What every key of the queue begins with. */
  base: string;
  /**
   * Through what: 'jobs', 'active', 'dead', 'completed', 'tagged' = the set of the tag that the fewest jobs carry, or
   * 'ids', those given.
   */
  walk: string;
  /** Where to go on, '' = from the start. */
  from: string;
  /** About how many jobs to look at. */
  size: number;
  /** How many to tell at the most. */
  limit: number;
  /** After about how many none is read any more (bytes). */
  bytesLeft: number;
  /** The states that are wanted, commas between them. */
  states: string;
  /** How their ids begin. */
  idPrefix: string;
  /** Their names, line breaks between them, '' = any. */
  names: string;
  /** Tags all of which they carry, tabs between them, '' = any. */
  tags: string;
  /** When they are due at the earliest (epoch ms). */
  dueFrom: number;
  /** Before when they are due (epoch ms). */
  dueTo: number;
  /** Job ids. */
  ids: readonly ScriptArgument[];
}

export type FindReply = [next: string, looked: string, bytes: string, left: string[], ...jobs: string[][]];

const encodeFind = (a: FindArguments): ScriptArgument[] => [
  a.base,
  a.walk,
  a.from,
  a.size,
  a.limit,
  a.bytesLeft,
  a.states,
  a.idPrefix,
  a.names,
  a.tags,
  a.dueFrom,
  a.dueTo,
  ...a.ids,
];

/** Binds the script to the keys of a queue. */
export const findScript = (keys: QueueKeys): BoundScript<FindArguments, FindReply> => ({
  name: 'find',
  keys: [
    keys.jobs,
    keys.claims,
    keys.failures,
    keys.active,
    keys.dead,
    keys.completed,
    keys.results,
    keys.queued,
  ],
  encode: encodeFind,
});

/**
 * How many waiting jobs are due between instants, those of so many lanes at a time.
 * Answers: where to go on, '' = no lane is left; for each instant but the last how many jobs of the lanes looked into
 * are due from it on and before the next one.
 * It only reads.
 */
export interface ForecastArguments {
  /** What every key of the queue begins with. */
  base: string;
  /** Where to go on, '' = from the start. */
  from: string;
  /** How many counts to take at about the most. */
  costLeft: number;
  /** Instants (epoch ms), the earliest first. */
  bounds: readonly ScriptArgument[];
}

export type ForecastReply = [next: string, ...counts: number[]];

const encodeForecast = (a: ForecastArguments): ScriptArgument[] => [a.base, a.from, a.costLeft, ...a.bounds];

/** Binds the script to the keys of a queue. */
export const forecastScript = (keys: QueueKeys): BoundScript<ForecastArguments, ForecastReply> => ({
  name: 'forecast',
  keys: [keys.levels],
  encode: encodeForecast,
});

/**
 * Which workers that are alive handle a name.
 * Answers: how many there are, and at most ten of those that were here last.
 * It only reads.
 */
export interface HandledArguments {
  /** What every key of the queue begins with. */
  base: string;
  /** Job name. */
  name: string;
  /** How long ago a worker may have been here last (ms). */
  withinMs: number;
}

export type HandledReply = [count: string, ...workers: string[]];

const encodeHandled = (a: HandledArguments): ScriptArgument[] => [a.base, a.name, a.withinMs];

/** Binds the script to the keys of a queue. */
export const handledScript = (keys: QueueKeys): BoundScript<HandledArguments, HandledReply> => ({
  name: 'handled',
  keys: [keys.workers],
  encode: encodeHandled,
});

/**
 * The first jobs of lanes, earliest first, of many priority levels at once.
 * Answers: whether the last of the levels read may have more heads; then for each level that was read its heads, a
 * due time (epoch ms) behind each.
 * It only reads.
 */
export interface HeadsArguments {
  /** What every key of the queue begins with. */
  base: string;
  /** From which due time, as ZRANGE takes it. */
  from: string;
  /** Up to which due time, as ZRANGE takes it. */
  to: string;
  /** The most heads of one level. */
  ofLevel: number;
  /** The most heads of all levels. */
  left: number;
  /** How many heads of the first level to pass over. */
  passOver: number;
  /** Levels, as the keys of their heads end, "<priority>" or "<priority>:<ending>". */
  levels: readonly ScriptArgument[];
}

export type HeadsReply = [isCut: '1' | '0', ...found: string[][]];

const encodeHeads = (a: HeadsArguments): ScriptArgument[] => [a.base, a.from, a.to, a.ofLevel, a.left, a.passOver, ...a.levels];

/** Binds the script to the keys of a queue. */
export const headsScript = (keys: QueueKeys): BoundScript<HeadsArguments, HeadsReply> => ({
  name: 'heads',
  keys: [keys.levels],
  encode: encodeHeads,
});

/**
 * All that is known of one job.
 * Answers: see jobs/known.lua, of one that was discarded or cancelled and is kept 'ended' and the text of
 * jobs/keep-ended.lua; nothing of an unknown job.
 * It only reads.
 */
export interface JobArguments {
  /** What every key of the queue begins with. */
  base: string;
  /** Job id. */
  id: string;
}

export type JobReply = [...known: string[]];

const encodeJob = (a: JobArguments): ScriptArgument[] => [a.base, a.id];

/** Binds the script to the keys of a queue. */
export const jobScript = (keys: QueueKeys): BoundScript<JobArguments, JobReply> => ({
  name: 'job',
  keys: [
    keys.jobs,
    keys.claims,
    keys.failures,
    keys.active,
    keys.dead,
    keys.completed,
    keys.results,
    keys.queued,
  ],
  encode: encodeJob,
});

/**
 * All that is known of some jobs, up to as many as one answer has room for.
 * Answers: what the script `job` answers for each job that was read, in order; the first one is always read.
 * It only reads.
 */
export interface JobsArguments {
  /** What every key of the queue begins with. */
  base: string;
  /** After how many no further job is read (bytes). */
  bytesLeft: number;
  /** Job ids. */
  ids: readonly ScriptArgument[];
}

export type JobsReply = string[][];

const encodeJobs = (a: JobsArguments): ScriptArgument[] => [a.base, a.bytesLeft, ...a.ids];

/** Binds the script to the keys of a queue. */
export const jobsScript = (keys: QueueKeys): BoundScript<JobsArguments, JobsReply> => ({
  name: 'jobs',
  keys: [
    keys.jobs,
    keys.claims,
    keys.failures,
    keys.active,
    keys.dead,
    keys.completed,
    keys.results,
    keys.queued,
  ],
  encode: encodeJobs,
});

/**
 * Waiting jobs of many lanes at once, each lane's by due time.
 * Answers: for each lane its jobs, a due time (epoch ms) behind each id.
 * It only reads.
 */
export interface LanesArguments {
  /** What every key of the queue begins with. */
  base: string;
  /** Only jobs due later than this (epoch ms), '-inf' for all. */
  after: string;
  /** How many of each lane. */
  count: number;
  /** Names of lanes, and how many of those jobs to pass over. Flat rows: name, passOver. */
  lanes: readonly ScriptArgument[];
}

export type LanesReply = string[][];

const encodeLanes = (a: LanesArguments): ScriptArgument[] => [a.base, a.after, a.count, ...a.lanes];

/** Binds the script to the keys of a queue. */
export const lanesScript = (keys: QueueKeys): BoundScript<LanesArguments, LanesReply> => ({
  name: 'lanes',
  keys: [keys.levels],
  encode: encodeLanes,
});

/**
 * How far the limits over all processes are used up.
 * Answers: how many jobs run, how many have started in the window, and when the first of those leaves it (epoch ms).
 * It only reads.
 */
export interface LimitsArguments {
  /** How long a start counts, 0 = there is no rate (ms). */
  rateWindowMs: number;
}

export type LimitsReply = [now: string, running: number, started: number, opensAt: string];

const encodeLimits = (a: LimitsArguments): ScriptArgument[] => [a.rateWindowMs];

/** Binds the script to the keys of a queue. */
export const limitsScript = (keys: QueueKeys): BoundScript<LimitsArguments, LimitsReply> => ({
  name: 'limits',
  keys: [keys.active, keys.rate],
  encode: encodeLimits,
});

/**
 * Note in the directory of queues that somebody uses some.
 * Answers: the time of Redis (epoch ms).
 * It notes the same.
 */
export interface NoteQueuesArguments {
  /** The queues. */
  names: readonly ScriptArgument[];
}

export type NoteQueuesReply = string;

const encodeNoteQueues = (a: NoteQueuesArguments): ScriptArgument[] => [...a.names];

/** Binds the script to the keys of a queue. */
export const noteQueuesScript = (keys: QueueKeys): BoundScript<NoteQueuesArguments, NoteQueuesReply> => ({
  name: 'note-queues',
  keys: [keys.queues],
  encode: encodeNoteQueues,
});

/**
 * Take the armed occurrence of a recurrence away, and arm none until somebody resumes it.
 * Answers: 0 where there is no such recurrence, or it is paused or has ended.
 * A repeated call is answered from its receipt.
 */
export interface PauseRecurrenceArguments {
  /** Id of the recurrence. */
  id: string;
  /** Why, '' where nobody says. */
  reason: string;
  /** How many discarded and cancelled jobs are kept, and for how long (see jobs/keep-ended.lua), '' = none. */
  keepEnded: string;
}

export type PauseRecurrenceReply = [status: string, now: string, isPaused: '1' | '0'];

const encodePauseRecurrence = (a: PauseRecurrenceArguments): ScriptArgument[] => [a.id, a.reason, a.keepEnded];

/** Binds the script to the keys of a queue. */
export const pauseRecurrenceScript = (keys: QueueKeys): NumberedScript<PauseRecurrenceArguments, PauseRecurrenceReply> => ({
  name: 'pause-recurrence',
  keys: [keys.jobs, keys.stats, keys.levels, keys.queued],
  encode: encodePauseRecurrence,
  isNumbered: true,
});

/**
 * Let no worker claim anything of the queue, for so long or until somebody resumes it. What runs goes on and is
 * settled.
 * Answers: until when (epoch ms, or 'inf'); the later of two calls holds, whichever pause ends first.
 * A repeated call is answered from its receipt.
 * The pause grows no longer by it.
 */
export interface PauseArguments {
  /** Whether Redis is a cluster. */
  clustered: boolean;
  /** For how long (ms). */
  pause: number | 'inf';
}

export type PauseReply = [status: string, now: string, ends: string];

const encodePause = (a: PauseArguments): ScriptArgument[] => [a.clustered ? 1 : 0, a.pause];

/** Binds the script to the keys of a queue. */
export const pauseScript = (keys: QueueKeys): NumberedScript<PauseArguments, PauseReply> => ({
  name: 'pause',
  keys: [keys.gate, keys.sleeping],
  encode: encodePause,
  isNumbered: true,
});

/**
 * Whether the queue is paused, and until when.
 * Answers: until when (epoch ms, or 'inf'), '' where it is not paused.
 * It only reads.
 */
export type PausedArguments = Record<string, never>;

export type PausedReply = string;

const encodePaused = (): ScriptArgument[] => [];

/** Binds the script to the keys of a queue. */
export const pausedScript = (keys: QueueKeys): BoundScript<PausedArguments, PausedReply> => ({
  name: 'paused',
  keys: [keys.gate],
  encode: encodePaused,
});

/**
 * Tell which commands of the other scripts this user may not run. A script that met such a command would have begun
 * to write.
 * Answers: commands, usually none. Those that only relays and streams of events use are not tried: without them
 * nothing is half done.
 * It leaves nothing behind.
 */
export interface PermissionsArguments {
  /** What every key of the queue begins with. */
  base: string;
}

export type PermissionsReply = [...missing: string[]];

const encodePermissions = (a: PermissionsArguments): ScriptArgument[] => [a.base];

/** Binds the script to the keys of a queue. */
export const permissionsScript = (keys: Pick<QueueKeys, 'base'>): BoundScript<PermissionsArguments, PermissionsReply> => ({
  name: 'permissions',
  keys: [`${keys.base}trial`],
  encode: encodePermissions,
});

/**
 * How many jobs the queue has, and how many of them stand where somebody finds them: in a lane that the index leads
 * to, under a lease, or among the dead. Each stands in one of these, so the numbers differ only where Redis has lost
 * something.
 * Answers: isKnown: 0 where another process is to ask, or there are more lanes.
 * It only reads.
 */
export interface PlacementArguments {
  /** What every key of the queue begins with. */
  base: string;
  /** How many lanes to look into at the most. */
  most: number;
  /** How long ago a session may have been here last (ms). */
  withinMs: number;
  /**
   * Id of the session that asks: only a session of the process that is first by name of those that are here gets an
   * answer; '' = always answered.
   */
  session: string;
}

export type PlacementReply = [isKnown: '1' | '0', jobs: number, placed: number];

const encodePlacement = (a: PlacementArguments): ScriptArgument[] => [a.base, a.most, a.withinMs, a.session];

/** Binds the script to the keys of a queue. */
export const placementScript = (keys: QueueKeys): BoundScript<PlacementArguments, PlacementReply> => ({
  name: 'placement',
  keys: [keys.jobs, keys.active, keys.dead, keys.levels, keys.workers],
  encode: encodePlacement,
});

/**
 * How many jobs wait at each priority, those of so many lanes at a time.
 * Answers: where to go on, '' = no lane is left; then three for each priority that was met: priority, waiting in the
 * lanes looked into, due of those.
 * It only reads.
 */
export interface PrioritiesArguments {
  /** What every key of the queue begins with. */
  base: string;
  /** Where to go on, '' = from the start. */
  from: string;
  /** How many lanes to look into at the most. */
  costLeft: number;
}

export type PrioritiesReply = [next: string, ...counts: (string | number)[]];

const encodePriorities = (a: PrioritiesArguments): ScriptArgument[] => [a.base, a.from, a.costLeft];

/** Binds the script to the keys of a queue. */
export const prioritiesScript = (keys: QueueKeys): BoundScript<PrioritiesArguments, PrioritiesReply> => ({
  name: 'priorities',
  keys: [keys.levels],
  encode: encodePriorities,
});

/**
 * Delete the oldest dead jobs that a filter wants, with all that is known of them.
 * Answers: "<how many were deleted> <1 where no other is left to look at, else 0> <place to go on at>".
 * A repeated call is answered from its receipt.
 */
export interface PurgeArguments {
  /** How many to look at at the most. */
  limit: number;
  /** Only those that died by then (epoch ms). */
  diedBy: number | '+inf';
  /** How many to delete at the most. */
  most: number;
  /** The place to begin at, '-inf 0 ' = the oldest. */
  from: string;
  /** Only those that died for this reason, '' = any. */
  reason: string;
  /** Only jobs of these names, none = any. */
  names: readonly ScriptArgument[];
}

export type PurgeReply = [status: string, now: string, result: string];

const encodePurge = (a: PurgeArguments): ScriptArgument[] => [a.limit, a.diedBy, a.most, a.from, a.reason, ...a.names];

/** Binds the script to the keys of a queue. */
export const purgeScript = (keys: QueueKeys): NumberedScript<PurgeArguments, PurgeReply> => ({
  name: 'purge',
  keys: [keys.jobs, keys.claims, keys.failures, keys.dead, keys.stats],
  encode: encodePurge,
  isNumbered: true,
});

/**
 * The next entries of the stream of events, up to about what one answer has room for. An entry may be as small as one
 * event, or have 64 KiB and more, so a step is bounded by bytes: on a slow link a larger answer would come too late,
 * and hold up other calls.
 * Answers: 1 if there may be further entries; three for each entry: id, head, events (see add-events.lua).
 * It only reads.
 */
export interface ReadEventsArguments {
  /** The id of the first entry, or '(' and the id of the entry before it; '-' = the oldest. */
  from: string;
}

export type ReadEventsReply = [more: '1' | '0', ...entries: string[]];

const encodeReadEvents = (a: ReadEventsArguments): ScriptArgument[] => [a.from];

/** Binds the script to the keys of a queue. */
export const readEventsScript = (keys: QueueKeys): BoundScript<ReadEventsArguments, ReadEventsReply> => ({
  name: 'read-events',
  keys: [keys.events],
  encode: encodeReadEvents,
});

/**
 * Walk through the ids of the recurrences that are listed.
 * Answers: where to go on, '0' = the walk is over; an id may come twice.
 * It only reads.
 */
export interface RecurrenceIdsArguments {
  /** Where to go on, '0' = from the start. */
  cursor: string;
  /** About how many to look at. */
  limit: number;
}

export type RecurrenceIdsReply = [next: string, ...ids: string[]];

const encodeRecurrenceIds = (a: RecurrenceIdsArguments): ScriptArgument[] => [a.cursor, a.limit];

/** Binds the script to the keys of a queue. */
export const recurrenceIdsScript = (keys: QueueKeys): BoundScript<RecurrenceIdsArguments, RecurrenceIdsReply> => ({
  name: 'recurrence-ids',
  keys: [keys.timetable],
  encode: encodeRecurrenceIds,
});

/**
 * Read recurrences.
 * Answers: two for each id: its record, its state; '' for one that there is not, or that is not listed.
 * It only reads.
 */
export interface RecurrencesArguments {
  /** Of the recurrences. */
  ids: readonly ScriptArgument[];
}

export type RecurrencesReply = [...found: string[]];

const encodeRecurrences = (a: RecurrencesArguments): ScriptArgument[] => [...a.ids];

/** Binds the script to the keys of a queue. */
export const recurrencesScript = (keys: QueueKeys): BoundScript<RecurrencesArguments, RecurrencesReply> => ({
  name: 'recurrences',
  keys: [keys.recurrences, keys.timetable],
  encode: encodeRecurrences,
});

/**
 * Give recurrences the next instants that a process has reckoned, and arm those that waited for them.
 * Answers: ids whose instants run short still.
 * A repeated call is answered from its receipt.
 * It tells none.
 */
export interface RefillArguments {
  /** Whether Redis is a cluster. */
  clustered: boolean;
  /** How late a job must be before any worker may take it from the one that it prefers (ms). */
  stealAfterMs: number;
  /** The version of the time-zone data by which they were reckoned. */
  zones: string;
  /** When, by this Redis' clock (epoch ms). */
  reckonedAt: number;
  /** How many discarded and cancelled jobs are kept, and for how long (see jobs/keep-ended.lua), '' = none. */
  keepEnded: string;
  /**
   * What `tend` has told; how many instants before the first of the list are left out, all of them missed; the list.
   * Flat rows: id, version, how, from, skipped, list.
   */
  rows: readonly ScriptArgument[];
}

export type RefillReply = [status: string, now: string, ...short: string[]];

const encodeRefill = (a: RefillArguments): ScriptArgument[] => [
  a.clustered ? 1 : 0,
  a.stealAfterMs,
  a.zones,
  a.reckonedAt,
  a.keepEnded,
  ...a.rows,
];

/** Binds the script to the keys of a queue. */
export const refillScript = (keys: QueueKeys): NumberedScript<RefillArguments, RefillReply> => ({
  name: 'refill',
  keys: [
    keys.jobs,
    keys.usedIds,
    keys.stats,
    keys.completed,
    keys.results,
    keys.levels,
    keys.sleeping,
    keys.queued,
    keys.active,
    keys.dead,
  ],
  encode: encodeRefill,
  isNumbered: true,
});

/**
 * Note the names that a group of workers handles, in as many calls as they need.
 * Answers: how many names are noted.
 * It changes nothing.
 */
export interface RegisterArguments {
  /** How long the names are kept unless noted again (ms). */
  keepMs: number;
  /** In the first call how many names there are, 0 in the others. */
  size: number;
  /** Names. */
  names: readonly ScriptArgument[];
}

export type RegisterReply = number;

const encodeRegister = (a: RegisterArguments): ScriptArgument[] => [a.keepMs, a.size, ...a.names];

/** Binds the script to the keys of a queue. */
export const registerScript = (keys: QueueKeys, names: { group: string }): BoundScript<RegisterArguments, RegisterReply> => ({
  name: 'register',
  keys: [keys.sleeping, `${keys.base}handles:${names.group}`],
  encode: encodeRegister,
});

/**
 * One round trip of a session that moves due jobs to a stream or a list of the caller's: recover jobs whose leases
 * have run out, move due jobs, and learn when to look again. A moved job is gone from the queue, counted as started
 * and completed: there is no lease, nothing to settle, and nothing that a crash leaves in between.
 * Answers: five for each job whose lease had run out: id, name, attempt, 'waiting' | 'cancelled' | the reason it is
 * dead for, the worker that held it ('' = not known); five for each late job: id, name, attempts begun, how late
 * (ms), its late rule's letter; four for each job that died because its envelope is missing or unreadable: id, name,
 * attempts begun, the reason; two for each dead job that was pushed out: id, name; when to look again (epoch ms, 0 =
 * when there is capacity); where to go on looking; three for each occurrence of a recurrence that ended because its
 * policy leaves it out: id, name, 'missed' | 'overlap'; when the queue's recurrences are to be tended (epoch ms, '' =
 * it has none, '-' = this turn did not look); ids of recurrences that are to be tended at once. The time has µs
 * behind the point. {'refused', now, type} where the target is of another type: nothing has moved.
 * A repeated call is answered from its receipt.
 * Jobs that were moved are not moved again, and nothing is told.
 */
export interface RelayArguments {
  /** Whether Redis is a cluster. */
  clustered: boolean;
  /** Who takes the turn. */
  session: string;
  /** The sessions that take the same names. */
  group: string;
  /** How many names the group handles. */
  groupSize: number;
  /** For how long a session that was seen counts as there (ms). */
  leaseMs: number;
  /** The longest time until the session looks again (ms). */
  maxSleepMs: number;
  /** How many jobs to move at most, 0 = none, at most 1000. */
  limit: number;
  /** How much of envelopes to move at most (bytes). */
  maxBytes: number;
  /** Where to go on looking, '' = from the start. */
  cursor: string;
  /** Whether the session hears messages. */
  canHear: boolean;
  /** Whether it goes on looking after this turn. */
  standing: 'stays' | 'goes';
  /** How long a chosen id is remembered (ms). */
  keepIdsMs: number;
  /** How many completed jobs are kept. */
  keepCompletedCount: number;
  /** And for how long, 0 = for ever (ms). */
  keepCompletedAgeMs: number;
  /** How many dead jobs are kept. */
  keepDeadCount: number;
  /** And for how long, 0 = for ever (ms). */
  keepDeadAgeMs: number;
  /** How often a job's lease may run out before it is dead. */
  maxCrashes: number;
  /** Whether to list the session in `workers`, to take it off, or neither. */
  presence: 'here' | 'gone' | '';
  /**
   * "<pid> <traits> <host>" of the session; where its entry in `workers` has another text now, a line break and that
   * text.
   */
  host: string;
  /** In what time a waiting job grows more urgent by one level, 0 = never (ms). */
  msPerLevel: number;
  /** How late a job must be before any worker may take it from the one that it prefers (ms). */
  stealAfterMs: number;
  /** How many jobs may run at once over all processes, 0 = any; moved ones do not count. */
  globalConcurrency: number;
  /** How many may start over all processes, 0 = any. */
  rateMax: number;
  /** Within how long (ms). */
  rateWindowMs: number;
  /** What the target is. */
  targetType: 'stream' | 'list';
  /** How many entries a stream is to keep, about, 0 = any. */
  maxLength: number;
  /** How many discarded and cancelled jobs are kept, and for how long (see jobs/keep-ended.lua), '' = none. */
  keepEnded: string;
}

export type RelayReply = [status: string, now: string, recovered: string[], late: string[], missing: string[], dropped: string[], lookAt: string, cursor: string, leftOut: string[], tendAt: string, short: string[]];

const encodeRelay = (a: RelayArguments): ScriptArgument[] => [
  a.clustered ? 1 : 0,
  a.session,
  a.group,
  a.groupSize,
  a.leaseMs,
  a.maxSleepMs,
  a.limit,
  a.maxBytes,
  a.cursor,
  a.canHear ? 1 : 0,
  a.standing,
  a.keepIdsMs,
  a.keepCompletedCount,
  a.keepCompletedAgeMs,
  a.keepDeadCount,
  a.keepDeadAgeMs,
  a.maxCrashes,
  a.presence,
  a.host,
  a.msPerLevel,
  a.stealAfterMs,
  a.globalConcurrency,
  a.rateMax,
  a.rateWindowMs,
  a.targetType,
  a.maxLength,
  a.keepEnded,
];

/** Binds the script to the keys of a queue. */
export const relayScript = (keys: QueueKeys, names: { group: string; target: string }): NumberedScript<RelayArguments, RelayReply> => ({
  name: 'relay',
  keys: [
    keys.jobs,
    keys.claims,
    keys.failures,
    keys.active,
    keys.dead,
    keys.completed,
    keys.results,
    keys.usedIds,
    keys.stats,
    keys.levels,
    keys.sleeping,
    keys.served,
    keys.workers,
    keys.gate,
    keys.blackouts,
    keys.rate,
    keys.offers,
    keys.queued,
    `${keys.base}handles:${names.group}`,
    `${keys.base}sleepers:${names.group}`,
    names.target,
  ],
  encode: encodeRelay,
  isNumbered: true,
});

/**
 * Delete a recurrence that a process of this app once declared, if no live one does. What runs goes on.
 * Answers: 0 if it is no orphan of the app, or no more.
 * A repeated call is answered from its receipt.
 */
export interface RemoveOrphanArguments {
  /** Whose orphan it is. */
  app: string;
  /** After how long without a live process that declares it a recurrence is an orphan (ms). */
  orphanAfterMs: number;
  /** Id of the recurrence. */
  id: string;
  /** How many discarded and cancelled jobs are kept, and for how long (see jobs/keep-ended.lua), '' = none. */
  keepEnded: string;
}

export type RemoveOrphanReply = [status: string, now: string, isRemoved: '1' | '0'];

const encodeRemoveOrphan = (a: RemoveOrphanArguments): ScriptArgument[] => [a.app, a.orphanAfterMs, a.id, a.keepEnded];

/** Binds the script to the keys of a queue. */
export const removeOrphanScript = (keys: QueueKeys): NumberedScript<RemoveOrphanArguments, RemoveOrphanReply> => ({
  name: 'remove-orphan',
  keys: [keys.jobs, keys.stats, keys.levels, keys.queued, keys.gate],
  encode: encodeRemoveOrphan,
  isNumbered: true,
});

/**
 * Delete a recurrence and its armed occurrence. What runs goes on.
 * Answers: 'declared': somebody declares it, and nothing has changed.
 * A repeated call is answered from its receipt.
 */
export interface RemoveRecurrenceArguments {
  /** Id of the recurrence. */
  id: string;
  /** How many discarded and cancelled jobs are kept, and for how long (see jobs/keep-ended.lua), '' = none. */
  keepEnded: string;
}

export type RemoveRecurrenceReply = [status: string, now: string, status: 'removed' | 'unknown' | 'declared'];

const encodeRemoveRecurrence = (a: RemoveRecurrenceArguments): ScriptArgument[] => [a.id, a.keepEnded];

/** Binds the script to the keys of a queue. */
export const removeRecurrenceScript = (keys: QueueKeys): NumberedScript<RemoveRecurrenceArguments, RemoveRecurrenceReply> => ({
  name: 'remove-recurrence',
  keys: [keys.jobs, keys.stats, keys.levels, keys.queued, keys.gate],
  encode: encodeRemoveRecurrence,
  isNumbered: true,
});

/**
 * Delete one job that does not run: a waiting one, which counts as cancelled, a dead one, or one that is kept though
 * it has completed, was discarded or was cancelled. Nothing is kept of it.
 * Answers: 0 if the job runs or is not there.
 * A repeated call is answered from its receipt.
 */
export interface RemoveArguments {
  /** Job id. */
  id: string;
}

export type RemoveReply = [status: string, now: string, isRemoved: '1' | '0'];

const encodeRemove = (a: RemoveArguments): ScriptArgument[] => [a.id];

/** Binds the script to the keys of a queue. */
export const removeScript = (keys: QueueKeys): NumberedScript<RemoveArguments, RemoveReply> => ({
  name: 'remove',
  keys: [
    keys.jobs,
    keys.claims,
    keys.failures,
    keys.usedIds,
    keys.stats,
    keys.levels,
    keys.dead,
    keys.completed,
    keys.results,
    keys.queued,
  ],
  encode: encodeRemove,
  isNumbered: true,
});

/**
 * Schedule one job, or put it in the place of the job that has its id: at once where that job waits or is dead, after
 * the run where it runs.
 * Answers: `due` of the job that has the id now, but for 'e'. Letters: '1' created, `besides` 'dead' where a dead job
 * was pushed out; 'r' a waiting job was replaced; 'q' queued behind a running job; 't' a job of another name,
 * `besides`, waits, runs or is dead; 'e' a made id whose job was created before, and has ended.
 * A repeated call is answered from its receipt.
 */
export interface ReplaceArguments {
  /** Whether Redis is a cluster. */
  clustered: boolean;
  /** How late a job must be before any worker may take it from the one that it prefers (ms). */
  stealAfterMs: number;
  /** Job id. */
  id: string;
  /** How the id was chosen; 'm' in the form of a made one. */
  chosen: 'c' | 'm';
  /** The first line of the envelope. */
  route: string;
  /** > 0: at, epoch ms; <= 0: minus the delay in ms. */
  dueOrDelay: number;
  /** The envelope from its flags on. */
  rest: string | Buffer;
}

export type ReplaceReply = [status: string, now: string, letter: string, due?: string, besides?: string];

const encodeReplace = (a: ReplaceArguments): ScriptArgument[] => [
  a.clustered ? 1 : 0,
  a.stealAfterMs,
  a.id,
  a.chosen,
  a.route,
  a.dueOrDelay,
  a.rest,
];

/** Binds the script to the keys of a queue. */
export const replaceScript = (keys: QueueKeys): NumberedScript<ReplaceArguments, ReplaceReply> => ({
  name: 'replace',
  keys: [
    keys.jobs,
    keys.claims,
    keys.failures,
    keys.active,
    keys.dead,
    keys.usedIds,
    keys.stats,
    keys.completed,
    keys.results,
    keys.levels,
    keys.sleeping,
    keys.queued,
  ],
  encode: encodeReplace,
  isNumbered: true,
});

/**
 * Put dead jobs back into their lanes, to run from attempt 1 again; their failures stay with them. One job, or the
 * oldest that a filter wants.
 * Answers: "<how many were put back> <1 where no other is left to look at, else 0> <place to go on at>".
 * A repeated call is answered from its receipt.
 */
export interface ReplayArguments {
  /** Whether Redis is a cluster. */
  clustered: boolean;
  /** How late a job must be before any worker may take it from the one that it prefers (ms). */
  stealAfterMs: number;
  /** Of the first, > 0: at, epoch ms; <= 0: minus the delay in ms. */
  dueOrDelay: number;
  /** How much later each next one is due; may have a fraction (ms). */
  spacing: number;
  /** How many the calls before this one have put back, which are due before. */
  replayed: number;
  /** Job id, or '' for the oldest. */
  id: string;
  /** How many to look at at the most. */
  limit: number;
  /** Only those that died by then (epoch ms). */
  diedBy: number | '+inf';
  /** How many to put back at the most. */
  most: number;
  /** The place to begin at, '-inf 0 ' = the oldest. */
  from: string;
  /** Only those that died for this reason, '' = any. */
  reason: string;
  /** Only jobs of these names, none = any. */
  names: readonly ScriptArgument[];
}

export type ReplayReply = [status: string, now: string, result: string];

const encodeReplay = (a: ReplayArguments): ScriptArgument[] => [
  a.clustered ? 1 : 0,
  a.stealAfterMs,
  a.dueOrDelay,
  a.spacing,
  a.replayed,
  a.id,
  a.limit,
  a.diedBy,
  a.most,
  a.from,
  a.reason,
  ...a.names,
];

/** Binds the script to the keys of a queue. */
export const replayScript = (keys: QueueKeys): NumberedScript<ReplayArguments, ReplayReply> => ({
  name: 'replay',
  keys: [keys.jobs, keys.claims, keys.failures, keys.dead, keys.levels, keys.sleeping],
  encode: encodeReplay,
  isNumbered: true,
});

/**
 * Give a waiting job, or the one that is queued behind a running job, another due time.
 * Answers: 1 if the job was waiting or queued and is now due then; 0 if it had started, ended or was never there.
 * A repeated call is answered from its receipt.
 */
export interface RescheduleArguments {
  /** Whether Redis is a cluster. */
  clustered: boolean;
  /** How late a job must be before any worker may take it from the one that it prefers (ms). */
  stealAfterMs: number;
  /** Job id. */
  id: string;
  /** > 0: at, epoch ms; <= 0: minus the delay in ms. */
  dueOrDelay: number;
}

export type RescheduleReply = [status: string, now: string, isMoved: '1' | '0'];

const encodeReschedule = (a: RescheduleArguments): ScriptArgument[] => [a.clustered ? 1 : 0, a.stealAfterMs, a.id, a.dueOrDelay];

/** Binds the script to the keys of a queue. */
export const rescheduleScript = (keys: QueueKeys): NumberedScript<RescheduleArguments, RescheduleReply> => ({
  name: 'reschedule',
  keys: [keys.jobs, keys.levels, keys.sleeping, keys.queued],
  encode: encodeReschedule,
  isNumbered: true,
});

/**
 * Arm the first occurrence after now of a recurrence that is paused. The time of the pause is not missed.
 * Answers: 0 where it is not paused; whether its instants run short, so that none could be armed perhaps: it is to be
 * tended at once.
 * A repeated call is answered from its receipt.
 */
export interface ResumeRecurrenceArguments {
  /** Whether Redis is a cluster. */
  clustered: boolean;
  /** How late a job must be before any worker may take it from the one that it prefers (ms). */
  stealAfterMs: number;
  /** Id of the recurrence. */
  id: string;
  /** How many discarded and cancelled jobs are kept, and for how long (see jobs/keep-ended.lua), '' = none. */
  keepEnded: string;
}

export type ResumeRecurrenceReply = [status: string, now: string, isResumed: '1' | '0', isShort: '1' | '0'];

const encodeResumeRecurrence = (a: ResumeRecurrenceArguments): ScriptArgument[] => [a.clustered ? 1 : 0, a.stealAfterMs, a.id, a.keepEnded];

/** Binds the script to the keys of a queue. */
export const resumeRecurrenceScript = (keys: QueueKeys): NumberedScript<ResumeRecurrenceArguments, ResumeRecurrenceReply> => ({
  name: 'resume-recurrence',
  keys: [
    keys.jobs,
    keys.usedIds,
    keys.stats,
    keys.completed,
    keys.results,
    keys.levels,
    keys.sleeping,
    keys.queued,
    keys.gate,
  ],
  encode: encodeResumeRecurrence,
  isNumbered: true,
});

/**
 * Let workers claim again.
 * Answers: whether the queue was paused.
 * A repeated call is answered from its receipt.
 */
export interface ResumeArguments {
  /** Whether Redis is a cluster. */
  clustered: boolean;
}

export type ResumeReply = [status: string, now: string, wasPaused: '1' | '0'];

const encodeResume = (a: ResumeArguments): ScriptArgument[] => [a.clustered ? 1 : 0];

/** Binds the script to the keys of a queue. */
export const resumeScript = (keys: QueueKeys): NumberedScript<ResumeArguments, ResumeReply> => ({
  name: 'resume',
  keys: [keys.gate, keys.sleeping],
  encode: encodeResume,
  isNumbered: true,
});

/**
 * Add an occurrence beside the rule, due now; its instant is now, or the first millisecond after it that no job has.
 * Answers: its id, '' where there is no such recurrence; when it is due, epoch ms; its name.
 * A repeated call is answered from its receipt.
 */
export interface RunRecurrenceArguments {
  /** Whether Redis is a cluster. */
  clustered: boolean;
  /** How late a job must be before any worker may take it from the one that it prefers (ms). */
  stealAfterMs: number;
  /** Id of the recurrence. */
  id: string;
}

export type RunRecurrenceReply = [status: string, now: string, jobId: string, due: string, name: string];

const encodeRunRecurrence = (a: RunRecurrenceArguments): ScriptArgument[] => [a.clustered ? 1 : 0, a.stealAfterMs, a.id];

/** Binds the script to the keys of a queue. */
export const runRecurrenceScript = (keys: QueueKeys): NumberedScript<RunRecurrenceArguments, RunRecurrenceReply> => ({
  name: 'run-recurrence',
  keys: [
    keys.jobs,
    keys.usedIds,
    keys.stats,
    keys.completed,
    keys.results,
    keys.levels,
    keys.sleeping,
  ],
  encode: encodeRunRecurrence,
  isNumbered: true,
});

/**
 * Add jobs to their lanes. A job whose id is known already, or ended lately, is not added, and the answer tells which
 * it is.
 * Answers: when the call was taken in; a letter for each job; for each letter but '1' and 'e' the due time of the job
 * that is there, of 't' also its name, behind a space. Letters: '1' created; under a known id 'w' a job waits, 'a'
 * one runs, 'd' one is dead, 'e' one ended lately, 't' a job of another name waits, runs or is dead.
 * A repeated call is answered from its receipt.
 * The receipt answers even when the job has run and is gone by then. Where an eviction has taken the receipt, jobs
 * with made ids are written again.
 */
export interface ScheduleArguments {
  /** Whether Redis is a cluster. */
  clustered: boolean;
  /** How late a job must be before any worker may take it from the one that it prefers (ms). */
  stealAfterMs: number;
  /** The lowest id that this call's maker made for it, '-' = none. */
  lowestMade: string;
  /** The highest of these. */
  highestMade: string;
  /**
   * Jobs that differ in id and in the end of the envelope alone come as one row: how many; how their ids were chosen
   * ('' made by this caller, 'c' by the user, 'm' by the user in the form of a made one); route of the envelope; due (>
   * 0: at, epoch ms; <= 0: minus the delay in ms); the middle, which follows the time; then their ids, made ones, all
   * of one length, joined into one argument; then the ends of their envelopes. Flat rows: count, chosen, route, due,
   * middle, ids, ends.
   */
  rows: readonly ScriptArgument[];
}

export type ScheduleReply = [status: string, now: string, takenAt: string, letters: string, ...duplicates: string[]];

const encodeSchedule = (a: ScheduleArguments): ScriptArgument[] => [a.clustered ? 1 : 0, a.stealAfterMs, a.lowestMade, a.highestMade, ...a.rows];

/** Binds the script to the keys of a queue. */
export const scheduleScript = (keys: QueueKeys): NumberedScript<ScheduleArguments, ScheduleReply> => ({
  name: 'schedule',
  keys: [
    keys.jobs,
    keys.claims,
    keys.usedIds,
    keys.stats,
    keys.completed,
    keys.results,
    keys.levels,
    keys.sleeping,
  ],
  encode: encodeSchedule,
  isNumbered: true,
});

/**
 * Put other blackouts in the place of those of a queue, or keep the list and compute its blackouts further ahead.
 * Answers: '0' where another list has come since that version.
 * A repeated call is answered from its receipt.
 */
export interface SetBlackoutsArguments {
  /** Whether Redis is a cluster. */
  clustered: boolean;
  /** The list as its caller gave it, JSON without a line break; '' = none. */
  rules: string;
  /** Whose blackouts these are, as `blackouts` tells it; '' = of a new list. */
  version: string;
  /**
   * "<from> <to>" of each blackout, those of the last day included (epoch ms; `to` 'inf' of the last one where more are
   * to be computed), in order and disjoint, with spaces between them.
   */
  windows: string;
  /** When more are to be computed (epoch ms), 0 = never. */
  moreAt: number;
}

export type SetBlackoutsReply = [status: string, now: string, isSet: '1' | '0'];

const encodeSetBlackouts = (a: SetBlackoutsArguments): ScriptArgument[] => [a.clustered ? 1 : 0, a.rules, a.version, a.windows, a.moreAt];

/** Binds the script to the keys of a queue. */
export const setBlackoutsScript = (keys: QueueKeys): NumberedScript<SetBlackoutsArguments, SetBlackoutsReply> => ({
  name: 'set-blackouts',
  keys: [keys.gate, keys.blackouts, keys.blackoutRules, keys.sleeping],
  encode: encodeSetBlackouts,
  isNumbered: true,
});

/**
 * Move the due times of the next jobs that carry a tag, and wait or are queued behind running ones.
 * Answers: "<index after which to go on> <last index> <when the first step was taken> <how many were moved>".
 * A repeated call is answered from its receipt.
 */
export interface ShiftTaggedArguments {
  /** Whether Redis is a cluster. */
  clustered: boolean;
  /** How late a job must be before any worker may take it from the one that it prefers (ms). */
  stealAfterMs: number;
  /** The index in the tag after which to begin, '0' = at the first. */
  from: string;
  /** The last index to look at, '' = that of the last job there is now. */
  last: string;
  /** When the first step was taken, 0 = now (epoch ms). */
  began: number;
  /** How many jobs to look at at the most. */
  limit: number;
  /** How much later they are to be due, below 0: earlier (ms). */
  byMs: number;
}

export type ShiftTaggedReply = [status: string, now: string, result: string];

const encodeShiftTagged = (a: ShiftTaggedArguments): ScriptArgument[] => [a.clustered ? 1 : 0, a.stealAfterMs, a.from, a.last, a.began, a.limit, a.byMs];

/** Binds the script to the keys of a queue. */
export const shiftTaggedScript = (keys: QueueKeys, names: { tag: string }): NumberedScript<ShiftTaggedArguments, ShiftTaggedReply> => ({
  name: 'shift-tagged',
  keys: [
    keys.jobs,
    keys.levels,
    keys.sleeping,
    `${keys.base}tag:${names.tag}`,
    keys.queued,
  ],
  encode: encodeShiftTagged,
  isNumbered: true,
});

/**
 * Look after the next recurrences of a walk through all, and after those that are named: arm what is not armed though
 * it should be, forget what ended a day ago, find what Redis has lost of them, and tell whose instants a process has
 * to reckon.
 * Answers: where the walk is to go on, '' = it is over; when the next is to begin, epoch ms, '' = the queue has
 * nothing to tend; six for each recurrence whose instants are to be reckoned: id, version, 'more' | 'zones', from
 * when on, the wall time of that instant ('zones', 0 = not known), its rule; ids of those that go on after now
 * because their states were lost; ids of those that cannot go on because their records were.
 * A repeated call is answered from its receipt.
 * It looks after nothing again.
 */
export interface TendArguments {
  /** Whether Redis is a cluster. */
  clustered: boolean;
  /** How late a job must be before any worker may take it from the one that it prefers (ms). */
  stealAfterMs: number;
  /** Where the walk is to go on, '' = begin one if it is time for that. */
  cursor: string;
  /** About how many to look at. */
  limit: number;
  /** How long after a walk has begun the next one is to begin (ms). */
  everyMs: number;
  /** The version of the caller's time-zone data. */
  zones: string;
  /** Recurrences to look after besides. */
  ids: readonly ScriptArgument[];
}

export type TendReply = [status: string, now: string, next: string, tendAt: string, needs: string[], lostStates: string[], lostRecords: string[]];

const encodeTend = (a: TendArguments): ScriptArgument[] => [
  a.clustered ? 1 : 0,
  a.stealAfterMs,
  a.cursor,
  a.limit,
  a.everyMs,
  a.zones,
  ...a.ids,
];

/** Binds the script to the keys of a queue. */
export const tendScript = (keys: QueueKeys): NumberedScript<TendArguments, TendReply> => ({
  name: 'tend',
  keys: [
    keys.jobs,
    keys.usedIds,
    keys.stats,
    keys.completed,
    keys.results,
    keys.levels,
    keys.sleeping,
    keys.active,
    keys.dead,
    keys.gate,
  ],
  encode: encodeTend,
  isNumbered: true,
});

/**
 * One round trip of a session that runs jobs, a worker or a pull: settle, renew, recover jobs whose leases have run
 * out, claim due jobs, and learn when to look again.
 * Answers: a digit for each settlement in order (1 = its lease was still held; 2 = it was, and the job was cancelled
 * instead; 3 = it was, and the job that was queued behind it has taken its place; 4 = it was, and the job has ended
 * as cancelled, as the one that was queued behind it was cancelled); ids of leases that are lost; ids of renewed jobs
 * that are to be cancelled; five for each job whose lease had run out: id, name, attempt, 'waiting' | 'cancelled' |
 * the reason it is dead for, the worker that held it ('' = not known); five for each late job: id, name, attempts
 * begun, how late (ms), its late rule's letter; four for each job that died because its envelope is missing or
 * unreadable: id, name, attempts begun, the reason; two for each dead job that was pushed out: id, name; when to look
 * again (epoch ms, 0 = when there is capacity); the fence and behind it 'u' where none of the claimed jobs may begin
 * before their leases have been renewed, 'o' where their leases are over and they are to be given back; where to go
 * on looking; '1' if another session was the last to fill a limit of sixteen or more, else ''; 'reserved' if this
 * process is kept for a suspect, 'taken' if what it claimed is one, 'waits' if there are suspects that this turn
 * could not take because its process holds something, else ''; three for each occurrence of a recurrence that ended
 * because its policy leaves it out: id, name, 'missed' | 'overlap'; when the queue's recurrences are to be tended
 * (epoch ms, '' = it has none, '-' = this turn did not look); ids of recurrences that are to be tended at once; three
 * for each claimed job: id, due and, unless it is its first claim, attempt and crashes, envelope. The time has µs
 * behind the point.
 * A repeated call is answered from its receipt.
 * Settlements are answered from the receipt, and the jobs claimed then are handed out again, without envelopes where
 * their leases are over by then. Of renewals nothing is told, and jobs that had been recovered, were late, missing or
 * pushed out are not told again.
 */
export interface TurnArguments {
  /** Whether Redis is a cluster. */
  clustered: boolean;
  /** Who takes the turn. */
  session: string;
  /** The sessions that take the same names. */
  group: string;
  /** How many names the group handles. */
  groupSize: number;
  /** How long a claimed job belongs to its session (ms). */
  leaseMs: number;
  /** The longest time until the session looks again (ms). */
  maxSleepMs: number;
  /** What weight of jobs to claim at most, 0 = none, at most 1000. */
  limit: number;
  /** How much of envelopes to claim at most (bytes). */
  maxBytes: number;
  /** Where to go on looking, '' = from the start. */
  cursor: string;
  /** Whether the session hears messages. */
  canHear: boolean;
  /** Whether it goes on looking after this turn. */
  standing: 'stays' | 'until-claimed' | 'goes';
  /** How long a chosen id is remembered (ms). */
  keepIdsMs: number;
  /** How many completed jobs are kept. */
  keepCompletedCount: number;
  /** And for how long, 0 = for ever (ms). */
  keepCompletedAgeMs: number;
  /** How many dead jobs are kept. */
  keepDeadCount: number;
  /** And for how long, 0 = for ever (ms). */
  keepDeadAgeMs: number;
  /** How often a job's lease may run out before it is dead. */
  maxCrashes: number;
  /** Whether to list the session in `workers`, to take it off, or neither. */
  presence: 'here' | 'gone' | '';
  /**
   * "<pid> <traits> <host>" of the session; where its entry in `workers` has another text now, a line break and that
   * text.
   */
  host: string;
  /** In what time a waiting job grows more urgent by one level, 0 = never (ms). */
  msPerLevel: number;
  /** How late a job must be before any worker may take it from the one that it prefers (ms). */
  stealAfterMs: number;
  /** How many jobs may run at once over all processes, 0 = any. */
  globalConcurrency: number;
  /** How many may start over all processes, 0 = any. */
  rateMax: number;
  /** Within how long (ms). */
  rateWindowMs: number;
  /** What this turn wishes of suspects, jobs that run alone (see turn/claim/suspects.lua). */
  wish: string;
  /** How many discarded and cancelled jobs are kept, and for how long (see jobs/keep-ended.lua), '' = none. */
  keepEnded: string;
  /** Jobs that completed and leave nothing behind; the fence is '' for that of the one before. */
  completed: { id: readonly ScriptArgument[]; fence: readonly ScriptArgument[] };
  /**
   * How other jobs ended; two fields depend on it (see turn/settle/other-settlements.lua). Flat rows: transition, id,
   * fence, first, second.
   */
  others: readonly ScriptArgument[];
  /** Leases to renew. Flat rows: id, fence. */
  renewals: readonly ScriptArgument[];
  /** The progress of running jobs, as JSON. Flat rows: id, fence, value. */
  reports: readonly ScriptArgument[];
  /**
   * Names that have a weight or a limit of their own, and how many more may run here. Flat rows: name, weight, free.
   */
  limits: readonly ScriptArgument[];
}

export type TurnReply = [status: string, now: string, bits: string, lost: string[], toCancel: string[], recovered: string[], late: string[], missing: string[], dropped: string[], lookAt: string, fence: string, cursor: string, isContended: '1' | '', suspect: 'reserved' | 'taken' | 'waits' | '', leftOut: string[], tendAt: string, short: string[], ...claimed: string[]];

const encodeTurn = (a: TurnArguments): ScriptArgument[] => [
  a.clustered ? 1 : 0,
  a.session,
  a.group,
  a.groupSize,
  a.leaseMs,
  a.maxSleepMs,
  a.limit,
  a.maxBytes,
  a.cursor,
  a.canHear ? 1 : 0,
  a.standing,
  a.keepIdsMs,
  a.keepCompletedCount,
  a.keepCompletedAgeMs,
  a.keepDeadCount,
  a.keepDeadAgeMs,
  a.maxCrashes,
  a.presence,
  a.host,
  a.msPerLevel,
  a.stealAfterMs,
  a.globalConcurrency,
  a.rateMax,
  a.rateWindowMs,
  a.wish,
  a.keepEnded,
  a.completed.id.length,
  ...a.completed.id,
  ...a.completed.fence,
  a.others.length / 5,
  ...a.others,
  a.renewals.length / 2,
  ...a.renewals,
  a.reports.length / 3,
  ...a.reports,
  a.limits.length / 3,
  ...a.limits,
];

/** Binds the script to the keys of a queue. */
export const turnScript = (keys: QueueKeys, names: { group: string }): NumberedScript<TurnArguments, TurnReply> => ({
  name: 'turn',
  keys: [
    keys.jobs,
    keys.claims,
    keys.failures,
    keys.active,
    keys.dead,
    keys.completed,
    keys.results,
    keys.usedIds,
    keys.stats,
    keys.levels,
    keys.sleeping,
    keys.served,
    keys.fence,
    keys.workers,
    keys.gate,
    keys.blackouts,
    keys.rate,
    keys.reservations,
    keys.offers,
    keys.queued,
    `${keys.base}handles:${names.group}`,
    `${keys.base}sleepers:${names.group}`,
  ],
  encode: encodeTurn,
  isNumbered: true,
});

/**
 * Make a recurrence and arm its first occurrence, or change it.
 * Answers: 'declared' where it is and `owner` is empty: nothing has changed; 'again' where the instants do not tell
 * the first one after `nextAt`: nothing has changed either. Else `nextAt` is the nominal instant of the next
 * occurrence, epoch ms, 0 where none is to come.
 * A repeated call is answered from its receipt.
 */
export interface UpsertRecurrenceArguments {
  /** Whether Redis is a cluster. */
  clustered: boolean;
  /** How late a job must be before any worker may take it from the one that it prefers (ms). */
  stealAfterMs: number;
  /** Id of the recurrence. */
  id: string;
  /** The numbers of its record (see recur/record.lua), but for the version. */
  head: string;
  /** Who declares it, '' where a caller upserts it. */
  owner: string;
  /** The rule, as JSON. */
  ruleText: string;
  /** The first line of the envelope of each occurrence. */
  route: string;
  /** What follows the time of creation in it. */
  rest: string | Buffer;
  /** The version of the time-zone data by which the instants were reckoned. */
  zones: string;
  /** From when on (epoch ms). */
  reckonedFrom: number;
  /** The instants, '-' where this script is to reckon them. */
  list: string;
  /** How many discarded and cancelled jobs are kept, and for how long (see jobs/keep-ended.lua), '' = none. */
  keepEnded: string;
}

export type UpsertRecurrenceReply = [status: string, now: string, status: 'created' | 'changed' | 'unchanged' | 'declared' | 'again', nextAt: string];

const encodeUpsertRecurrence = (a: UpsertRecurrenceArguments): ScriptArgument[] => [
  a.clustered ? 1 : 0,
  a.stealAfterMs,
  a.id,
  a.head,
  a.owner,
  a.ruleText,
  a.route,
  a.rest,
  a.zones,
  a.reckonedFrom,
  a.list,
  a.keepEnded,
];

/** Binds the script to the keys of a queue. */
export const upsertRecurrenceScript = (keys: QueueKeys): NumberedScript<UpsertRecurrenceArguments, UpsertRecurrenceReply> => ({
  name: 'upsert-recurrence',
  keys: [
    keys.jobs,
    keys.usedIds,
    keys.stats,
    keys.completed,
    keys.results,
    keys.levels,
    keys.sleeping,
    keys.queued,
    keys.active,
    keys.dead,
    keys.gate,
  ],
  encode: encodeUpsertRecurrence,
  isNumbered: true,
});

/**
 * Which workers are alive, and who holds the running jobs, so many of these at a time.
 * Answers: looked: at how many running jobs; isWhole: none is left; two for each worker, the one last here first: its
 * member of `workers`, when it was here; three for each holder and name of the jobs looked at: worker, name, how
 * many.
 * It only reads.
 */
export interface WorkersArguments {
  /** How long ago a worker may have been here last (ms). */
  withinMs: number;
  /** How many running jobs to pass over. */
  passOver: number;
  /** How many to look at. */
  limit: number;
}

export type WorkersReply = [looked: string, isWhole: '1' | '0', alive: string[], holders: (string | number)[]];

const encodeWorkers = (a: WorkersArguments): ScriptArgument[] => [a.withinMs, a.passOver, a.limit];

/** Binds the script to the keys of a queue. */
export const workersScript = (keys: QueueKeys): BoundScript<WorkersArguments, WorkersReply> => ({
  name: 'workers',
  keys: [keys.workers, keys.active, keys.claims],
  encode: encodeWorkers,
});
