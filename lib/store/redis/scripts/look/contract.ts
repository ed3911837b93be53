// Made by scripts/embed-lua.mjs from the headers of the scripts in this folder; change these and run `npm run embed`.
import type { QueueKeys } from '../../keys.js';
import type { BoundScript, ScriptArgument } from '../bound-script.js';

/** See counts.lua, which says what each of these is. */
export interface CountsArguments {
  base: string;
  from: string;
  costLeft: number;
}

export type CountsReply = [waiting: number, due: number, active: number, dead: number, completed: number, next: string, now: string, nextDue: string];

export const readCountsReply = (r: CountsReply) => ({ waiting: r[0], due: r[1], active: r[2], dead: r[3], completed: r[4], next: r[5], now: r[6], nextDue: r[7] });

const encodeCounts = (a: CountsArguments): ScriptArgument[] => [a.base, a.from, a.costLeft];

export const countsScript = (keys: QueueKeys): BoundScript<CountsArguments, CountsReply> => ({
  name: 'counts',
  keys: [keys.jobs, keys.active, keys.dead, keys.completed, keys.levels],
  encode: encodeCounts,
});

/** See differing.lua, which says what each of these is. */
export interface DifferingArguments {
  base: string;
  digest: string;
  withinMs: number;
}

export type DifferingReply = [...sessions: string[]];

const encodeDiffering = (a: DifferingArguments): ScriptArgument[] => [a.base, a.digest, a.withinMs];

export const differingScript = (keys: QueueKeys): BoundScript<DifferingArguments, DifferingReply> => ({
  name: 'differing',
  keys: [keys.workers],
  encode: encodeDiffering,
});

/** See find.lua, which says what each of these is. */
export interface FindArguments {
  base: string;
  walk: string;
  from: string;
  size: number;
  limit: number;
  bytesLeft: number;
  states: string;
  idPrefix: string;
  names: string;
  tags: string;
  group: string;
  dueFrom: number;
  dueTo: number;
  ids: readonly ScriptArgument[];
}

export type FindReply = [next: string, looked: string, bytes: string, left: string[], ...jobs: string[][]];

const encodeFind = (a: FindArguments): ScriptArgument[] => [
  a.base,
  a.walk,
  a.from,
  a.size,
  a.limit,
  a.bytesLeft,
  a.states,
  a.idPrefix,
  a.names,
  a.tags,
  a.group,
  a.dueFrom,
  a.dueTo,
  ...a.ids,
];

export const findScript = (keys: QueueKeys): BoundScript<FindArguments, FindReply> => ({
  name: 'find',
  keys: [
    keys.jobs,
    keys.claims,
    keys.failures,
    keys.active,
    keys.dead,
    keys.completed,
    keys.results,
    keys.queued,
  ],
  encode: encodeFind,
});

/** See forecast.lua, which says what each of these is. */
export interface ForecastArguments {
  base: string;
  from: string;
  costLeft: number;
  bounds: readonly ScriptArgument[];
}

export type ForecastReply = [next: string, ...counts: number[]];

const encodeForecast = (a: ForecastArguments): ScriptArgument[] => [a.base, a.from, a.costLeft, ...a.bounds];

export const forecastScript = (keys: QueueKeys): BoundScript<ForecastArguments, ForecastReply> => ({
  name: 'forecast',
  keys: [keys.levels],
  encode: encodeForecast,
});

/** See groups.lua, which says what each of these is. */
export interface GroupsArguments {
  base: string;
  walk: 'waiting' | 'running' | 'settings' | 'pauses';
  from: string;
  count: number;
}

export type GroupsReply = [next: string, ...found: (string | number)[]];

const encodeGroups = (a: GroupsArguments): ScriptArgument[] => [a.base, a.walk, a.from, a.count];

export const groupsScript = (keys: QueueKeys): BoundScript<GroupsArguments, GroupsReply> => ({
  name: 'groups',
  keys: [keys.levels],
  encode: encodeGroups,
});

/** See handled.lua, which says what each of these is. */
export interface HandledArguments {
  base: string;
  name: string;
  withinMs: number;
}

export type HandledReply = [count: string, ...workers: string[]];

const encodeHandled = (a: HandledArguments): ScriptArgument[] => [a.base, a.name, a.withinMs];

export const handledScript = (keys: QueueKeys): BoundScript<HandledArguments, HandledReply> => ({
  name: 'handled',
  keys: [keys.workers],
  encode: encodeHandled,
});

/** See heads.lua, which says what each of these is. */
export interface HeadsArguments {
  base: string;
  from: string;
  to: string;
  ofLevel: number;
  left: number;
  passOver: number;
  levels: readonly ScriptArgument[];
}

export type HeadsReply = [isCut: '1' | '0', ...found: string[][]];

const encodeHeads = (a: HeadsArguments): ScriptArgument[] => [a.base, a.from, a.to, a.ofLevel, a.left, a.passOver, ...a.levels];

export const headsScript = (keys: QueueKeys): BoundScript<HeadsArguments, HeadsReply> => ({
  name: 'heads',
  keys: [keys.levels],
  encode: encodeHeads,
});

/** See held-due.lua, which says what each of these is. */
export interface HeldDueArguments {
  base: string;
  groupsRule: string;
  listed: number;
  from: number;
  count: number;
}

export type HeldDueReply = [looked: number, ...held: (string | number)[]];

const encodeHeldDue = (a: HeldDueArguments): ScriptArgument[] => [a.base, a.groupsRule, a.listed, a.from, a.count];

export const heldDueScript = (keys: QueueKeys): BoundScript<HeldDueArguments, HeldDueReply> => ({
  name: 'held-due',
  keys: [keys.levels],
  encode: encodeHeldDue,
});

/** See job.lua, which says what each of these is. */
export interface JobArguments {
  base: string;
  id: string;
}

export type JobReply = [...known: string[]];

const encodeJob = (a: JobArguments): ScriptArgument[] => [a.base, a.id];

export const jobScript = (keys: QueueKeys): BoundScript<JobArguments, JobReply> => ({
  name: 'job',
  keys: [
    keys.jobs,
    keys.claims,
    keys.failures,
    keys.active,
    keys.dead,
    keys.completed,
    keys.results,
    keys.queued,
  ],
  encode: encodeJob,
});

/** See jobs.lua, which says what each of these is. */
export interface JobsArguments {
  base: string;
  bytesLeft: number;
  ids: readonly ScriptArgument[];
}

export type JobsReply = string[][];

const encodeJobs = (a: JobsArguments): ScriptArgument[] => [a.base, a.bytesLeft, ...a.ids];

export const jobsScript = (keys: QueueKeys): BoundScript<JobsArguments, JobsReply> => ({
  name: 'jobs',
  keys: [
    keys.jobs,
    keys.claims,
    keys.failures,
    keys.active,
    keys.dead,
    keys.completed,
    keys.results,
    keys.queued,
  ],
  encode: encodeJobs,
});

/** See known-groups.lua, which says what each of these is. */
export interface KnownGroupsArguments {
  base: string;
  groupsRule: string;
  groups: readonly ScriptArgument[];
}

export type KnownGroupsReply = [...known: string[][]];

const encodeKnownGroups = (a: KnownGroupsArguments): ScriptArgument[] => [a.base, a.groupsRule, ...a.groups];

export const knownGroupsScript = (keys: QueueKeys): BoundScript<KnownGroupsArguments, KnownGroupsReply> => ({
  name: 'known-groups',
  keys: [keys.levels],
  encode: encodeKnownGroups,
});

/** See lanes.lua, which says what each of these is. */
export interface LanesArguments {
  base: string;
  after: string;
  count: number;
  /** Flat rows: name, passOver. */
  lanes: readonly ScriptArgument[];
}

export type LanesReply = string[][];

const encodeLanes = (a: LanesArguments): ScriptArgument[] => [a.base, a.after, a.count, ...a.lanes];

export const lanesScript = (keys: QueueKeys): BoundScript<LanesArguments, LanesReply> => ({
  name: 'lanes',
  keys: [keys.levels],
  encode: encodeLanes,
});

/** See late-names.lua, which says what each of these is. */
export interface LateNamesArguments {
  base: string;
  from: string;
  costLeft: number;
  lateMs: number;
}

export type LateNamesReply = [next: string, ...names: string[]];

const encodeLateNames = (a: LateNamesArguments): ScriptArgument[] => [a.base, a.from, a.costLeft, a.lateMs];

export const lateNamesScript = (keys: QueueKeys): BoundScript<LateNamesArguments, LateNamesReply> => ({
  name: 'late-names',
  keys: [keys.levels],
  encode: encodeLateNames,
});

/** See next-free.lua, which says what each of these is. */
export interface NextFreeArguments {
  base: string;
  groupsRule: string;
  known: readonly ScriptArgument[];
}

export type NextFreeReply = [nextDue: string, now: string, ...held: string[]];

const encodeNextFree = (a: NextFreeArguments): ScriptArgument[] => [a.base, a.groupsRule, ...a.known];

export const nextFreeScript = (keys: QueueKeys): BoundScript<NextFreeArguments, NextFreeReply> => ({
  name: 'next-free',
  keys: [keys.levels],
  encode: encodeNextFree,
});

/** See placement.lua, which says what each of these is. */
export interface PlacementArguments {
  base: string;
  most: number;
  withinMs: number;
  session: string;
}

export type PlacementReply = [isKnown: '1' | '0', jobs: number, placed: number, counted: number];

const encodePlacement = (a: PlacementArguments): ScriptArgument[] => [a.base, a.most, a.withinMs, a.session];

export const placementScript = (keys: QueueKeys): BoundScript<PlacementArguments, PlacementReply> => ({
  name: 'placement',
  keys: [keys.jobs, keys.active, keys.dead, keys.levels, keys.workers, keys.stats],
  encode: encodePlacement,
});

/** See priorities.lua, which says what each of these is. */
export interface PrioritiesArguments {
  base: string;
  from: string;
  costLeft: number;
}

export type PrioritiesReply = [next: string, ...counts: (string | number)[]];

const encodePriorities = (a: PrioritiesArguments): ScriptArgument[] => [a.base, a.from, a.costLeft];

export const prioritiesScript = (keys: QueueKeys): BoundScript<PrioritiesArguments, PrioritiesReply> => ({
  name: 'priorities',
  keys: [keys.levels],
  encode: encodePriorities,
});

/** See sizes.lua, which says what each of these is. */
export type SizesArguments = Record<string, never>;

export type SizesReply = [...bytes: number[]];

const encodeSizes = (): ScriptArgument[] => [];

export const sizesScript = (keys: QueueKeys): BoundScript<SizesArguments, SizesReply> => ({
  name: 'sizes',
  keys: [keys.jobs, keys.results, keys.failures, keys.recurrences],
  encode: encodeSizes,
});

/** See versions.lua, which says what each of these is. */
export interface VersionsArguments {
  base: string;
  name: string;
  from: string;
  costLeft: number;
}

export type VersionsReply = [next: string, ...counts: string[]];

const encodeVersions = (a: VersionsArguments): ScriptArgument[] => [a.base, a.name, a.from, a.costLeft];

export const versionsScript = (keys: QueueKeys): BoundScript<VersionsArguments, VersionsReply> => ({
  name: 'versions',
  keys: [keys.levels, keys.active, keys.dead, keys.claims, keys.queued],
  encode: encodeVersions,
});

/** See workers.lua, which says what each of these is. */
export interface WorkersArguments {
  withinMs: number;
  passOver: number;
  limit: number;
}

export type WorkersReply = [looked: string, isWhole: '1' | '0', alive: string[], holders: (string | number)[]];

const encodeWorkers = (a: WorkersArguments): ScriptArgument[] => [a.withinMs, a.passOver, a.limit];

export const workersScript = (keys: QueueKeys): BoundScript<WorkersArguments, WorkersReply> => ({
  name: 'workers',
  keys: [keys.workers, keys.active, keys.claims],
  encode: encodeWorkers,
});
