// Made by scripts/embed-lua.mjs from the headers of the scripts in this folder; change these and run `npm run embed`.
import type { QueueKeys } from '../../keys.js';
import type { BoundScript, NumberedScript, ScriptArgument } from '../bound-script.js';

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
