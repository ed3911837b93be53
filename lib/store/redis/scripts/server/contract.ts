// Made by scripts/embed-lua.mjs from the headers of the scripts in this folder; change these and run `npm run embed`.
import type { QueueKeys } from '../../keys.js';
import type { BoundScript, ScriptArgument } from '../bound-script.js';

/** See clock.lua, which says what each of these is. */
export type ClockArguments = Record<string, never>;

export type ClockReply = string;

const encodeClock = (): ScriptArgument[] => [];

export const clockScript = (keys: QueueKeys): BoundScript<ClockArguments, ClockReply> => ({
  name: 'clock',
  keys: [keys.jobs],
  encode: encodeClock,
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

/** See permissions.lua, which says what each of these is. */
export interface PermissionsArguments {
  base: string;
  all: boolean;
}

export type PermissionsReply = [...missing: string[]];

const encodePermissions = (a: PermissionsArguments): ScriptArgument[] => [a.base, a.all ? 1 : 0];

export const permissionsScript = (keys: Pick<QueueKeys, 'base'>): BoundScript<PermissionsArguments, PermissionsReply> => ({
  name: 'permissions',
  keys: [`${keys.base}trial`],
  encode: encodePermissions,
});

/** See schema.lua, which says what each of these is. */
export type SchemaArguments = Record<string, never>;

export type SchemaReply = string;

const encodeSchema = (): ScriptArgument[] => [];

export const schemaScript = (keys: QueueKeys): BoundScript<SchemaArguments, SchemaReply> => ({
  name: 'schema',
  keys: [keys.stats],
  encode: encodeSchema,
});
