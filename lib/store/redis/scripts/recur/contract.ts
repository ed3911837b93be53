// Made by scripts/embed-lua.mjs from the headers of the scripts in this folder; change these and run `npm run embed`.
import type { QueueKeys } from '../../keys.js';
import type { BoundScript, GivenArguments, NumberedScript, ScriptArgument } from '../bound-script.js';

/** See backfill-recurrence.lua, which says what each of these is. */
export interface BackfillRecurrenceArguments {
  id: string;
  instants: readonly ScriptArgument[];
}

export type BackfillRecurrenceReply = [status: string, now: string, count: string, isShort: '1' | '0'];

const encodeBackfillRecurrence = (a: BackfillRecurrenceArguments, given: GivenArguments): ScriptArgument[] => [given.clustered ? 1 : 0, given.stealAfterMs, a.id, ...a.instants];

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
}

export type DeclareRecurrenceReply = [status: string, now: string, status: 'wins' | 'loses' | 'upserted' | 'again', from: string];

const encodeDeclareRecurrence = (a: DeclareRecurrenceArguments, given: GivenArguments): ScriptArgument[] => [
  given.clustered ? 1 : 0,
  given.stealAfterMs,
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
  given.keepEnded,
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

/** See pause-recurrence.lua, which says what each of these is. */
export interface PauseRecurrenceArguments {
  id: string;
  reason: string;
}

export type PauseRecurrenceReply = [status: string, now: string, isPaused: '1' | '0'];

const encodePauseRecurrence = (a: PauseRecurrenceArguments, given: GivenArguments): ScriptArgument[] => [a.id, a.reason, given.keepEnded];

export const pauseRecurrenceScript = (keys: QueueKeys): NumberedScript<PauseRecurrenceArguments, PauseRecurrenceReply> => ({
  name: 'pause-recurrence',
  keys: [keys.jobs, keys.stats, keys.levels, keys.queued],
  encode: encodePauseRecurrence,
  isNumbered: true,
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
  zones: string;
  reckonedAt: number;
  /** Flat rows: id, version, how, from, skipped, list. */
  rows: readonly ScriptArgument[];
}

export type RefillReply = [status: string, now: string, ...short: string[]];

const encodeRefill = (a: RefillArguments, given: GivenArguments): ScriptArgument[] => [
  given.clustered ? 1 : 0,
  given.stealAfterMs,
  a.zones,
  a.reckonedAt,
  given.keepEnded,
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

/** See remove-orphan.lua, which says what each of these is. */
export interface RemoveOrphanArguments {
  app: string;
  orphanAfterMs: number;
  id: string;
}

export type RemoveOrphanReply = [status: string, now: string, isRemoved: '1' | '0'];

const encodeRemoveOrphan = (a: RemoveOrphanArguments, given: GivenArguments): ScriptArgument[] => [a.app, a.orphanAfterMs, a.id, given.keepEnded];

export const removeOrphanScript = (keys: QueueKeys): NumberedScript<RemoveOrphanArguments, RemoveOrphanReply> => ({
  name: 'remove-orphan',
  keys: [keys.jobs, keys.stats, keys.levels, keys.queued, keys.gate],
  encode: encodeRemoveOrphan,
  isNumbered: true,
});

/** See remove-recurrence.lua, which says what each of these is. */
export interface RemoveRecurrenceArguments {
  id: string;
}

export type RemoveRecurrenceReply = [status: string, now: string, status: 'removed' | 'unknown' | 'declared'];

const encodeRemoveRecurrence = (a: RemoveRecurrenceArguments, given: GivenArguments): ScriptArgument[] => [a.id, given.keepEnded];

export const removeRecurrenceScript = (keys: QueueKeys): NumberedScript<RemoveRecurrenceArguments, RemoveRecurrenceReply> => ({
  name: 'remove-recurrence',
  keys: [keys.jobs, keys.stats, keys.levels, keys.queued, keys.gate],
  encode: encodeRemoveRecurrence,
  isNumbered: true,
});

/** See resume-recurrence.lua, which says what each of these is. */
export interface ResumeRecurrenceArguments {
  id: string;
}

export type ResumeRecurrenceReply = [status: string, now: string, isResumed: '1' | '0', isShort: '1' | '0'];

const encodeResumeRecurrence = (a: ResumeRecurrenceArguments, given: GivenArguments): ScriptArgument[] => [given.clustered ? 1 : 0, given.stealAfterMs, a.id, given.keepEnded];

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
  id: string;
}

export type RunRecurrenceReply = [status: string, now: string, jobId: string, due: string, name: string];

const encodeRunRecurrence = (a: RunRecurrenceArguments, given: GivenArguments): ScriptArgument[] => [given.clustered ? 1 : 0, given.stealAfterMs, a.id];

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

/** See tend.lua, which says what each of these is. */
export interface TendArguments {
  cursor: string;
  limit: number;
  everyMs: number;
  zones: string;
  ids: readonly ScriptArgument[];
}

export type TendReply = [status: string, now: string, next: string, tendAt: string, blackoutsAt: string, needs: string[], ...damaged: string[]];

const encodeTend = (a: TendArguments, given: GivenArguments): ScriptArgument[] => [
  given.clustered ? 1 : 0,
  given.stealAfterMs,
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

/** See upsert-recurrence.lua, which says what each of these is. */
export interface UpsertRecurrenceArguments {
  id: string;
  head: string;
  owner: string;
  ruleText: string;
  route: string;
  rest: string | Buffer;
  zones: string;
  reckonedFrom: number;
  list: string;
}

export type UpsertRecurrenceReply = [status: string, now: string, status: 'created' | 'changed' | 'unchanged' | 'declared' | 'again', nextAt: string];

const encodeUpsertRecurrence = (a: UpsertRecurrenceArguments, given: GivenArguments): ScriptArgument[] => [
  given.clustered ? 1 : 0,
  given.stealAfterMs,
  a.id,
  a.head,
  a.owner,
  a.ruleText,
  a.route,
  a.rest,
  a.zones,
  a.reckonedFrom,
  a.list,
  given.keepEnded,
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
