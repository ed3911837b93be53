// Made by scripts/embed-lua.mjs from the headers of lib/store/redis/scripts; change these and run `npm run embed`.
import type { QueueKeys } from '../keys.js';
import type { BoundScript, NumberedScript, ScriptArgument } from './bound-script.js';

/** See add-events.lua, which says what each of these is. */
export interface AddEventsArguments {
  count: number;
  maxLength: number;
  lines: string;
}

export type AddEventsReply = [status: string, now: string, place: string];

const encodeAddEvents = (a: AddEventsArguments): ScriptArgument[] => [a.count, a.maxLength, a.lines];

export const addEventsScript = (keys: QueueKeys): NumberedScript<AddEventsArguments, AddEventsReply> => ({
  name: 'add-events',
  keys: [keys.events],
  encode: encodeAddEvents,
  isNumbered: true,
});

/** See backfill-recurrence.lua, which says what each of these is. */
export interface BackfillRecurrenceArguments {
  clustered: boolean;
  stealAfterMs: number;
  id: string;
  instants: readonly ScriptArgument[];
}

export type BackfillRecurrenceReply = [status: string, now: string, count: string, isShort: '1' | '0'];

const encodeBackfillRecurrence = (a: BackfillRecurrenceArguments): ScriptArgument[] => [a.clustered ? 1 : 0, a.stealAfterMs, a.id, ...a.instants];

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

/** See blackouts.lua, which says what each of these is. */
export type BlackoutsArguments = Record<string, never>;

export type BlackoutsReply = [now: string, ends: string, rules: string, tendAt: string];

const encodeBlackouts = (): ScriptArgument[] => [];

export const blackoutsScript = (keys: QueueKeys): BoundScript<BlackoutsArguments, BlackoutsReply> => ({
  name: 'blackouts',
  keys: [keys.gate],
  encode: encodeBlackouts,
});

/** See cancel.lua, which says what each of these is. */
export interface CancelArguments {
  id: string;
  keepEnded: string;
}

export type CancelReply = [status: string, now: string, count: '1' | '0'];

const encodeCancel = (a: CancelArguments): ScriptArgument[] => [a.id, a.keepEnded];

export const cancelScript = (keys: QueueKeys): NumberedScript<CancelArguments, CancelReply> => ({
  name: 'cancel',
  keys: [keys.jobs, keys.claims, keys.failures, keys.queued, keys.stats, keys.levels],
  encode: encodeCancel,
  isNumbered: true,
});

/** See cancel-running.lua, which says what each of these is. */
export interface CancelRunningArguments {
  clustered: boolean;
  id: string;
}

export type CancelRunningReply = [status: string, now: string, wasRunning: '1' | '0'];

const encodeCancelRunning = (a: CancelRunningArguments): ScriptArgument[] => [a.clustered ? 1 : 0, a.id];

export const cancelRunningScript = (keys: QueueKeys): NumberedScript<CancelRunningArguments, CancelRunningReply> => ({
  name: 'cancel-running',
  keys: [keys.claims],
  encode: encodeCancelRunning,
  isNumbered: true,
});

/** See cancel-tagged.lua, which says what each of these is. */
export interface CancelTaggedArguments {
  from: string;
  last: string;
  began: number;
  limit: number;
  keepEnded: string;
}

export type CancelTaggedReply = [status: string, now: string, result: string];

const encodeCancelTagged = (a: CancelTaggedArguments): ScriptArgument[] => [a.from, a.last, a.began, a.limit, a.keepEnded];

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

/** See clear.lua, which says what each of these is. */
export interface ClearArguments {
  cursor: string;
  limit: number;
  scheduledBy: number;
  keepEnded: string;
}

export type ClearReply = [status: string, now: string, result: string];

const encodeClear = (a: ClearArguments): ScriptArgument[] => [a.cursor, a.limit, a.scheduledBy, a.keepEnded];

export const clearScript = (keys: QueueKeys): NumberedScript<ClearArguments, ClearReply> => ({
  name: 'clear',
  keys: [keys.jobs, keys.claims, keys.failures, keys.queued, keys.stats, keys.levels],
  encode: encodeClear,
  isNumbered: true,
});

/** See clock.lua, which says what each of these is. */
export type ClockArguments = Record<string, never>;

export type ClockReply = string;

const encodeClock = (): ScriptArgument[] => [];

export const clockScript = (keys: QueueKeys): BoundScript<ClockArguments, ClockReply> => ({
  name: 'clock',
  keys: [keys.jobs],
  encode: encodeClock,
});

/** See counts.lua, which says what each of these is. */
export interface CountsArguments {
  base: string;
  from: string;
  costLeft: number;
}

export type CountsReply = [waiting: number, due: number, active: number, dead: number, completed: number, next: string, now: string, nextDue: string];

export const readCountsReply = (r: CountsReply) => ({ waiting: r[0], due: r[1], active: r[2], dead: r[3], completed: r[4], next: r[5], now: r[6], nextDue: r[7] });

const encodeCounts = (a: CountsArguments): ScriptArgument[] => [a.base, a.from, a.costLeft];

export const countsScript = (keys: QueueKeys): BoundScript<CountsArguments, CountsReply> => ({
  name: 'counts',
  keys: [keys.jobs, keys.active, keys.dead, keys.completed, keys.levels],
  encode: encodeCounts,
});

/** See declare.lua, which says what each of these is. */
export interface DeclareArguments {
  app: string;
  revision: string;
  began: number;
  orphanAfterMs: number;
  tells: 'none' | 'new' | 'all';
  /** Flat rows: id, digest. */
  declared: readonly ScriptArgument[];
}

export type DeclareReply = [status: string, now: string, startedAt: string, letters: string, ...orphans: string[]];

const encodeDeclare = (a: DeclareArguments): ScriptArgument[] => [a.app, a.revision, a.began, a.orphanAfterMs, a.tells, ...a.declared];

export const declareScript = (keys: QueueKeys): NumberedScript<DeclareArguments, DeclareReply> => ({
  name: 'declare',
  keys: [keys.gate],
  encode: encodeDeclare,
  isNumbered: true,
});

/** See declare-recurrence.lua, which says what each of these is. */
export interface DeclareRecurrenceArguments {
  clustered: boolean;
  stealAfterMs: number;
  app: string;
  revision: string;
  startedAt: number;
  orphanAfterMs: number;
  digest: string;
  isOff: boolean;
  id: string;
  head: string;
  ruleText: string;
  route: string;
  rest: string | Buffer;
  zones: string;
  reckonedFrom: number;
  list: string;
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

/** See find.lua, which says what each of these is. */
export interface FindArguments {
  base: string;
  walk: string;
  from: string;
  size: number;
  limit: number;
  bytesLeft: number;
  states: string;
  idPrefix: string;
  names: string;
  tags: string;
  dueFrom: number;
  dueTo: number;
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

/** See forecast.lua, which says what each of these is. */
export interface ForecastArguments {
  base: string;
  from: string;
  costLeft: number;
  bounds: readonly ScriptArgument[];
}

export type ForecastReply = [next: string, ...counts: number[]];

const encodeForecast = (a: ForecastArguments): ScriptArgument[] => [a.base, a.from, a.costLeft, ...a.bounds];

export const forecastScript = (keys: QueueKeys): BoundScript<ForecastArguments, ForecastReply> => ({
  name: 'forecast',
  keys: [keys.levels],
  encode: encodeForecast,
});

/** See handled.lua, which says what each of these is. */
export interface HandledArguments {
  base: string;
  name: string;
  withinMs: number;
}

export type HandledReply = [count: string, ...workers: string[]];

const encodeHandled = (a: HandledArguments): ScriptArgument[] => [a.base, a.name, a.withinMs];

export const handledScript = (keys: QueueKeys): BoundScript<HandledArguments, HandledReply> => ({
  name: 'handled',
  keys: [keys.workers],
  encode: encodeHandled,
});

/** See heads.lua, which says what each of these is. */
export interface HeadsArguments {
  base: string;
  from: string;
  to: string;
  ofLevel: number;
  left: number;
  passOver: number;
  levels: readonly ScriptArgument[];
}

export type HeadsReply = [isCut: '1' | '0', ...found: string[][]];

const encodeHeads = (a: HeadsArguments): ScriptArgument[] => [a.base, a.from, a.to, a.ofLevel, a.left, a.passOver, ...a.levels];

export const headsScript = (keys: QueueKeys): BoundScript<HeadsArguments, HeadsReply> => ({
  name: 'heads',
  keys: [keys.levels],
  encode: encodeHeads,
});

/** See job.lua, which says what each of these is. */
export interface JobArguments {
  base: string;
  id: string;
}

export type JobReply = [...known: string[]];

const encodeJob = (a: JobArguments): ScriptArgument[] => [a.base, a.id];

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

/** See jobs.lua, which says what each of these is. */
export interface JobsArguments {
  base: string;
  bytesLeft: number;
  ids: readonly ScriptArgument[];
}

export type JobsReply = string[][];

const encodeJobs = (a: JobsArguments): ScriptArgument[] => [a.base, a.bytesLeft, ...a.ids];

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

/** See lanes.lua, which says what each of these is. */
export interface LanesArguments {
  base: string;
  after: string;
  count: number;
  /** Flat rows: name, passOver. */
  lanes: readonly ScriptArgument[];
}

export type LanesReply = string[][];

const encodeLanes = (a: LanesArguments): ScriptArgument[] => [a.base, a.after, a.count, ...a.lanes];

export const lanesScript = (keys: QueueKeys): BoundScript<LanesArguments, LanesReply> => ({
  name: 'lanes',
  keys: [keys.levels],
  encode: encodeLanes,
});

/** See limits.lua, which says what each of these is. */
export interface LimitsArguments {
  rateWindowMs: number;
}

export type LimitsReply = [now: string, running: number, started: number, opensAt: string];

const encodeLimits = (a: LimitsArguments): ScriptArgument[] => [a.rateWindowMs];

export const limitsScript = (keys: QueueKeys): BoundScript<LimitsArguments, LimitsReply> => ({
  name: 'limits',
  keys: [keys.active, keys.rate],
  encode: encodeLimits,
});

/** See note-queues.lua, which says what each of these is. */
export interface NoteQueuesArguments {
  names: readonly ScriptArgument[];
}

export type NoteQueuesReply = string;

const encodeNoteQueues = (a: NoteQueuesArguments): ScriptArgument[] => [...a.names];

export const noteQueuesScript = (keys: QueueKeys): BoundScript<NoteQueuesArguments, NoteQueuesReply> => ({
  name: 'note-queues',
  keys: [keys.queues],
  encode: encodeNoteQueues,
});

/** See pause.lua, which says what each of these is. */
export interface PauseArguments {
  clustered: boolean;
  pause: number | 'inf';
}

export type PauseReply = [status: string, now: string, ends: string];

const encodePause = (a: PauseArguments): ScriptArgument[] => [a.clustered ? 1 : 0, a.pause];

export const pauseScript = (keys: QueueKeys): NumberedScript<PauseArguments, PauseReply> => ({
  name: 'pause',
  keys: [keys.gate, keys.sleeping],
  encode: encodePause,
  isNumbered: true,
});

/** See pause-recurrence.lua, which says what each of these is. */
export interface PauseRecurrenceArguments {
  id: string;
  reason: string;
  keepEnded: string;
}

export type PauseRecurrenceReply = [status: string, now: string, isPaused: '1' | '0'];

const encodePauseRecurrence = (a: PauseRecurrenceArguments): ScriptArgument[] => [a.id, a.reason, a.keepEnded];

export const pauseRecurrenceScript = (keys: QueueKeys): NumberedScript<PauseRecurrenceArguments, PauseRecurrenceReply> => ({
  name: 'pause-recurrence',
  keys: [keys.jobs, keys.stats, keys.levels, keys.queued],
  encode: encodePauseRecurrence,
  isNumbered: true,
});

/** See paused.lua, which says what each of these is. */
export type PausedArguments = Record<string, never>;

export type PausedReply = string;

const encodePaused = (): ScriptArgument[] => [];

export const pausedScript = (keys: QueueKeys): BoundScript<PausedArguments, PausedReply> => ({
  name: 'paused',
  keys: [keys.gate],
  encode: encodePaused,
});

/** See permissions.lua, which says what each of these is. */
export interface PermissionsArguments {
  base: string;
}

export type PermissionsReply = [...missing: string[]];

const encodePermissions = (a: PermissionsArguments): ScriptArgument[] => [a.base];

export const permissionsScript = (keys: Pick<QueueKeys, 'base'>): BoundScript<PermissionsArguments, PermissionsReply> => ({
  name: 'permissions',
  keys: [`${keys.base}trial`],
  encode: encodePermissions,
});

/** See placement.lua, which says what each of these is. */
export interface PlacementArguments {
  base: string;
  most: number;
  withinMs: number;
  session: string;
}

export type PlacementReply = [isKnown: '1' | '0', jobs: number, placed: number];

const encodePlacement = (a: PlacementArguments): ScriptArgument[] => [a.base, a.most, a.withinMs, a.session];

export const placementScript = (keys: QueueKeys): BoundScript<PlacementArguments, PlacementReply> => ({
  name: 'placement',
  keys: [keys.jobs, keys.active, keys.dead, keys.levels, keys.workers],
  encode: encodePlacement,
});

/** See priorities.lua, which says what each of these is. */
export interface PrioritiesArguments {
  base: string;
  from: string;
  costLeft: number;
}

export type PrioritiesReply = [next: string, ...counts: (string | number)[]];

const encodePriorities = (a: PrioritiesArguments): ScriptArgument[] => [a.base, a.from, a.costLeft];

export const prioritiesScript = (keys: QueueKeys): BoundScript<PrioritiesArguments, PrioritiesReply> => ({
  name: 'priorities',
  keys: [keys.levels],
  encode: encodePriorities,
});

/** See purge.lua, which says what each of these is. */
export interface PurgeArguments {
  limit: number;
  diedBy: number | '+inf';
  most: number;
  from: string;
  reason: string;
  names: readonly ScriptArgument[];
}

export type PurgeReply = [status: string, now: string, result: string];

const encodePurge = (a: PurgeArguments): ScriptArgument[] => [a.limit, a.diedBy, a.most, a.from, a.reason, ...a.names];

export const purgeScript = (keys: QueueKeys): NumberedScript<PurgeArguments, PurgeReply> => ({
  name: 'purge',
  keys: [keys.jobs, keys.claims, keys.failures, keys.dead, keys.stats],
  encode: encodePurge,
  isNumbered: true,
});

/** See read-events.lua, which says what each of these is. */
export interface ReadEventsArguments {
  from: string;
}

export type ReadEventsReply = [more: '1' | '0', ...entries: string[]];

const encodeReadEvents = (a: ReadEventsArguments): ScriptArgument[] => [a.from];

export const readEventsScript = (keys: QueueKeys): BoundScript<ReadEventsArguments, ReadEventsReply> => ({
  name: 'read-events',
  keys: [keys.events],
  encode: encodeReadEvents,
});

/** See recurrence-ids.lua, which says what each of these is. */
export interface RecurrenceIdsArguments {
  cursor: string;
  limit: number;
}

export type RecurrenceIdsReply = [next: string, ...ids: string[]];

const encodeRecurrenceIds = (a: RecurrenceIdsArguments): ScriptArgument[] => [a.cursor, a.limit];

export const recurrenceIdsScript = (keys: QueueKeys): BoundScript<RecurrenceIdsArguments, RecurrenceIdsReply> => ({
  name: 'recurrence-ids',
  keys: [keys.timetable],
  encode: encodeRecurrenceIds,
});

/** See recurrences.lua, which says what each of these is. */
export interface RecurrencesArguments {
  ids: readonly ScriptArgument[];
}

export type RecurrencesReply = [...found: string[]];

const encodeRecurrences = (a: RecurrencesArguments): ScriptArgument[] => [...a.ids];

export const recurrencesScript = (keys: QueueKeys): BoundScript<RecurrencesArguments, RecurrencesReply> => ({
  name: 'recurrences',
  keys: [keys.recurrences, keys.timetable],
  encode: encodeRecurrences,
});

/** See refill.lua, which says what each of these is. */
export interface RefillArguments {
  clustered: boolean;
  stealAfterMs: number;
  zones: string;
  reckonedAt: number;
  keepEnded: string;
  /** Flat rows: id, version, how, from, skipped, list. */
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
  ],
  encode: encodeRefill,
  isNumbered: true,
});

/** See register.lua, which says what each of these is. */
export interface RegisterArguments {
  keepMs: number;
  size: number;
  names: readonly ScriptArgument[];
}

export type RegisterReply = number;

const encodeRegister = (a: RegisterArguments): ScriptArgument[] => [a.keepMs, a.size, ...a.names];

export const registerScript = (keys: QueueKeys, names: { crew: string }): BoundScript<RegisterArguments, RegisterReply> => ({
  name: 'register',
  keys: [keys.sleeping, `${keys.base}handles:${names.crew}`],
  encode: encodeRegister,
});

/** See relay.lua, which says what each of these is. */
export interface RelayArguments {
  clustered: boolean;
  session: string;
  crew: string;
  crewSize: number;
  leaseMs: number;
  maxSleepMs: number;
  limit: number;
  maxBytes: number;
  cursor: string;
  canHear: boolean;
  standing: 'stays' | 'goes';
  keepIdsMs: number;
  keepCompletedCount: number;
  keepCompletedAgeMs: number;
  keepDeadCount: number;
  keepDeadAgeMs: number;
  maxCrashes: number;
  presence: 'here' | 'gone' | '';
  host: string;
  msPerLevel: number;
  stealAfterMs: number;
  globalConcurrency: number;
  rateMax: number;
  rateWindowMs: number;
  targetType: 'stream' | 'list';
  maxLength: number;
  keepEnded: string;
}

export type RelayReply = [status: string, now: string, recovered: string[], late: string[], missing: string[], dropped: string[], lookAt: string, cursor: string, leftOut: string[], tendAt: string, short: string[]];

export const readRelayReply = (r: RelayReply) => ({ status: r[0], now: r[1], recovered: r[2], late: r[3], missing: r[4], dropped: r[5], lookAt: r[6], cursor: r[7], leftOut: r[8], tendAt: r[9], short: r[10] });

const encodeRelay = (a: RelayArguments): ScriptArgument[] => [
  a.clustered ? 1 : 0,
  a.session,
  a.crew,
  a.crewSize,
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

export const relayScript = (keys: QueueKeys, names: { crew: string; target: string }): NumberedScript<RelayArguments, RelayReply> => ({
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
    keys.rate,
    keys.yields,
    keys.queued,
    `${keys.base}handles:${names.crew}`,
    `${keys.base}sleepers:${names.crew}`,
    names.target,
  ],
  encode: encodeRelay,
  isNumbered: true,
});

/** See remove.lua, which says what each of these is. */
export interface RemoveArguments {
  id: string;
}

export type RemoveReply = [status: string, now: string, isRemoved: '1' | '0'];

const encodeRemove = (a: RemoveArguments): ScriptArgument[] => [a.id];

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

/** See remove-orphan.lua, which says what each of these is. */
export interface RemoveOrphanArguments {
  app: string;
  orphanAfterMs: number;
  id: string;
  keepEnded: string;
}

export type RemoveOrphanReply = [status: string, now: string, isRemoved: '1' | '0'];

const encodeRemoveOrphan = (a: RemoveOrphanArguments): ScriptArgument[] => [a.app, a.orphanAfterMs, a.id, a.keepEnded];

export const removeOrphanScript = (keys: QueueKeys): NumberedScript<RemoveOrphanArguments, RemoveOrphanReply> => ({
  name: 'remove-orphan',
  keys: [keys.jobs, keys.stats, keys.levels, keys.queued, keys.gate],
  encode: encodeRemoveOrphan,
  isNumbered: true,
});

/** See remove-recurrence.lua, which says what each of these is. */
export interface RemoveRecurrenceArguments {
  id: string;
  keepEnded: string;
}

export type RemoveRecurrenceReply = [status: string, now: string, status: 'removed' | 'unknown' | 'declared'];

const encodeRemoveRecurrence = (a: RemoveRecurrenceArguments): ScriptArgument[] => [a.id, a.keepEnded];

export const removeRecurrenceScript = (keys: QueueKeys): NumberedScript<RemoveRecurrenceArguments, RemoveRecurrenceReply> => ({
  name: 'remove-recurrence',
  keys: [keys.jobs, keys.stats, keys.levels, keys.queued, keys.gate],
  encode: encodeRemoveRecurrence,
  isNumbered: true,
});

/** See replace.lua, which says what each of these is. */
export interface ReplaceArguments {
  clustered: boolean;
  stealAfterMs: number;
  id: string;
  chosen: 'c' | 'm';
  route: string;
  dueOrDelay: number;
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

/** See replay.lua, which says what each of these is. */
export interface ReplayArguments {
  clustered: boolean;
  stealAfterMs: number;
  dueOrDelay: number;
  spacing: number;
  replayed: number;
  id: string;
  limit: number;
  diedBy: number | '+inf';
  most: number;
  from: string;
  reason: string;
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

export const replayScript = (keys: QueueKeys): NumberedScript<ReplayArguments, ReplayReply> => ({
  name: 'replay',
  keys: [keys.jobs, keys.claims, keys.failures, keys.dead, keys.levels, keys.sleeping],
  encode: encodeReplay,
  isNumbered: true,
});

/** See reschedule.lua, which says what each of these is. */
export interface RescheduleArguments {
  clustered: boolean;
  stealAfterMs: number;
  id: string;
  dueOrDelay: number;
}

export type RescheduleReply = [status: string, now: string, isMoved: '1' | '0'];

const encodeReschedule = (a: RescheduleArguments): ScriptArgument[] => [a.clustered ? 1 : 0, a.stealAfterMs, a.id, a.dueOrDelay];

export const rescheduleScript = (keys: QueueKeys): NumberedScript<RescheduleArguments, RescheduleReply> => ({
  name: 'reschedule',
  keys: [keys.jobs, keys.levels, keys.sleeping, keys.queued],
  encode: encodeReschedule,
  isNumbered: true,
});

/** See resume.lua, which says what each of these is. */
export interface ResumeArguments {
  clustered: boolean;
}

export type ResumeReply = [status: string, now: string, wasPaused: '1' | '0'];

const encodeResume = (a: ResumeArguments): ScriptArgument[] => [a.clustered ? 1 : 0];

export const resumeScript = (keys: QueueKeys): NumberedScript<ResumeArguments, ResumeReply> => ({
  name: 'resume',
  keys: [keys.gate, keys.sleeping],
  encode: encodeResume,
  isNumbered: true,
});

/** See resume-recurrence.lua, which says what each of these is. */
export interface ResumeRecurrenceArguments {
  clustered: boolean;
  stealAfterMs: number;
  id: string;
  keepEnded: string;
}

export type ResumeRecurrenceReply = [status: string, now: string, isResumed: '1' | '0', isShort: '1' | '0'];

const encodeResumeRecurrence = (a: ResumeRecurrenceArguments): ScriptArgument[] => [a.clustered ? 1 : 0, a.stealAfterMs, a.id, a.keepEnded];

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

/** See run-recurrence.lua, which says what each of these is. */
export interface RunRecurrenceArguments {
  clustered: boolean;
  stealAfterMs: number;
  id: string;
}

export type RunRecurrenceReply = [status: string, now: string, jobId: string, due: string, name: string];

const encodeRunRecurrence = (a: RunRecurrenceArguments): ScriptArgument[] => [a.clustered ? 1 : 0, a.stealAfterMs, a.id];

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

/** See schedule.lua, which says what each of these is. */
export interface ScheduleArguments {
  clustered: boolean;
  stealAfterMs: number;
  lowestMade: string;
  highestMade: string;
  /** Flat rows: count, chosen, route, due, middle, ids, ends. */
  rows: readonly ScriptArgument[];
}

export type ScheduleReply = [status: string, now: string, takenAt: string, letters: string, ...duplicates: string[]];

const encodeSchedule = (a: ScheduleArguments): ScriptArgument[] => [a.clustered ? 1 : 0, a.stealAfterMs, a.lowestMade, a.highestMade, ...a.rows];

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

/** See set-blackouts.lua, which says what each of these is. */
export interface SetBlackoutsArguments {
  clustered: boolean;
  isNew: boolean;
  rules: string;
  windows: string;
  moreAt: number;
}

export type SetBlackoutsReply = [status: string, now: string, isSet: '1' | '0'];

const encodeSetBlackouts = (a: SetBlackoutsArguments): ScriptArgument[] => [a.clustered ? 1 : 0, a.isNew ? 1 : 0, a.rules, a.windows, a.moreAt];

export const setBlackoutsScript = (keys: QueueKeys): NumberedScript<SetBlackoutsArguments, SetBlackoutsReply> => ({
  name: 'set-blackouts',
  keys: [keys.gate, keys.sleeping],
  encode: encodeSetBlackouts,
  isNumbered: true,
});

/** See shift-tagged.lua, which says what each of these is. */
export interface ShiftTaggedArguments {
  clustered: boolean;
  stealAfterMs: number;
  from: string;
  last: string;
  began: number;
  limit: number;
  byMs: number;
}

export type ShiftTaggedReply = [status: string, now: string, result: string];

const encodeShiftTagged = (a: ShiftTaggedArguments): ScriptArgument[] => [a.clustered ? 1 : 0, a.stealAfterMs, a.from, a.last, a.began, a.limit, a.byMs];

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

/** See tend.lua, which says what each of these is. */
export interface TendArguments {
  clustered: boolean;
  stealAfterMs: number;
  cursor: string;
  limit: number;
  everyMs: number;
  zones: string;
  ids: readonly ScriptArgument[];
}

export type TendReply = [status: string, now: string, next: string, tendAt: string, needs: string[], ...damaged: string[]];

const encodeTend = (a: TendArguments): ScriptArgument[] => [
  a.clustered ? 1 : 0,
  a.stealAfterMs,
  a.cursor,
  a.limit,
  a.everyMs,
  a.zones,
  ...a.ids,
];

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

/** See turn.lua, which says what each of these is. */
export interface TurnArguments {
  clustered: boolean;
  session: string;
  crew: string;
  crewSize: number;
  leaseMs: number;
  maxSleepMs: number;
  limit: number;
  maxBytes: number;
  cursor: string;
  canHear: boolean;
  standing: 'stays' | 'until-claimed' | 'goes';
  keepIdsMs: number;
  keepCompletedCount: number;
  keepCompletedAgeMs: number;
  keepDeadCount: number;
  keepDeadAgeMs: number;
  maxCrashes: number;
  presence: 'here' | 'gone' | '';
  host: string;
  msPerLevel: number;
  stealAfterMs: number;
  globalConcurrency: number;
  rateMax: number;
  rateWindowMs: number;
  wish: string;
  keepEnded: string;
  completed: { id: readonly ScriptArgument[]; fence: readonly ScriptArgument[] };
  /** Flat rows: transition, id, fence, first, second. */
  others: readonly ScriptArgument[];
  /** Flat rows: id, fence. */
  renewals: readonly ScriptArgument[];
  /** Flat rows: id, fence, value. */
  reports: readonly ScriptArgument[];
  /** Flat rows: name, weight, free. */
  limits: readonly ScriptArgument[];
}

export type TurnReply = [status: string, now: string, bits: string, lost: string[], toCancel: string[], recovered: string[], late: string[], missing: string[], dropped: string[], lookAt: string, fence: string, cursor: string, isContended: '1' | '', suspect: 'reserved' | 'taken' | 'waits' | '', leftOut: string[], tendAt: string, short: string[], ...claimed: string[]];

export const readTurnReply = (r: TurnReply) => ({ status: r[0], now: r[1], bits: r[2], lost: r[3], toCancel: r[4], recovered: r[5], late: r[6], missing: r[7], dropped: r[8], lookAt: r[9], fence: r[10], cursor: r[11], isContended: r[12], suspect: r[13], leftOut: r[14], tendAt: r[15], short: r[16], claimed: r.slice(17) as string[] });

export const TURN_CLAIMED_AT = 17;

const encodeTurn = (a: TurnArguments): ScriptArgument[] => [
  a.clustered ? 1 : 0,
  a.session,
  a.crew,
  a.crewSize,
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

export const turnScript = (keys: QueueKeys, names: { crew: string }): NumberedScript<TurnArguments, TurnReply> => ({
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
    keys.rate,
    keys.reservations,
    keys.yields,
    keys.queued,
    `${keys.base}handles:${names.crew}`,
    `${keys.base}sleepers:${names.crew}`,
  ],
  encode: encodeTurn,
  isNumbered: true,
});

/** See upsert-recurrence.lua, which says what each of these is. */
export interface UpsertRecurrenceArguments {
  clustered: boolean;
  stealAfterMs: number;
  id: string;
  head: string;
  owner: string;
  ruleText: string;
  route: string;
  rest: string | Buffer;
  zones: string;
  reckonedFrom: number;
  list: string;
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

/** See workers.lua, which says what each of these is. */
export interface WorkersArguments {
  withinMs: number;
  passOver: number;
  limit: number;
}

export type WorkersReply = [looked: string, isWhole: '1' | '0', alive: string[], holders: (string | number)[]];

const encodeWorkers = (a: WorkersArguments): ScriptArgument[] => [a.withinMs, a.passOver, a.limit];

export const workersScript = (keys: QueueKeys): BoundScript<WorkersArguments, WorkersReply> => ({
  name: 'workers',
  keys: [keys.workers, keys.active, keys.claims],
  encode: encodeWorkers,
});
