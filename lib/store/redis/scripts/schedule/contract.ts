// Made by scripts/embed-lua.mjs from the headers of the scripts in this folder; change these and run `npm run embed`.
import type { QueueKeys } from '../../keys.js';
import type { NumberedScript, ScriptArgument } from '../bound-script.js';

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
