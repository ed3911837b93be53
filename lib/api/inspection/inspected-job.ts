import type { Backoff } from '../../core/job/backoff.js';
import type { OnLate } from '../../core/job/definition.js';
import type { JobSetDone } from '../../core/job/job-set.js';
import { FIRST_VERSION } from '../../core/job/job-versions.js';
import type { StoredChain, StoredStep } from '../../core/job/new-job.js';
import { recurrenceOf } from '../../core/job/occurrence-id.js';
import type { JobRecurrence } from '../../core/job/scheduled-job.js';
import type { Codecs } from '../../core/payload/codecs.js';
import { deserialisePayload } from '../../core/payload/payload.js';
import { type Envelope, isReadable } from '../../store/envelope.js';
import type { EndedState, JobState, StoredFailure, StoredJob } from '../../store/job-store.js';

/** A failed attempt of a job, as the inspector shows it. */
export interface FailedAttempt {
  /** When it failed, by Redis' clock. */
  at: Date;
  /** Which attempt it was, from 1. */
  attempt: number;
  /** The name of the error, such as `TypeError`. */
  name?: string;
  /** With what the errors inside an `AggregateError`, or the response of an `HttpException`, say. */
  message?: string;
  /** The error's own, such as `ECONNREFUSED`. */
  code?: string;
  /** What the error gave as its cause, in one line. */
  cause?: string;
  /** Only what names a place stands on a line of its own; other line breaks are escaped. */
  stack?: string;
}

/** All that is known of a job. */
export interface InspectedJob {
  /** Unique in its queue. */
  id: string;
  /** Where it lies. */
  queue: string;
  /** Empty if Redis has lost the content of the job, or if it cannot be read. */
  name: string;
  /** The version of its payload, by the definition with which it was scheduled; 1 without. 0 if it cannot be read. */
  version: number;
  /** `discarded` and `cancelled` jobs are there only if `keepEnded` keeps them. */
  state: JobState | EndedState;
  /** As JSON or its codec gives it back, before any class; `undefined` if it cannot be read, if its codec is not known here, or if the job was discarded or cancelled. */
  payload: unknown;
  /** The id of the codec that stored the payload; missing for JSON. */
  codec?: string;
  /** Those of definition and call together; `{}` without any. */
  headers: Readonly<Record<string, string>>;
  /** Those of definition and call together; `[]` without any. */
  tags: readonly string[];
  /** 1 to 1 000; a lower number is more urgent. 0 if it cannot be read. */
  priority: number;
  /** Whose job it is; missing for none. */
  group?: string;
  /** When it is due, or was due for its latest attempt. */
  dueAt: Date;
  /** Missing if Redis has lost the content of the job, or if it cannot be read. */
  createdAt?: Date;
  /** How many attempts have begun. */
  attempts: number;
  /** How many leases were lost, because a worker died or was blocked; 0 of a completed job. */
  crashes: number;
  /** As the call to `schedule` gave it; missing if it did not: then the process that runs the job decides. */
  maxAttempts?: number;
  /** As `maxAttempts`. */
  backoff?: Backoff;
  /** As `maxAttempts`; in ms, 0 for no limit. */
  timeoutMs?: number;
  /** How late it may start, in ms; missing for any lateness. */
  maxLatenessMs?: number;
  /** What happens if it is later; missing without a `maxLatenessMs`. */
  onLate?: OnLate;
  /** Its failed attempts, the oldest first, the last 20 at most. */
  failures: FailedAttempt[];
  /** Of an occurrence of a recurrence: which one. */
  recurrence?: JobRecurrence;
  /** The set of which it is a member. */
  set?: string;
  /** Of the completion job of a set: how its members have ended. */
  setDone?: JobSetDone;
  /** Where it stands in a chain, and the names of the jobs that follow. */
  chain?: { id: string; step: number; of: number; next: string[] };
  /** The worker that the call preferred. */
  preferredWorker?: string;
  /** Of an active job: the `workerId` of the process that runs it. */
  worker?: string;
  /** Of an active job: the fence of its claim. */
  fence?: number;
  /** Of an active job: until when its lease holds, unless it is renewed. */
  leaseUntil?: Date;
  /** `true` if `cancelRunning` was called for an active job, until its run has ended. */
  cancelRequested?: true;
  /** Of an active job: another job is queued to take its place after the run. When that job is due. */
  queued?: { dueAt: Date };
  /**
   * What the latest run of the job has given last to `job.progress`, as JSON gives it back: kept at most once a second while the job runs,
   * and as it was when the run ended. It stays while the job waits to be tried again, is dead, or is kept as completed; the next attempt
   * begins without any. Missing if nothing has been reported.
   */
  progress?: unknown;
  /** Of a job that has ended or is dead. */
  endedAt?: Date;
  /**
   * Of a dead job a `DeadReason`. Of a discarded one `late`, `missed` or `overlap`, or what was given to `JobOutcome.discard`, up to 1 000
   * characters. Of a cancelled one the call: `cancel`, `cancelTagged`, `cancelRunning` or `clear`; `recurrence` if its recurrence was
   * changed, paused or removed.
   */
  reason?: string;
  /** What the handler of a completed job returned. */
  result?: unknown;
}

/**
 * A stored job as the inspector shows it; what cannot be read of it is left out rather than thrown. A promise of that only where a
 * codec answers one.
 */
export function toInspected(queue: string, stored: StoredJob, codecs: Codecs): InspectedJob | Promise<InspectedJob> {
  const job = inspectAllButPayload(queue, stored);
  const { envelope } = stored;
  if (!isReadable(envelope)) return job;
  const payload = tryDecode(() => codecs.decode(envelope, job));
  if (payload instanceof Promise)
    return payload.then(
      (decoded) => ({ ...job, payload: decoded }),
      () => job,
    );
  job.payload = payload;
  return job;
}

/** As `toInspected`, without the payload. */
export function inspectAllButPayload(queue: string, stored: StoredJob): InspectedJob {
  const { id, state, attempts, crashes, worker, fence } = stored;
  const envelope = isReadable(stored.envelope) ? stored.envelope : undefined;
  const recurrence = recurrenceOf(id, envelope?.occurrence);
  return {
    id,
    queue,
    name: envelope?.name ?? '',
    version: envelope ? (envelope.version ?? FIRST_VERSION) : 0,
    state,
    payload: undefined,
    ...(envelope?.codec !== undefined && { codec: envelope.codec }),
    headers: envelope?.settings.headers ?? {},
    tags: envelope?.tags ?? [],
    priority: envelope?.priority ?? 0,
    ...(envelope?.group !== undefined && { group: envelope.group }),
    dueAt: new Date(stored.dueAtMs),
    ...(envelope && { createdAt: new Date(envelope.createdAtMs) }),
    attempts,
    crashes,
    failures: stored.failures.map(toFailedAttempt),
    ...said(envelope),
    ...(recurrence && { recurrence }),
    ...(envelope?.set !== undefined && { set: envelope.set }),
    ...(envelope?.setDone && { setDone: envelope.setDone }),
    ...(envelope?.chain && { chain: chainFrom(id, envelope.chain) }),
    ...(worker !== undefined && { worker }),
    ...(envelope?.worker !== undefined && { preferredWorker: envelope.worker }),
    ...(fence !== undefined && { fence: Number(fence) }),
    ...(stored.cancelRequested && { cancelRequested: true as const }),
    ...(stored.queuedDueAtMs !== undefined && { queued: { dueAt: new Date(stored.queuedDueAtMs) } }),
    ...(stored.leaseUntilMs !== undefined && { leaseUntil: new Date(stored.leaseUntilMs) }),
    ...(stored.progress !== undefined && { progress: readJson(stored.progress) }),
    ...(stored.endedAtMs !== undefined && { endedAt: new Date(stored.endedAtMs) }),
    ...(state === 'dead' && { reason: stored.failures.at(-1)?.reason }),
    ...((state === 'discarded' || state === 'cancelled') && { reason: stored.reason ?? '' }),
    ...(state === 'completed' && { result: readJson(stored.result) }),
  };
}

/** Without what the job before returned, which may be anything. */
function chainFrom(jobId: string, { id = jobId, step, of, next, later }: StoredChain): InspectedJob['chain'] {
  const names = later.map((text) => (readJson(text) as StoredStep | undefined)?.name ?? '');
  return { id, step, of, next: next ? [next.name, ...names] : [] };
}

/** Only options that the call gave: an undefined property would show up in logs and JSON views. */
function said(envelope: Envelope | undefined): Partial<InspectedJob> {
  if (!envelope) return {};
  const { maxAttempts, backoff, timeoutMs } = envelope.settings;
  return {
    ...(maxAttempts !== undefined && { maxAttempts }),
    ...(backoff !== undefined && { backoff }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...envelope.lateness,
  };
}

function toFailedAttempt({ atMs, reason: _, ...failure }: StoredFailure): FailedAttempt {
  return { at: new Date(atMs), ...failure };
}

function readJson(text: string | undefined): unknown {
  return text === undefined ? undefined : tryDecode(() => deserialisePayload(text));
}

function tryDecode(decode: () => unknown): unknown {
  try {
    return decode();
  } catch {
    return undefined;
  }
}
