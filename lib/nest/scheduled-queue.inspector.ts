import { describe } from '../core/describe.js';
import { InvalidScheduleError } from '../core/errors.js';
import { keyPart } from '../core/names.js';
import { deserialisePayload } from '../core/payload.js';
import { DEFAULT_QUEUE } from '../core/queue-options.js';
import { type JobRef, readRef } from '../core/schedule-options.js';
import { integer, readOptions, type Shape } from '../core/shape.js';
import { decodeEnvelope, type Envelope } from '../store/envelope.js';
import type { JobCounts, JobState, JobStore, StoredJob } from '../store/job-store.js';

/** What has happened in a queue since it began. */
export interface QueueStats {
  scheduled: number;
  started: number;
  completed: number;
  failed: number;
  retried: number;
  dead: number;
  cancelled: number;
  discarded: number;
  snoozed: number;
  recovered: number;
  deadDropped: number;
}

export interface FailedAttempt {
  at: Date;
  attempt: number;
  name?: string;
  message?: string;
  stack?: string;
}

/** All that is known of a job. */
export interface InspectedJob {
  id: string;
  queue: string;
  name: string;
  state: JobState;
  /** As it was sent, before any class. `undefined` where it cannot be read. */
  payload: unknown;
  headers: Readonly<Record<string, string>>;
  priority: number;
  dueAt: Date;
  createdAt: Date;
  /** How many attempts have begun. */
  attempts: number;
  failures: FailedAttempt[];
  /** Of an active job: who runs it, and until when its lease holds. */
  worker?: string;
  leaseUntil?: Date;
  /** Of a completed or dead job. */
  endedAt?: Date;
  /** Why a dead job is dead. */
  reason?: string;
  /** What the handler of a completed job answered. */
  result?: unknown;
}

const STATES: readonly JobState[] = ['scheduled', 'due', 'active', 'completed', 'dead'];
const COUNTERS: readonly (keyof QueueStats)[] = [
  'scheduled',
  'started',
  'completed',
  'failed',
  'retried',
  'dead',
  'cancelled',
  'discarded',
  'snoozed',
  'recovered',
  'deadDropped',
];
const LISTED_AT_MOST = 1_000;
const LIST_OPTIONS: Shape<{ offset: number; limit: number; queue: string }> = {
  offset: integer(0),
  limit: integer(1, LISTED_AT_MOST),
  queue: keyPart,
};

/** Looks into queues. Where no queue is named, it is the default one. Every method may throw `QueueUnavailableError`. */
export class ScheduledQueueInspector {
  constructor(private readonly store: JobStore) {}

  /** How many jobs are in each state, all of one moment. `scheduled` ones are not yet due, `due` ones wait for a worker. */
  async counts(options?: { queue?: string }): Promise<JobCounts> {
    return this.store.counts(queueOf(options, 'counts'));
  }

  /** When the earliest waiting job is due, be that past; `null` if none waits. */
  async nextDueAt(options?: { queue?: string }): Promise<Date | null> {
    const { dueAtMs } = await this.store.nextDue(queueOf(options, 'nextDueAt'));
    return dueAtMs === undefined ? null : new Date(dueAtMs);
  }

  /** How long the oldest due job has waited, in ms by Redis' clock; 0 if none is due. */
  async latenessMs(options?: { queue?: string }): Promise<number> {
    const { dueAtMs, nowMs } = await this.store.nextDue(queueOf(options, 'latenessMs'));
    return dueAtMs === undefined ? 0 : Math.max(0, nowMs - dueAtMs);
  }

  /** What has happened since the queue began; counted in the same step as each transition. */
  async stats(options?: { queue?: string }): Promise<QueueStats> {
    const stats = await this.store.stats(queueOf(options, 'stats'));
    return Object.fromEntries(COUNTERS.map((counter) => [counter, stats[counter] ?? 0])) as unknown as QueueStats;
  }

  /** One job, or `null` where there is none of that id: it was never there, or has ended and is not kept. */
  async job(ref: JobRef, options?: { queue?: string }): Promise<InspectedJob | null> {
    const { id, queue } = readRef(ref, options, 'job');
    const stored = await this.store.job(queue, id);
    return stored ? toInspected(queue, stored) : null;
  }

  /**
   * Jobs of one state: due ones in the order of claims, scheduled ones by due time, active ones by the end of their
   * lease, ended ones latest first. `limit` is 1 to 1 000, 100 by default.
   */
  async list(
    state: JobState,
    options: { offset?: number; limit?: number; queue?: string } = {},
  ): Promise<InspectedJob[]> {
    if (!STATES.includes(state)) {
      throw new InvalidScheduleError(`list: state: got ${describe(state)}, expected one of ${STATES.join(', ')}.`);
    }
    const { offset = 0, limit = 100, queue = DEFAULT_QUEUE } = readOptions(options, LIST_OPTIONS, 'list', refuse);
    return (await this.store.list(queue, state, offset, limit)).map((job) => toInspected(queue, job));
  }
}

const refuse = (message: string) => new InvalidScheduleError(message);

/** Which queue is meant; what is not an option is refused, lest it be the default one by mistake. */
function queueOf(options: { queue?: string } | undefined, where: string): string {
  return readOptions<{ queue: string }>(options, { queue: keyPart }, where, refuse).queue ?? DEFAULT_QUEUE;
}

function toInspected(queue: string, stored: StoredJob): InspectedJob {
  const { id, state, attempts, worker } = stored;
  const failures = stored.failures.map(readFailure);
  const envelope = tryDecode(stored.envelope);
  return {
    id,
    queue,
    name: envelope?.name ?? '',
    state,
    payload: tryParse(envelope?.payload),
    headers: envelope?.settings.headers ?? {},
    priority: envelope?.priority ?? 0,
    dueAt: new Date(stored.dueAtMs),
    createdAt: new Date(envelope?.createdAtMs ?? 0),
    attempts,
    failures: failures.map(({ reason: _, ...failure }) => failure),
    ...(worker !== undefined && { worker }),
    ...(stored.leaseUntilMs !== undefined && { leaseUntil: new Date(stored.leaseUntilMs) }),
    ...(stored.endedAtMs !== undefined && { endedAt: new Date(stored.endedAtMs) }),
    ...(state === 'dead' && { reason: failures.at(-1)?.reason }),
    ...(state === 'completed' && { result: tryParse(stored.result) }),
  };
}

function readFailure(line: string): FailedAttempt & { reason?: string } {
  const [at, attempt, ...json] = line.split(' ');
  return { at: new Date(Number(at)), attempt: Number(attempt), ...(tryParse(json.join(' ')) as object) };
}

function tryDecode(envelope: string): Envelope | undefined {
  try {
    return decodeEnvelope(envelope);
  } catch {
    return undefined;
  }
}

function tryParse(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : deserialisePayload(text);
  } catch {
    return undefined;
  }
}
