// Made by scripts/embed-lua.mjs from the headers of the scripts in this folder; change these and run `npm run embed`.
import type { QueueKeys } from '../../keys.js';
import type { GivenArguments, NumberedScript, ScriptArgument } from '../bound-script.js';

/** See close-set.lua, which says what each of these is. */
export interface CloseSetArguments {
  id: string;
}

export type CloseSetReply = [status: string, now: string, isClosed: '1' | '0', ...completions: string[]];

const encodeCloseSet = (a: CloseSetArguments, given: GivenArguments): ScriptArgument[] => [given.clustered ? 1 : 0, given.stealAfterMs, a.id];

export const closeSetScript = (keys: QueueKeys): NumberedScript<CloseSetArguments, CloseSetReply> => ({
  name: 'close-set',
  keys: [keys.jobs, keys.stats, keys.levels, keys.sleeping],
  encode: encodeCloseSet,
  isNumbered: true,
});

/** See open-set.lua, which says what each of these is. */
export interface OpenSetArguments {
  id: string;
  keepMs: number;
  job: string | Buffer;
}

export type OpenSetReply = [status: string, now: string, isOpened: '1' | '0', state: 'o' | 'c' | 'd'];

const encodeOpenSet = (a: OpenSetArguments): ScriptArgument[] => [a.id, a.keepMs, a.job];

export const openSetScript = (keys: QueueKeys): NumberedScript<OpenSetArguments, OpenSetReply> => ({
  name: 'open-set',
  keys: [keys.stats],
  encode: encodeOpenSet,
  isNumbered: true,
});
