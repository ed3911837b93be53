// Made by scripts/embed-lua.mjs from the headers of the scripts in this folder; change these and run `npm run embed`.
import type { QueueKeys } from '../../keys.js';
import type { GivenArguments, NumberedScript, ScriptArgument } from '../bound-script.js';

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

/** See replay.lua, which says what each of these is. */
export interface ReplayArguments {
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

const encodeReplay = (a: ReplayArguments, given: GivenArguments): ScriptArgument[] => [
  given.clustered ? 1 : 0,
  given.stealAfterMs,
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
