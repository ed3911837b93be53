// Made by scripts/embed-lua.mjs from the headers of the scripts in this folder; change these and run `npm run embed`.
import type { QueueKeys } from '../../keys.js';
import type { BoundScript, GivenArguments, NumberedScript, ScriptArgument } from '../bound-script.js';

/** See blackouts.lua, which says what each of these is. */
export type BlackoutsArguments = Record<string, never>;

export type BlackoutsReply = [now: string, ends: string, rules: string, tendAt: string];

const encodeBlackouts = (): ScriptArgument[] => [];

export const blackoutsScript = (keys: QueueKeys): BoundScript<BlackoutsArguments, BlackoutsReply> => ({
  name: 'blackouts',
  keys: [keys.gate],
  encode: encodeBlackouts,
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

/** See pause.lua, which says what each of these is. */
export interface PauseArguments {
  pause: number | 'inf';
}

export type PauseReply = [status: string, now: string, ends: string];

const encodePause = (a: PauseArguments, given: GivenArguments): ScriptArgument[] => [given.clustered ? 1 : 0, a.pause];

export const pauseScript = (keys: QueueKeys): NumberedScript<PauseArguments, PauseReply> => ({
  name: 'pause',
  keys: [keys.gate, keys.sleeping],
  encode: encodePause,
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

/** See resume.lua, which says what each of these is. */
export type ResumeArguments = Record<string, never>;

export type ResumeReply = [status: string, now: string, wasPaused: '1' | '0'];

const encodeResume = (_: ResumeArguments, given: GivenArguments): ScriptArgument[] => [given.clustered ? 1 : 0];

export const resumeScript = (keys: QueueKeys): NumberedScript<ResumeArguments, ResumeReply> => ({
  name: 'resume',
  keys: [keys.gate, keys.sleeping],
  encode: encodeResume,
  isNumbered: true,
});

/** See set-blackouts.lua, which says what each of these is. */
export interface SetBlackoutsArguments {
  isNew: boolean;
  rules: string;
  windows: string;
  moreAt: number;
}

export type SetBlackoutsReply = [status: string, now: string, isSet: '1' | '0'];

const encodeSetBlackouts = (a: SetBlackoutsArguments, given: GivenArguments): ScriptArgument[] => [given.clustered ? 1 : 0, a.isNew ? 1 : 0, a.rules, a.windows, a.moreAt];

export const setBlackoutsScript = (keys: QueueKeys): NumberedScript<SetBlackoutsArguments, SetBlackoutsReply> => ({
  name: 'set-blackouts',
  keys: [keys.gate, keys.sleeping],
  encode: encodeSetBlackouts,
  isNumbered: true,
});
