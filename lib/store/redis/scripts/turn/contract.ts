// Made by scripts/embed-lua.mjs from the headers of the scripts in this folder; change these and run `npm run embed`.
import type { QueueKeys } from '../../keys.js';
import type { BoundScript, GivenArguments, NumberedScript, ScriptArgument } from '../bound-script.js';

/** See in-order.lua, which says what each of these is. */
export interface InOrderArguments {
  session: string;
  crew: string;
  leaseMs: number;
  maxSleepMs: number;
  limit: number;
  maxBytes: number;
  canHear: boolean;
  completed: { id: readonly ScriptArgument[]; fence: readonly ScriptArgument[] };
}

export type InOrderReply = [status: string, now: string, bits: string, lost: string, toCancel: string, late: string, lookAt: string, fence: string, isContended: '1' | '', ...claimed: string[]];

export const readInOrderReply = (r: InOrderReply) => ({ status: r[0], now: r[1], bits: r[2], lost: r[3], toCancel: r[4], late: r[5], lookAt: r[6], fence: r[7], isContended: r[8], claimed: r.slice(9) as string[] });

export const IN_ORDER_CLAIMED_AT = 9;

const encodeInOrder = (a: InOrderArguments, given: GivenArguments): ScriptArgument[] => [
  given.clustered ? 1 : 0,
  given.stealAfterMs,
  a.session,
  a.crew,
  a.leaseMs,
  a.maxSleepMs,
  a.limit,
  a.maxBytes,
  a.canHear ? 1 : 0,
  a.completed.id.length,
  ...a.completed.id,
  ...a.completed.fence,
];

export const inOrderScript = (keys: Pick<QueueKeys, 'base'>): NumberedScript<InOrderArguments, InOrderReply> => ({
  name: 'in-order',
  keys: [],
  encode: encodeInOrder,
  isNumbered: true,
});

/** See ordinary.lua, which says what each of these is. */
export interface OrdinaryArguments {
  session: string;
  crew: string;
  crewSize: number;
  names: string;
  leaseMs: number;
  maxSleepMs: number;
  limit: number;
  maxBytes: number;
  canHear: boolean;
  keepIdsMs: number;
  listing: string;
  completed: { id: readonly ScriptArgument[]; fence: readonly ScriptArgument[] };
  /** Flat rows: transition, id, fence, first, second. */
  others: readonly ScriptArgument[];
  /** Flat rows: settlement, id, delayMs, route, rest. */
  nextSteps: readonly ScriptArgument[];
  /** Flat rows: id, fence. */
  renewals: readonly ScriptArgument[];
  /** Flat rows: id, fence, value. */
  reports: readonly ScriptArgument[];
  /** Flat rows: name, weight, free, size. */
  limits: readonly ScriptArgument[];
}

export type OrdinaryReply = [status: string, now: string, bits: string, lost: string, toCancel: string, late: string, lookAt: string, fence: string, isContended: '1' | '', ...claimed: string[]];

export const readOrdinaryReply = (r: OrdinaryReply) => ({ status: r[0], now: r[1], bits: r[2], lost: r[3], toCancel: r[4], late: r[5], lookAt: r[6], fence: r[7], isContended: r[8], claimed: r.slice(9) as string[] });

export const ORDINARY_CLAIMED_AT = 9;

const encodeOrdinary = (a: OrdinaryArguments, given: GivenArguments): ScriptArgument[] => [
  given.clustered ? 1 : 0,
  given.stealAfterMs,
  a.session,
  a.crew,
  a.crewSize,
  a.names,
  a.leaseMs,
  a.maxSleepMs,
  a.limit,
  a.maxBytes,
  a.canHear ? 1 : 0,
  a.keepIdsMs,
  a.listing,
  a.completed.id.length,
  ...a.completed.id,
  ...a.completed.fence,
  ...(a.others.length + a.nextSteps.length + a.renewals.length + a.reports.length + a.limits.length === 0 ? [] : [
    a.others.length / 5,
    ...a.others,
    a.nextSteps.length / 5,
    ...a.nextSteps,
    a.renewals.length / 2,
    ...a.renewals,
    a.reports.length / 3,
    ...a.reports,
    a.limits.length / 4,
    ...a.limits,
  ]),
];

export const ordinaryScript = (keys: Pick<QueueKeys, 'base'>): NumberedScript<OrdinaryArguments, OrdinaryReply> => ({
  name: 'ordinary',
  keys: [],
  encode: encodeOrdinary,
  isNumbered: true,
});

/** See register.lua, which says what each of these is. */
export interface RegisterArguments {
  size: number;
  names: readonly ScriptArgument[];
}

export type RegisterReply = number;

const encodeRegister = (a: RegisterArguments): ScriptArgument[] => [a.size, ...a.names];

export const registerScript = (keys: QueueKeys, names: { crew: string }): BoundScript<RegisterArguments, RegisterReply> => ({
  name: 'register',
  keys: [keys.sleeping, `${keys.base}handles:${names.crew}`],
  encode: encodeRegister,
});

/** See relay.lua, which says what each of these is. */
export interface RelayArguments {
  session: string;
  crew: string;
  crewSize: number;
  leaseMs: number;
  maxSleepMs: number;
  limit: number;
  maxBytes: number;
  cursor: string;
  canHear: boolean;
  standing: 'stays' | 'goes';
  keepIdsMs: number;
  keepCompletedCount: number;
  keepCompletedAgeMs: number;
  keepDeadCount: number;
  keepDeadAgeMs: number;
  maxCrashes: number;
  presence: 'here' | 'gone' | '';
  host: string;
  options: string;
  msPerLevel: number;
  globalConcurrency: number;
  rateMax: number;
  rateWindowMs: number;
  groupsRule: string;
  targetType: 'stream' | 'list';
  maxLength: number;
}

export type RelayReply = [status: string, now: string, recovered: string[], late: string[], brokenJobs: string[], deadDropped: string[], lookAt: string, cursor: string, skippedOccurrences: string[], tendAt: string, toTend: string[], completions: string[]];

export const readRelayReply = (r: RelayReply) => ({ status: r[0], now: r[1], recovered: r[2], late: r[3], brokenJobs: r[4], deadDropped: r[5], lookAt: r[6], cursor: r[7], skippedOccurrences: r[8], tendAt: r[9], toTend: r[10], completions: r[11] });

const encodeRelay = (a: RelayArguments, given: GivenArguments): ScriptArgument[] => [
  given.clustered ? 1 : 0,
  a.session,
  a.crew,
  a.crewSize,
  a.leaseMs,
  a.maxSleepMs,
  a.limit,
  a.maxBytes,
  a.cursor,
  a.canHear ? 1 : 0,
  a.standing,
  a.keepIdsMs,
  a.keepCompletedCount,
  a.keepCompletedAgeMs,
  a.keepDeadCount,
  a.keepDeadAgeMs,
  a.maxCrashes,
  a.presence,
  a.host,
  a.options,
  a.msPerLevel,
  given.stealAfterMs,
  a.globalConcurrency,
  a.rateMax,
  a.rateWindowMs,
  a.groupsRule,
  a.targetType,
  a.maxLength,
  given.keepEnded,
];

export const relayScript = (keys: QueueKeys, names: { crew: string; target: string }): NumberedScript<RelayArguments, RelayReply> => ({
  name: 'relay',
  keys: [
    keys.jobs,
    keys.claims,
    keys.failures,
    keys.active,
    keys.dead,
    keys.completed,
    keys.results,
    keys.usedIds,
    keys.stats,
    keys.levels,
    keys.sleeping,
    keys.served,
    keys.workers,
    keys.gate,
    keys.rate,
    keys.yields,
    keys.queued,
    `${keys.base}handles:${names.crew}`,
    `${keys.base}sleepers:${names.crew}`,
    names.target,
  ],
  encode: encodeRelay,
  isNumbered: true,
});

/** See turn.lua, which says what each of these is. */
export interface TurnArguments {
  session: string;
  crew: string;
  crewSize: number;
  leaseMs: number;
  maxSleepMs: number;
  limit: number;
  maxBytes: number;
  cursor: string;
  canHear: boolean;
  standing: 'stays' | 'until-claimed' | 'goes';
  keepIdsMs: number;
  keepCompletedCount: number;
  keepCompletedAgeMs: number;
  keepDeadCount: number;
  keepDeadAgeMs: number;
  maxCrashes: number;
  presence: 'here' | 'gone' | '';
  host: string;
  options: string;
  msPerLevel: number;
  globalConcurrency: number;
  rateMax: number;
  rateWindowMs: number;
  groupsRule: string;
  wish: string;
  completed: { id: readonly ScriptArgument[]; fence: readonly ScriptArgument[] };
  /** Flat rows: transition, id, fence, first, second. */
  others: readonly ScriptArgument[];
  /** Flat rows: settlement, id, delayMs, route, rest. */
  nextSteps: readonly ScriptArgument[];
  /** Flat rows: id, fence. */
  renewals: readonly ScriptArgument[];
  /** Flat rows: id, fence, value. */
  reports: readonly ScriptArgument[];
  /** Flat rows: name, weight, free, size. */
  limits: readonly ScriptArgument[];
}

export type TurnReply = [status: string, now: string, bits: string, lost: string[], toCancel: string[], recovered: string[], late: string[], brokenJobs: string[], deadDropped: string[], lookAt: string, fence: string, cursor: string, isContended: '1' | '', suspect: 'reserved' | 'taken' | 'waits' | '', skippedOccurrences: string[], tendAt: string, toTend: string[], uses: 'more' | 'groups' | '' | '-', completions: string[], ...claimed: string[]];

export const readTurnReply = (r: TurnReply) => ({ status: r[0], now: r[1], bits: r[2], lost: r[3], toCancel: r[4], recovered: r[5], late: r[6], brokenJobs: r[7], deadDropped: r[8], lookAt: r[9], fence: r[10], cursor: r[11], isContended: r[12], suspect: r[13], skippedOccurrences: r[14], tendAt: r[15], toTend: r[16], uses: r[17], completions: r[18], claimed: r.slice(19) as string[] });

export const TURN_CLAIMED_AT = 19;

const encodeTurn = (a: TurnArguments, given: GivenArguments): ScriptArgument[] => [
  given.clustered ? 1 : 0,
  a.session,
  a.crew,
  a.crewSize,
  a.leaseMs,
  a.maxSleepMs,
  a.limit,
  a.maxBytes,
  a.cursor,
  a.canHear ? 1 : 0,
  a.standing,
  a.keepIdsMs,
  a.keepCompletedCount,
  a.keepCompletedAgeMs,
  a.keepDeadCount,
  a.keepDeadAgeMs,
  a.maxCrashes,
  a.presence,
  a.host,
  a.options,
  a.msPerLevel,
  given.stealAfterMs,
  a.globalConcurrency,
  a.rateMax,
  a.rateWindowMs,
  a.groupsRule,
  a.wish,
  given.keepEnded,
  a.completed.id.length,
  ...a.completed.id,
  ...a.completed.fence,
  ...(a.others.length + a.nextSteps.length + a.renewals.length + a.reports.length + a.limits.length === 0 ? [] : [
    a.others.length / 5,
    ...a.others,
    a.nextSteps.length / 5,
    ...a.nextSteps,
    a.renewals.length / 2,
    ...a.renewals,
    a.reports.length / 3,
    ...a.reports,
    a.limits.length / 4,
    ...a.limits,
  ]),
];

export const turnScript = (keys: QueueKeys, names: { crew: string }): NumberedScript<TurnArguments, TurnReply> => ({
  name: 'turn',
  keys: [
    keys.jobs,
    keys.claims,
    keys.failures,
    keys.active,
    keys.dead,
    keys.completed,
    keys.results,
    keys.usedIds,
    keys.stats,
    keys.levels,
    keys.sleeping,
    keys.served,
    keys.fence,
    keys.workers,
    keys.gate,
    keys.rate,
    keys.reservations,
    keys.yields,
    keys.queued,
    `${keys.base}handles:${names.crew}`,
    `${keys.base}sleepers:${names.crew}`,
  ],
  encode: encodeTurn,
  isNumbered: true,
});
