// Made by scripts/embed-lua.mjs from the headers of the scripts in this folder; change these and run `npm run embed`.
import type { QueueKeys } from '../../keys.js';
import type { GivenArguments, NumberedScript, ScriptArgument } from '../bound-script.js';

/** See pause-group.lua, which says what each of these is. */
export interface PauseGroupArguments {
  group: string;
  pause: number | 'inf';
}

export type PauseGroupReply = [status: string, now: string, ends: string];

const encodePauseGroup = (a: PauseGroupArguments, given: GivenArguments): ScriptArgument[] => [given.clustered ? 1 : 0, a.group, a.pause];

export const pauseGroupScript = (keys: QueueKeys): NumberedScript<PauseGroupArguments, PauseGroupReply> => ({
  name: 'pause-group',
  keys: [keys.sleeping],
  encode: encodePauseGroup,
  isNumbered: true,
});

/** See resume-group.lua, which says what each of these is. */
export interface ResumeGroupArguments {
  group: string;
}

export type ResumeGroupReply = [status: string, now: string, wasPaused: '1' | '0'];

const encodeResumeGroup = (a: ResumeGroupArguments, given: GivenArguments): ScriptArgument[] => [given.clustered ? 1 : 0, given.stealAfterMs, a.group];

export const resumeGroupScript = (keys: QueueKeys): NumberedScript<ResumeGroupArguments, ResumeGroupReply> => ({
  name: 'resume-group',
  keys: [keys.levels, keys.sleeping],
  encode: encodeResumeGroup,
  isNumbered: true,
});

/** See set-group.lua, which says what each of these is. */
export interface SetGroupArguments {
  group: string;
  set: string;
}

export type SetGroupReply = [status: string, now: string, result: '1'];

const encodeSetGroup = (a: SetGroupArguments, given: GivenArguments): ScriptArgument[] => [given.clustered ? 1 : 0, given.stealAfterMs, a.group, a.set];

export const setGroupScript = (keys: QueueKeys): NumberedScript<SetGroupArguments, SetGroupReply> => ({
  name: 'set-group',
  keys: [keys.levels, keys.sleeping],
  encode: encodeSetGroup,
  isNumbered: true,
});
