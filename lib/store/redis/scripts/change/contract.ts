// Made by scripts/embed-lua.mjs from the headers of the scripts in this folder; change these and run `npm run embed`.
import type { QueueKeys } from '../../keys.js';
import type { GivenArguments, NumberedScript, ScriptArgument } from '../bound-script.js';

/** See cancel.lua, which says what each of these is. */
export interface CancelArguments {
  id: string;
}

export type CancelReply = [status: string, now: string, count: '1' | '0', ...completions: string[]];

const encodeCancel = (a: CancelArguments, given: GivenArguments): ScriptArgument[] => [a.id, given.clustered ? 1 : 0, given.stealAfterMs, given.keepEnded];

export const cancelScript = (keys: QueueKeys): NumberedScript<CancelArguments, CancelReply> => ({
  name: 'cancel',
  keys: [
    keys.jobs,
    keys.claims,
    keys.failures,
    keys.queued,
    keys.stats,
    keys.levels,
    keys.sleeping,
  ],
  encode: encodeCancel,
  isNumbered: true,
});

/** See cancel-running.lua, which says what each of these is. */
export interface CancelRunningArguments {
  id: string;
}

export type CancelRunningReply = [status: string, now: string, wasRunning: '1' | '0'];

const encodeCancelRunning = (a: CancelRunningArguments, given: GivenArguments): ScriptArgument[] => [given.clustered ? 1 : 0, a.id];

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
}

export type CancelTaggedReply = [status: string, now: string, result: string, ...completions: string[]];

const encodeCancelTagged = (a: CancelTaggedArguments, given: GivenArguments): ScriptArgument[] => [
  a.from,
  a.last,
  a.began,
  a.limit,
  given.clustered ? 1 : 0,
  given.stealAfterMs,
  given.keepEnded,
];

export const cancelTaggedScript = (keys: QueueKeys, names: { tag: string }): NumberedScript<CancelTaggedArguments, CancelTaggedReply> => ({
  name: 'cancel-tagged',
  keys: [
    keys.jobs,
    keys.claims,
    keys.failures,
    keys.queued,
    keys.stats,
    keys.levels,
    keys.sleeping,
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
}

export type ClearReply = [status: string, now: string, result: string, ...completions: string[]];

const encodeClear = (a: ClearArguments, given: GivenArguments): ScriptArgument[] => [
  a.cursor,
  a.limit,
  a.scheduledBy,
  given.clustered ? 1 : 0,
  given.stealAfterMs,
  given.keepEnded,
];

export const clearScript = (keys: QueueKeys): NumberedScript<ClearArguments, ClearReply> => ({
  name: 'clear',
  keys: [
    keys.jobs,
    keys.claims,
    keys.failures,
    keys.queued,
    keys.stats,
    keys.levels,
    keys.sleeping,
  ],
  encode: encodeClear,
  isNumbered: true,
});

/** See remove.lua, which says what each of these is. */
export interface RemoveArguments {
  id: string;
}

export type RemoveReply = [status: string, now: string, isRemoved: '1' | '0', ...completions: string[]];

const encodeRemove = (a: RemoveArguments, given: GivenArguments): ScriptArgument[] => [a.id, given.clustered ? 1 : 0, given.stealAfterMs];

export const removeScript = (keys: QueueKeys): NumberedScript<RemoveArguments, RemoveReply> => ({
  name: 'remove',
  keys: [
    keys.jobs,
    keys.claims,
    keys.failures,
    keys.usedIds,
    keys.stats,
    keys.levels,
    keys.sleeping,
    keys.dead,
    keys.completed,
    keys.results,
    keys.queued,
  ],
  encode: encodeRemove,
  isNumbered: true,
});

/** See reschedule.lua, which says what each of these is. */
export interface RescheduleArguments {
  id: string;
  dueOrDelay: number;
}

export type RescheduleReply = [status: string, now: string, isMoved: '1' | '0'];

const encodeReschedule = (a: RescheduleArguments, given: GivenArguments): ScriptArgument[] => [given.clustered ? 1 : 0, given.stealAfterMs, a.id, a.dueOrDelay];

export const rescheduleScript = (keys: QueueKeys): NumberedScript<RescheduleArguments, RescheduleReply> => ({
  name: 'reschedule',
  keys: [keys.jobs, keys.levels, keys.sleeping, keys.queued],
  encode: encodeReschedule,
  isNumbered: true,
});

/** See shift-tagged.lua, which says what each of these is. */
export interface ShiftTaggedArguments {
  from: string;
  last: string;
  began: number;
  limit: number;
  byMs: number;
}

export type ShiftTaggedReply = [status: string, now: string, result: string];

const encodeShiftTagged = (a: ShiftTaggedArguments, given: GivenArguments): ScriptArgument[] => [
  given.clustered ? 1 : 0,
  given.stealAfterMs,
  a.from,
  a.last,
  a.began,
  a.limit,
  a.byMs,
];

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
