import { InvalidOptionsError, InvalidScheduleError, invalidOptions } from '../errors.js';
import { MAX_PRIORITY } from '../options/defaults.js';
import { DEFAULT_QUEUE } from '../options/queue-options.js';
import type { PayloadClass } from '../payload/payload-class.js';
import type { PayloadForm, PayloadOf } from '../payload/payload-types.js';
import { describe } from '../read/describe.js';
import type { Duration } from '../read/duration.js';
import { jobId, jobName, keyPart } from '../read/names.js';
import {
  type Check,
  classReference,
  duration,
  integer,
  isRecord,
  oneOf,
  readOne,
  readOptions,
  type Shape,
} from '../read/shape.js';
import { tags } from '../read/tags.js';
import {
  type Backoff,
  type BackoffFunction,
  type BackoffOptions,
  backoffCheck,
  backoffOrFunctionCheck,
} from './backoff.js';
import { type GroupFunction, groupOrFunction } from './job-group.js';
import { jobVersion, type UpgradeSteps, upgradeSteps, versionsProblem } from './job-versions.js';

/** The ways to treat a job that is claimed later than it may begin. */
export const ON_LATE = ['run', 'discard', 'dead-letter'] as const;
/** What becomes of a job that could only begin more than `maxLatenessMs` after it was due. */
export type OnLate = (typeof ON_LATE)[number];

/** How late a job may begin, and how a later one is treated. */
export interface LatenessRule {
  maxLatenessMs: number;
  onLate: OnLate;
}

/**
 * Options of a job, for its definition and for each call to `schedule`. The call overrides the definition. `maxAttempts`, `backoff`
 * and `timeoutMs`, if the call does not give them, are looked up where the job runs: in the module's `jobs`, then in the handler,
 * then in the definition that the handler names.
 */
export interface JobOptions {
  /** 1 to 1 000; a lower number is more urgent. Default `JobPriority.MEDIUM`, 5. */
  priority?: number;
  /** How many times the job may run, including the first time: 1 to 1 000. Default 6. */
  maxAttempts?: number;
  /** How long a failed job waits. Default exponential from 60 s. */
  backoff?: BackoffOptions;
  /** How long one run may take. After that its signal aborts and the attempt has failed. 0: no limit. Default 1 800 000, half an hour. */
  timeoutMs?: Duration;
  /**
   * How late a run may start; if it is later, `onLate` decides. Default: any lateness. 0 means that it must start in the very
   * millisecond in which it is due; to allow any lateness, leave the option out. An `at` in the past counts, so such a job may be
   * too late at once.
   */
  maxLatenessMs?: Duration;
  /**
   * What happens to a job that is later than `maxLatenessMs` when it is claimed: `run` it all the same, `discard` it, or
   * `dead-letter` it with the reason `late`. The event `late` tells each case. Default `run`. Without a `maxLatenessMs` it has no
   * effect in a definition, and throws `InvalidScheduleError` in a call.
   */
  onLate?: OnLate;
  /**
   * What a call does if its `id` is taken. `keep`: nothing, if a job of that id waits, runs, is dead or has ended lately. `replace`: the
   * new job takes the place of the old one, and no change is lost. A waiting job gets the new payload, due time and options, and
   * starts at attempt 1 again. A dead job is dropped. Behind a running job the new one is queued: it takes over as soon as the run
   * leaves its handler, and if that run failed, it is not retried. A job of another name is never changed. Default `keep`. In a call
   * without an `id`, a definition's `replace` is ignored, and a call's throws `InvalidScheduleError`.
   */
  onDuplicate?: 'keep' | 'replace';
  /**
   * With `onDuplicate: 'replace'`: however often a job is replaced while it waits or is queued, it is due no later than this after the
   * first job of the row was scheduled, whose `createdAt` it keeps. A row begins with a new job, or with the first that is queued behind
   * a run, and ends when its job begins or is cancelled. A longer `delay`, or a later `at`, is cut. 0: it is due at once. Default: it may
   * wait for ever. In a call without an `id`, a definition's is ignored. Throws `InvalidScheduleError` for a call's without an `id`, where
   * `onDuplicate` is not `replace`, and together with `throttleMs`.
   */
  maxWaitMs?: Duration;
  /**
   * With `onDuplicate: 'replace'`: the due times of two new jobs of an `id` are at least this far apart, at most 1 day. A new job is due at
   * its own time, or this long after the due time with which the last new job was answered, whichever is later, whatever became of that
   * one. A job that takes the place of a waiting or queued one keeps its due time, whatever `at` or `delay` says. Calls without this option
   * are not held back, and hold nothing back. 0: only that a replaced job keeps its due time. Default: none. Ignored, and refused with
   * `InvalidScheduleError`, as `maxWaitMs` is.
   */
  throttleMs?: Duration;
  /**
   * `inspector.cancelTagged` and `shiftTagged` find a waiting job by its tags: up to 16, each of 1 to 256 printable characters.
   * The tags of a call are added to those of the definition. Default: none.
   */
  tags?: readonly string[];
  /**
   * Strings that travel with the job, up to 4 KiB in all. Those of a call are added to those of the definition, and win where both have a
   * name. Default: none.
   */
  headers?: Record<string, string>;
}

/** The options of `defineScheduledJob`. */
// biome-ignore lint/suspicious/noExplicitAny: options may be written down before their definition
export interface JobDefinitionOptions<Payload = any> extends Omit<JobOptions, 'backoff'> {
  /** How long a failed job waits, or a function that decides it where the handler runs. Default: exponential from 60 s. */
  backoff?: BackoffOptions | BackoffFunction;
  /** The queue of the job. Default `'default'`. */
  queue?: string;
  /** The class of the payload. A payload is validated when it is scheduled, and again before its handler runs. Default: none. */
  payload?: PayloadClass;
  /**
   * Whose job it is, such as a tenant: due jobs of different groups take turns, and the queue's option `groups` limits each group. 1 to 256
   * printable characters, or a function of the payload as it was given to the call, which answers such a text or `undefined` for no group.
   * If it throws or answers something else, a promise for example, the call throws `InvalidScheduleError`. A call's `group` wins.
   * Default: no group.
   */
  group?: string | GroupFunction<Payload>;
  /**
   * Which form of the payload this is, 1 to 10 000: raise it when you change the payload in a way that older code cannot read. A job keeps the
   * version with which it was scheduled, and a worker claims only versions that it can read; a newer one waits for a newer process. Default 1.
   */
  version?: number;
  /**
   * How payloads of older versions become this one: by version, a function that makes a payload of the next version of one of that version. A
   * worker claims versions from the lowest key up to `version`. The steps are applied one after the other to the decoded payload, before it
   * is validated, and anew at each attempt. Each answers at once; one that throws, or answers a promise, makes the job dead with the reason
   * `invalid-payload`. At most 100 steps, without a gap up to `version`. Needs `version`. Default: none, so only jobs of `version` are claimed.
   */
  upgrade?: UpgradeSteps;
}

/** Job options that have been read. */
export interface JobSettings
  extends Omit<JobOptions, 'backoff' | 'timeoutMs' | 'maxLatenessMs' | 'maxWaitMs' | 'throttleMs'> {
  backoff?: Backoff;
  timeoutMs?: number;
  maxLatenessMs?: number;
  maxWaitMs?: number;
  throttleMs?: number;
}

/** Options of a definition that have been read. */
export type DefinitionSettings = Omit<JobSettings, 'backoff'> & {
  backoff?: Backoff | BackoffFunction;
  group?: string | GroupFunction;
};

declare const payloadType: unique symbol;
declare const payloadForm: unique symbol;

/**
 * A job's name, payload type and options, shared by whoever schedules and whoever handles. Made by `defineScheduledJob`. `Form` says
 * how handlers get the payload: as an instance of the definition's class (`'instance'`), or as what JSON makes of `T` (`'json'`).
 */
export interface ScheduledJobDefinition<T = unknown, Form extends PayloadForm = PayloadForm> {
  /** By which handlers are found. */
  readonly name: string;
  /** Where its jobs lie; `undefined` for `'default'`. */
  readonly queue?: string;
  /** The class of the payload; `undefined` without one. */
  readonly payload?: PayloadClass;
  /** The version of its payloads; `undefined` for 1. */
  readonly version?: number;
  /** The steps by which payloads of older versions become this one; `undefined` without any. */
  readonly upgrade?: UpgradeSteps;
  /** The other options, as they were read: durations in milliseconds. */
  readonly settings: Readonly<DefinitionSettings>;
  /** Names a job by its id and the definition's queue. Throws `InvalidScheduleError` where the id cannot be one. */
  ref(id: string): { id: string; queue: string };
  /** Only for the type checker: no such properties exist. */
  readonly [payloadType]?: T;
  readonly [payloadForm]?: Form;
}

const MAX_HEADERS_BYTES = 4_096;
/** Redis remembers each id for so long. */
const MAX_THROTTLE_MS = 86_400_000;

export const headers: Check<Record<string, string>> = (value) => {
  if (!isRecord(value)) return { problem: `got ${describe(value)}, expected an object of strings` };
  for (const [name, text] of Object.entries(value)) {
    if (typeof text !== 'string') return { problem: `${describe(name)}: got ${describe(text)}, expected a string` };
  }
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes > MAX_HEADERS_BYTES) return { problem: `got ${bytes} bytes, expected at most ${MAX_HEADERS_BYTES}` };
  return { value: Object.freeze({ ...value }) as Record<string, string> };
};

export const JOB_SETTINGS_SHAPE: Shape<JobSettings> = {
  priority: integer(1, MAX_PRIORITY),
  maxAttempts: integer(1, 1_000),
  backoff: backoffCheck,
  timeoutMs: duration(),
  maxLatenessMs: duration(),
  onLate: oneOf(...ON_LATE),
  onDuplicate: oneOf('keep', 'replace'),
  maxWaitMs: duration(),
  throttleMs: duration(0, MAX_THROTTLE_MS),
  tags,
  headers,
};

/**
 * Defines a job once, for the code that schedules it and the code that handles it. With a payload class, handlers get an instance of
 * that class. Without one, `T` is the type of what you send, and handlers get what JSON makes of it. With neither, the job has no
 * payload. Throws `InvalidOptionsError` for a name or an option that cannot be used.
 *
 * @example
 * ```ts
 * const sendReminder = defineScheduledJob<{ to: string }>('reminder.send', { maxAttempts: 3 });
 * ```
 */
export function defineScheduledJob<T extends object>(
  name: string,
  options: JobDefinitionOptions<NoInfer<PayloadOf<T>>> & { payload: PayloadClass<T> },
): ScheduledJobDefinition<T, 'instance'>;
export function defineScheduledJob<T = void>(
  name: string,
  options?: JobDefinitionOptions<NoInfer<PayloadOf<T>>> & { payload?: undefined },
): ScheduledJobDefinition<T, 'json'>;
export function defineScheduledJob(name: string, options?: JobDefinitionOptions): ScheduledJobDefinition {
  readOne(jobName, name, 'defineScheduledJob: name', invalidOptions);
  const where = `defineScheduledJob('${name}')`;
  const refuse = (message: string) => new InvalidOptionsError(message, { jobName: name });
  const { queue, payload, version, upgrade, ...settings } = readOptions(
    options,
    {
      queue: keyPart,
      payload: classReference,
      version: jobVersion,
      upgrade: upgradeSteps,
      ...JOB_SETTINGS_SHAPE,
      backoff: backoffOrFunctionCheck,
      group: groupOrFunction,
    },
    where,
    refuse,
  );
  const problem = versionsProblem(version, upgrade);
  if (problem) throw refuse(`${where}: ${problem}.`);
  const read = Object.freeze(settings);
  const definition = Object.freeze({ name, queue, payload, version, upgrade, settings: read, ref: refIn });
  made.add(definition);
  if (queue !== undefined && queues.size < MOST_QUEUES) queues.add(queue);
  return definition;
}

/** Reads `this`, so that a definition that was spread and given another queue names that queue. */
function refIn(this: ScheduledJobDefinition, id: string): { id: string; queue: string } {
  const { queue = DEFAULT_QUEUE, name } = this;
  const refuse = (message: string) => new InvalidScheduleError(message, { queue, jobName: name });
  return { id: readOne(jobId, id, `The ref of job '${name}': id`, refuse), queue };
}

/** Why a definition may be `undefined`: CommonJS hands over a file that has not been read to its end. ES modules throw a ReferenceError themselves. */
export const CIRCULAR_IMPORT =
  'Is this file imported in a circle with the one that defines the job? Put definitions into a file of their own.';

const made = new WeakSet<object>();

/**
 * The queues that definitions of this process have named, in both builds of this package, for a warning at start. Definitions are made
 * as files are imported, before any application starts, so nobody can hand them over; one of an earlier application only spares a warning.
 */
const QUEUES = Symbol.for('nestjs-redis-scheduled-queue:queues of definitions');
/** Definitions may be made at run time, with queues of any number. */
const MOST_QUEUES = 10_000;
const shared = globalThis as { [QUEUES]?: Set<string> };
shared[QUEUES] ??= new Set();
const queues = shared[QUEUES];

export function queuesOfDefinitions(): ReadonlySet<string> {
  return queues;
}

/**
 * The definition that somebody hands over, or `undefined` where it is none. A copy that was spread and changed, or one made
 * by this package's other build, is read anew. Throws `InvalidOptionsError`.
 */
export function readDefinition(value: unknown): ScheduledJobDefinition | undefined {
  if (typeof value !== 'object' || value === null || !('name' in value) || !('settings' in value)) return undefined;
  if (made.has(value)) return value as ScheduledJobDefinition;
  const { name, queue, payload, version, upgrade, settings } = value as ScheduledJobDefinition;
  return defineScheduledJob(name, { queue, payload: payload as undefined, version, upgrade, ...settings });
}
