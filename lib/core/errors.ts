/** Where an error happened, as far as it is known. */
export interface ScheduledQueueErrorFields {
  /** The name of the queue. */
  queue?: string;
  /** The name of the job. */
  jobName?: string;
  /** The id of the job. */
  jobId?: string;
  /** What led to the error, most often another error. */
  cause?: unknown;
}

/** The base class of every error of this library. `code` is stable; the wording of the message may change. See docs/errors.md. */
export abstract class ScheduledQueueError extends Error {
  /** Tells errors apart, and stays as it is from version to version; docs/errors.md has them all. */
  abstract readonly code: string;
  /** The queue that it is about; `undefined` if none is known. */
  readonly queue?: string;
  /** The name of the job that it is about; `undefined` if none is known. */
  readonly jobName?: string;
  /** The id of the job that it is about; `undefined` if none is known, or if it is about several. */
  readonly jobId?: string;

  constructor(message: string, fields: ScheduledQueueErrorFields = {}) {
    super(message, 'cause' in fields ? { cause: fields.cause } : undefined);
    this.name = new.target.name;
    this.queue = fields.queue;
    this.jobName = fields.jobName;
    this.jobId = fields.jobId;
  }
}

/** An option of the module, a definition, a handler, `pop` or `relay`, or a list of blackouts, is unknown, of the wrong type or out of range. */
export class InvalidOptionsError extends ScheduledQueueError {
  readonly code = 'INVALID_OPTIONS';
}

/**
 * A call of the producer or the inspector, `JobOutcome.snooze`, or `snooze` or `extend` of a popped job names a time, an id, a
 * queue, a tag or an option that cannot be used. Nothing was written.
 */
export class InvalidScheduleError extends ScheduledQueueError {
  readonly code = 'INVALID_SCHEDULE';
  /** `'set-over'`: the set of the job is not there, or done; only Redis could tell. `undefined` for all else. */
  readonly reason?: 'set-over';

  constructor(message: string, fields: ScheduledQueueErrorFields & { reason?: 'set-over' } = {}) {
    super(message, fields);
    this.reason = fields.reason;
  }
}

/** The two that readers of options throw, where they know of no job. */
export const invalidOptions = (message: string): InvalidOptionsError => new InvalidOptionsError(message);
export const invalidSchedule = (message: string): InvalidScheduleError => new InvalidScheduleError(message);

/** One mistake in a payload: a path and what is wrong there. */
export interface PayloadFinding {
  /** Where in the payload, such as `address.street`; empty for the payload itself. */
  path: string;
  /** What is wrong there, one sentence each. */
  messages: string[];
}

/**
 * A payload cannot be serialised or does not fit its class; where a call throws it, nothing was written. In the events of a dead job
 * also: a pipe of its handler refused the payload; `cause` is then what the pipe threw. The error that a call throws may quote values of
 * the payload; that of a dead job names paths and constraints, and logs show the same of both.
 */
export class InvalidPayloadError extends ScheduledQueueError {
  readonly code = 'INVALID_PAYLOAD';
  /** Every mistake that was found; none where the payload cannot be serialised at all. */
  readonly findings: PayloadFinding[];

  constructor(message: string, findings: PayloadFinding[], fields: ScheduledQueueErrorFields = {}) {
    super(message, fields);
    this.findings = findings;
  }
}

/** A serialised payload is larger than `maxPayloadBytes`. Nothing was written. */
export class PayloadTooLargeError extends ScheduledQueueError {
  readonly code = 'PAYLOAD_TOO_LARGE';
  /** How many bytes the payload has as it would be stored. */
  readonly bytes: number;
  /** How many it may have: the module's `maxPayloadBytes`. */
  readonly maxBytes: number;

  constructor(bytes: number, maxBytes: number, fields: ScheduledQueueErrorFields = {}) {
    super(
      `The payload of job '${fields.jobName}' has ${bytes} bytes, but maxPayloadBytes is ${maxBytes}: store it elsewhere and schedule a reference to it, or raise maxPayloadBytes.`,
      fields,
    );
    this.bytes = bytes;
    this.maxBytes = maxBytes;
  }
}

/**
 * A job's payload was stored by a codec that this process does not know. The attempt has failed and is retried by the backoff, so that
 * a process that knows the codec may get the job.
 */
export class UnknownCodecError extends ScheduledQueueError {
  readonly code = 'UNKNOWN_CODEC';
  /** The id of the codec. */
  readonly codec: string;

  constructor(codec: string, fields: ScheduledQueueErrorFields = {}) {
    super(
      `The payload of job '${fields.jobName}' was stored by codec '${codec}', which this process does not know: add that codec to the module's option codecs.`,
      fields,
    );
    this.codec = codec;
  }
}

/** Two methods handle one job name in one queue. The application does not start. */
export class DuplicateHandlerError extends ScheduledQueueError {
  readonly code = 'DUPLICATE_HANDLER';
}

/**
 * A handler with `batch` has answered `JobOutcome.each` with another number of results than it had jobs, so the attempt of each of them has
 * failed; or a handler without `batch` has answered it.
 */
export class InvalidBatchResultError extends ScheduledQueueError {
  readonly code = 'INVALID_BATCH_RESULT';
  /** How many results were expected: as many as the call had jobs. */
  readonly expected: number;
  /** How many there were. */
  readonly got: number;

  constructor(message: string, numbers: { expected: number; got: number }, fields: ScheduledQueueErrorFields = {}) {
    super(message, fields);
    this.expected = numbers.expected;
    this.got = numbers.got;
  }
}

/** The lease of a running job ran out; another worker may hold the job now. The result of this run no longer counts. */
export class LeaseLostError extends ScheduledQueueError {
  readonly code = 'LEASE_LOST';
}

/** A run took longer than `timeoutMs`: the attempt has failed, and the result of this run no longer counts. */
export class JobTimeoutError extends ScheduledQueueError {
  readonly code = 'JOB_TIMEOUT';
}

/** Somebody has cancelled a running job; the result of this run no longer counts. */
export class JobCancelledError extends ScheduledQueueError {
  readonly code = 'JOB_CANCELLED';
}

/** Throw it in a handler if the job can never succeed: the job becomes a dead letter at once, however many attempts it has left. */
export class UnrecoverableJobError extends ScheduledQueueError {
  readonly code = 'UNRECOVERABLE_JOB';
}

/** The queue is shutting down, or has shut down. */
export class QueueClosedError extends ScheduledQueueError {
  readonly code = 'QUEUE_CLOSED';
}

/**
 * Redis cannot be reached, or refuses the call. Where it cannot be reached, message and `cause` say why, such as a `cause` with the
 * code `ECONNREFUSED`, and at which address; neither holds a password.
 * `outcome` is `refused` when the call has not happened and will not, `unknown` when it may have happened:
 * calling again with the id named in `jobId` or `jobIds` within `keepIdsMs` is safe in both.
 */
export class QueueUnavailableError extends ScheduledQueueError {
  readonly code = 'QUEUE_UNAVAILABLE';
  /** `'refused'`: the call has not happened and will not. `'unknown'`: it may have happened. */
  readonly outcome: 'refused' | 'unknown';
  /** The ids of the jobs of the call; empty where it names no job, or where you gave no id and nothing was sent. */
  readonly jobIds: readonly string[];
  /**
   * What Redis answered, by its first word, such as `OOM` or `NOPERM`; `undefined` where it did not answer. `SCHEMA`: a newer version of this
   * library has written to the queue.
   */
  readonly redisCode?: string;

  constructor(
    message: string,
    outcome: 'refused' | 'unknown',
    fields: ScheduledQueueErrorFields & { jobIds?: readonly string[]; redisCode?: string } = {},
  ) {
    super(message, fields);
    this.outcome = outcome;
    this.redisCode = fields.redisCode;
    this.jobIds = fields.jobIds ?? (fields.jobId === undefined ? [] : [fields.jobId]);
  }
}

/** A copy of the error with another message or other fields. Redis' answer and the reason for an outage are kept. */
export function restated(
  error: QueueUnavailableError,
  fields: ScheduledQueueErrorFields & { jobIds?: readonly string[] },
  { message = error.message, outcome = error.outcome }: { message?: string; outcome?: 'refused' | 'unknown' } = {},
): QueueUnavailableError {
  const { redisCode, cause } = error;
  return new QueueUnavailableError(message, outcome, { ...fields, redisCode, ...(cause !== undefined && { cause }) });
}
