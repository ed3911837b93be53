import { InvalidScheduleError } from '../errors.js';
import {
  CIRCULAR_IMPORT,
  headers,
  JOB_SETTINGS_SHAPE,
  type JobOptions,
  type JobSettings,
  type LatenessRule,
  readDefinition,
  type ScheduledJobDefinition,
} from '../job/definition.js';
import { groupByDefinition, groupOrNull } from '../job/job-group.js';
import { above1 } from '../job/job-versions.js';
import type { NewJob } from '../job/new-job.js';
import { describe } from '../read/describe.js';
import { type Due, readDue } from '../read/due.js';
import type { Duration } from '../read/duration.js';
import { JOB_NAME_CHARACTERS, jobId, jobName, keyPart } from '../read/names.js';
import { anything, asSentence, isRecord, readOne, readOptions, readShape, type Shape } from '../read/shape.js';
import { tags } from '../read/tags.js';
import { DEFAULT_PRIORITY } from './defaults.js';
import { DEFAULT_QUEUE } from './queue-options.js';

/** The options of `schedule`. */
export interface ScheduleOptions extends JobOptions {
  /**
   * When the job is due: a Date, epoch ms, or ISO 8601 with time and `Z` or offset. If it lies in the past, the job is due at once and
   * counts as late since then. Instants before 1e11 ms (March 1973) are refused, because they look like seconds.
   */
  at?: Date | number | string;
  /** How long from now, by the clock of Redis. Not together with `at`. Without either the job is due now. */
  delay?: Duration;
  /** The queue, if not the definition's. */
  queue?: string;
  /**
   * The job's id, unique in its queue: 1 to 256 printable characters. By default the library makes one. If the id is taken,
   * `onDuplicate` decides. An id is taken while its job waits, runs or is dead, and for `keepIdsMs` after the job has completed, was
   * discarded or was dropped by `keepDead`. Cancelling, removing, clearing or purging the job frees its id at once.
   */
  id?: string;
  /**
   * The `workerId` of the process that should run the job. That process takes it before other jobs of its priority. Any other process
   * may take it once it is `stealAfterMs` late (an option of the queue), or if the preferred process is gone. Default: none.
   */
  worker?: string;
  /**
   * Whose job it is, such as a tenant: due jobs of different groups take turns, and the queue's option `groups` limits each group. 1 to 256
   * printable characters. `null`: no group, whatever the definition says. Not together with `worker`. Default: the definition's.
   */
  group?: string | null;
}

/** Options of `dispatch`: those of `schedule`, without `at` and `delay`. */
export type DispatchOptions = Omit<ScheduleOptions, 'at' | 'delay'>;

/** The new due time of a waiting job. */
export type RescheduleOptions = Pick<ScheduleOptions, 'at' | 'delay'>;

/** How a call names a job: the answer of `schedule`, `definition.ref(id)`, `{ id, queue }`, or a bare id in the default queue. */
export type JobRef = string | { readonly id: string; readonly queue?: string };

/** A call to `schedule` that has been read: the job, and where it goes. Its payload is empty until it has been serialised. */
export interface ScheduleRequest extends NewJob {
  /** Missing where the job was named by a string. */
  definition?: ScheduledJobDefinition;
  queue: string;
  /** Whether the job takes the place of one that has its id. */
  replace: boolean;
}

interface ReadScheduleOptions extends JobSettings {
  at?: unknown;
  delay?: unknown;
  queue?: string;
  id?: string;
  worker?: string;
  group?: string | null;
}

const SHAPE: Shape<ReadScheduleOptions> = {
  at: anything,
  delay: anything,
  queue: keyPart,
  id: jobId,
  worker: keyPart,
  group: groupOrNull,
  ...JOB_SETTINGS_SHAPE,
};
const NO_SETTINGS = Object.freeze({});
const NOTHING_SAID: { value: ReadScheduleOptions } = { value: NO_SETTINGS };

/**
 * Reads a call to `schedule`, or what another call says of a job in the same way. `payload`: as it was given, for the definition's `group`.
 * Throws `InvalidScheduleError`; `where` begins its message.
 */
export function readSchedule(
  job: ScheduledJobDefinition | string,
  options: ScheduleOptions | undefined,
  payload?: unknown,
  where?: string,
): ScheduleRequest {
  const definition = readDefinition(job);
  const name = definition?.name ?? readName(job, where);
  const queue = definition?.queue ?? DEFAULT_QUEUE;
  const defined = definition?.settings;
  const read = options === undefined ? NOTHING_SAID : readShape<ReadScheduleOptions>(SHAPE, options);
  if ('problem' in read) throw refused(where, name, queue, asSentence(read.problem));
  const given = read.value;
  const due = readDue(given.at, given.delay);
  if ('problem' in due) throw refused(where, name, queue, `${due.problem}.`);
  const replace = (given.onDuplicate ?? defined?.onDuplicate) === 'replace';
  if (replace && given.id === undefined && given.onDuplicate) {
    throw refused(where, name, queue, `onDuplicate: 'replace' needs an id, expected one that names what is replaced.`);
  }
  // A definition's means nothing to a call without an id.
  const maxWaitMs = given.maxWaitMs ?? (given.id === undefined ? undefined : defined?.maxWaitMs);
  const throttleMs = given.throttleMs ?? (given.id === undefined ? undefined : defined?.throttleMs);
  if (maxWaitMs !== undefined || throttleMs !== undefined) {
    const problem = spacingProblem(maxWaitMs, throttleMs, given.id !== undefined, replace);
    if (problem) throw refused(where, name, queue, problem);
  }
  const lateness =
    given.maxLatenessMs === undefined && given.onLate === undefined
      ? latenessOf(defined)
      : latenessOf({ ...defined, ...given });
  if (given.onLate && !lateness)
    throw refused(where, name, queue, `onLate: '${given.onLate}' needs maxLatenessMs, expected how late is too late.`);
  const merged = defined?.headers && given.headers ? headers({ ...defined.headers, ...given.headers }) : undefined;
  if (merged && 'problem' in merged)
    throw refused(where, name, queue, `headers, with the definition's: ${merged.problem}.`);
  const tagged = defined?.tags && given.tags ? tags([...defined.tags, ...given.tags]) : undefined;
  if (tagged && 'problem' in tagged)
    throw refused(where, name, queue, `tags, with the definition's: ${tagged.problem}.`);
  const group = groupOf(given, definition, payload);
  if (group && 'problem' in group) throw refused(where, name, queue, `group: ${group.problem}.`, group);
  return {
    definition,
    name,
    version: above1(definition?.version),
    queue: given.queue ?? queue,
    priority: given.priority ?? defined?.priority ?? DEFAULT_PRIORITY,
    due,
    id: given.id,
    worker: given.worker,
    group: group?.value,
    replace: replace && given.id !== undefined,
    maxWaitMs,
    throttleMs,
    tags: tagged?.value ?? given.tags ?? defined?.tags,
    settings: settingsOf(given, merged?.value ?? given.headers ?? defined?.headers),
    lateness,
    payload: '',
  };
}

/**
 * Throws `InvalidScheduleError` where options seem to stand in the place of the payload. Without a payload class nothing else would
 * notice, and the job would be due now. Of a job named by a string nobody knows whether it has a payload, such as `{ id }`: there only
 * options that can be used, and that say when, are taken for options. To be called only where the call gives no options.
 */
export function refuseMisplacedOptions(payload: unknown, { definition, name, queue }: ScheduleRequest): void {
  if (definition?.payload || !isRecord(payload)) return;
  const keys = Object.keys(payload);
  if (keys.length === 0 || !keys.every((key) => Object.hasOwn(SHAPE, key))) return;
  if (!definition && !saysWhen(payload)) return;
  throw refused(
    undefined,
    name,
    queue,
    `got { ${keys.join(', ')} } as the payload, which are all names of options: expected them as the third argument, schedule(job, undefined, { … }). If it is the payload, give options as well, even empty ones: schedule(job, payload, {}).`,
  );
}

/** Throws `InvalidScheduleError` where a call of `dispatch` says when. */
export function refuseDueTime(options: DispatchOptions | undefined): void {
  if (typeof options === 'object' && options !== null && ('at' in options || 'delay' in options))
    throw new InvalidScheduleError(
      'dispatch: got at or delay, expected neither: a dispatched job is due now. Use schedule.',
    );
}

function saysWhen(options: object): boolean {
  const read = readShape<ReadScheduleOptions>(SHAPE, options);
  if ('problem' in read) return false;
  const { at, delay } = read.value;
  return (at !== undefined || delay !== undefined) && !('problem' in readDue(at, delay));
}

function refused(
  where = '',
  name: string,
  queue: string,
  problem: string,
  { cause }: { cause?: unknown } = {},
): InvalidScheduleError {
  const fields = { queue, jobName: name, ...(cause !== undefined && { cause }) };
  return new InvalidScheduleError(`${where || `schedule('${name}')`}: ${problem}`, fields);
}

/** Whose job it is; `undefined` where nobody says. */
function groupOf(
  { group, worker }: ReadScheduleOptions,
  definition: ScheduledJobDefinition | undefined,
  payload: unknown,
): ReturnType<typeof groupByDefinition> | undefined {
  const defined = definition?.settings.group;
  // A payload that is missing is refused later, by an error that says so.
  const isByDefinition =
    group === undefined && defined !== undefined && !(definition?.payload && payload === undefined);
  const read = isByDefinition ? groupByDefinition(defined, payload) : { value: group ?? undefined };
  if (worker === undefined || 'problem' in read || read.value === undefined) return read;
  const whose = isByDefinition ? `the definition's ${describe(read.value)}` : describe(read.value);
  return { problem: `got ${whose} together with worker ${describe(worker)}, expected one of them` };
}

function settingsOf(
  { maxAttempts, backoff, timeoutMs }: ReadScheduleOptions,
  headers: JobSettings['headers'],
): ScheduleRequest['settings'] {
  const saysAny =
    maxAttempts !== undefined || backoff !== undefined || timeoutMs !== undefined || headers !== undefined;
  return saysAny ? { maxAttempts, backoff, timeoutMs, headers } : NO_SETTINGS;
}

/** Why these cannot be used, at least one of which is given. */
function spacingProblem(
  maxWaitMs: number | undefined,
  throttleMs: number | undefined,
  hasId: boolean,
  replace: boolean,
): string | undefined {
  if (maxWaitMs !== undefined && throttleMs !== undefined)
    return `got both maxWaitMs (${maxWaitMs}) and throttleMs (${throttleMs}), expected one of them.`;
  const option = maxWaitMs === undefined ? `throttleMs: ${throttleMs}` : `maxWaitMs: ${maxWaitMs}`;
  if (!hasId) return `${option} needs an id, expected one that names what is replaced.`;
  return replace ? undefined : `${option} needs onDuplicate: 'replace', in the call or in the definition.`;
}

function latenessOf(settings: Pick<JobSettings, 'maxLatenessMs' | 'onLate'> | undefined): LatenessRule | undefined {
  if (settings?.maxLatenessMs === undefined) return undefined;
  return { maxLatenessMs: settings.maxLatenessMs, onLate: settings.onLate ?? 'run' };
}

function readName(job: unknown, where = 'schedule'): string {
  const read = jobName(job);
  if ('problem' in read) {
    throw new InvalidScheduleError(
      `${where}: job: got ${describe(job)}, expected a definition or a name of 1 to ${JOB_NAME_CHARACTERS} printable characters.${job === undefined ? ` ${CIRCULAR_IMPORT}` : ''}`,
    );
  }
  return read.value;
}

/** Reads a new due time, where one has to be given. Throws `InvalidScheduleError`. */
export function readReschedule(options: unknown, jobId: string): Due {
  const where = `reschedule('${jobId}')`;
  const refuse = (message: string) => new InvalidScheduleError(message, { jobId });
  const given = readOptions(options, { at: anything, delay: anything }, where, refuse);
  if (given.at === undefined && given.delay === undefined)
    throw refuse(`${where}: got neither at nor delay, expected one of them.`);
  const due = readDue(given.at, given.delay);
  if ('problem' in due) throw refuse(`${where}: ${due.problem}.`);
  return due;
}

/** Reads which job is meant. Throws `InvalidScheduleError`. */
export function readRef(
  ref: unknown,
  options: { queue?: string } | undefined,
  where: string,
): { id: string; queue: string } {
  const given = typeof ref === 'string' ? { id: ref } : ref;
  if (given === null || typeof given !== 'object' || !('id' in given)) {
    throw new InvalidScheduleError(`${where}: got ${describe(ref)}, expected an id or { id, queue }.`);
  }
  const id = readOne(jobId, given.id, `${where}: id`);
  const refuse = (message: string) => new InvalidScheduleError(message, { jobId: id });
  const { queue } = readOptions(options, { queue: keyPart }, where, refuse);
  return { id, queue: queue ?? readQueue('queue' in given ? given.queue : undefined, where) };
}

/** Reads which queue is meant; none means the default one. Throws `InvalidScheduleError`. */
export function readQueue(queue: unknown, where: string): string {
  return queue === undefined ? DEFAULT_QUEUE : readOne(keyPart, queue, `${where}: queue`);
}
