import { InvalidScheduleError, invalidSchedule } from '../errors.js';
import { readDefinition, type ScheduledJobDefinition } from '../job/definition.js';
import type { SetState } from '../job/job-set.js';
import { setId } from '../job/job-set.js';
import type { ItemPayload } from '../payload/payload-types.js';
import { describe } from '../read/describe.js';
import { keyPart } from '../read/names.js';
import {
  anything,
  asSentence,
  integer,
  isRecord,
  oneOf,
  readOne,
  readOptions,
  type Shape,
  unknownOption,
} from '../read/shape.js';
import { DEFAULT_QUEUE } from './queue-options.js';
import { readSchedule, type ScheduleOptions, type ScheduleRequest } from './schedule-options.js';

/** The options of a completion job; a `delay` counts from the end of the last member. */
export type CompletionJobOptions = Omit<ScheduleOptions, 'id' | 'at' | 'onDuplicate' | 'queue' | 'set'>;

/** The job that is scheduled once a set is done. */
export type CompletionJobOf<T> = {
  /** Its definition, or its name. */
  job: ScheduledJobDefinition<T> | string;
  /** Those of `schedule`, without `id`, `at`, `onDuplicate`, `queue` and `set`. */
  options?: CompletionJobOptions;
} & NoInfer<ItemPayload<T>>;

/** The options of `openSet`. */
export interface OpenSetOptions<T = unknown> {
  /** The job that is scheduled once the set is done, with the numbers in `job.setDone`. Default: none. */
  done?: CompletionJobOf<T>;
  /** The queue of the set and of all its members. Default: that of `done`'s definition, else `'default'`. */
  queue?: string;
}

/** A call to `openSet` that has been read. */
export interface OpenSetRequest {
  id: string;
  queue: string;
  done?: { request: ScheduleRequest; payload: unknown };
}

const OPEN: Shape<{ done: unknown; queue: string }> = { done: anything, queue: keyPart };
const DONE = ['job', 'payload', 'options'];
const NOT_IN_DONE: Record<string, string> = {
  id: 'the id of a completion job is made',
  at: 'it is due when the set is done, or a delay later',
  onDuplicate: 'it is a new job',
  queue: 'it is of the queue of its set',
  set: 'it is no member',
};

/** Reads a call to `openSet`. Throws `InvalidScheduleError`. */
export function readOpenSet(id: unknown, options: unknown): OpenSetRequest {
  const read = readSetId(id, 'openSet');
  const where = `openSet('${read}')`;
  const { done, queue } = readOptions(options, OPEN, where, invalidSchedule);
  if (done === undefined) return { id: read, queue: queue ?? DEFAULT_QUEUE };
  const refuse = (problem: string) => new InvalidScheduleError(asSentence(`${where}: done: ${problem}`), { queue });
  if (!isRecord(done)) throw refuse(`got ${describe(done)}, expected { job, payload, options }`);
  const unknown = Object.keys(done).find((key) => !DONE.includes(key));
  if (unknown !== undefined) throw refuse(unknownOption(unknown, DONE));
  const { job, payload, options: said } = done as { job: string; payload?: unknown; options?: ScheduleOptions };
  const refused = isRecord(said) ? Object.keys(NOT_IN_DONE).find((name) => name in said) : undefined;
  if (refused !== undefined) throw refuse(`got ${refused}, expected none: ${NOT_IN_DONE[refused]}`);
  const own = readDefinition(job)?.queue;
  if (own !== undefined && queue !== undefined && own !== queue)
    throw refuse(`got a job of queue '${own}', expected one of the queue of the set, '${queue}'`);
  const request = { ...readSchedule(job, said, payload, `${where}: done`), queue: queue ?? own ?? DEFAULT_QUEUE };
  return { id: read, queue: request.queue, done: { request, payload } };
}

/** Reads the id of a set. Throws `InvalidScheduleError`; `call` begins its message. */
export function readSetId(id: unknown, call: string): string {
  return readOne(setId, id, `${call}: id`);
}

/** The options of `inspector.sets`. */
export interface SetsOptions {
  /** Only sets in this state. Default: in any. */
  state?: SetState;
  /** How many at most: 1 to 1 000, by default 100. */
  limit?: number;
  /** Default `'default'`. */
  queue?: string;
}

const SETS: Shape<SetsOptions> = { state: oneOf('open', 'closed', 'done'), limit: integer(1, 1_000), queue: keyPart };

/** Reads a call to `inspector.sets`. Throws `InvalidScheduleError`. */
export function readSets(options: unknown): { states: readonly SetState[]; limit: number; queue: string } {
  const { state, limit = 100, queue = DEFAULT_QUEUE } = readOptions(options, SETS, 'sets', invalidSchedule);
  return { states: state ? [state] : ['open', 'closed', 'done'], limit, queue };
}
