// Made by scripts/embed-lua.mjs from the headers of the scripts in this folder; change these and run `npm run embed`.
import type { QueueKeys } from '../../keys.js';
import type { BoundScript, GivenArguments, NumberedScript, ScriptArgument } from '../bound-script.js';

/** See append.lua, which says what each of these is. */
export interface AppendArguments {
  base: string;
  clustered: boolean;
  stealAfterMs: number;
  keepReceiptMs: number;
  id: string;
  chosen: 'c' | 'm';
  route: string;
  dueOrDelay: number;
  rest: string | Buffer;
}

export type AppendReply = string;

const encodeAppend = (a: AppendArguments): ScriptArgument[] => [
  a.base,
  a.clustered ? 1 : 0,
  a.stealAfterMs,
  a.keepReceiptMs,
  a.id,
  a.chosen,
  a.route,
  a.dueOrDelay,
  a.rest,
];

export const appendScript = (keys: QueueKeys): BoundScript<AppendArguments, AppendReply> => ({
  name: 'append',
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
  encode: encodeAppend,
});

/** See replace.lua, which says what each of these is. */
export interface ReplaceArguments {
  id: string;
  chosen: 'c' | 'm';
  route: string;
  dueOrDelay: number;
  maxWaitMs: number;
  throttleMs: number;
  rest: string | Buffer;
}

export type ReplaceReply = [status: string, now: string, letter: string, due: string, besides: string, ...completions: string[]];

const encodeReplace = (a: ReplaceArguments, given: GivenArguments): ScriptArgument[] => [
  given.clustered ? 1 : 0,
  given.stealAfterMs,
  a.id,
  a.chosen,
  a.route,
  a.dueOrDelay,
  a.maxWaitMs,
  a.throttleMs,
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

/** See schedule.lua, which says what each of these is. */
export interface ScheduleArguments {
  lowestMade: string;
  highestMade: string;
  /** Flat rows: count, chosen, route, due, middle, ids, dues, ends. */
  rows: readonly ScriptArgument[];
}

export type ScheduleReply = [status: string, now: string, takenAt: string, letters: string, ...duplicates: string[]];

const encodeSchedule = (a: ScheduleArguments, given: GivenArguments): ScriptArgument[] => [
  given.clustered ? 1 : 0,
  given.stealAfterMs,
  a.lowestMade,
  a.highestMade,
  ...a.rows,
];

export const scheduleScript = (keys: Pick<QueueKeys, 'base'>): NumberedScript<ScheduleArguments, ScheduleReply> => ({
  name: 'schedule',
  keys: [],
  encode: encodeSchedule,
  isNumbered: true,
});
