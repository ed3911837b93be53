import { InvalidScheduleError } from '../errors.js';
import { above1, jobVersion } from '../job/job-versions.js';
import type { StoredStep } from '../job/new-job.js';
import { asBuffer } from '../payload/codecs.js';
import { deserialisePayload } from '../payload/payload.js';
import { describe } from '../read/describe.js';
import { jobId, jobName, keyPart } from '../read/names.js';
import { anything, asSentence, type Check, isRecord, oneOf, readShape, type Shape } from '../read/shape.js';
import { readSchedule, type ScheduleOptions, type ScheduleRequest } from './schedule-options.js';
import { storedSteps } from './stored-steps.js';

/** The form that this release writes. A release that writes more, or writes it otherwise, gives its form another number. */
const FORMAT = 1;

/**
 * A job that `producer.prepare` has validated and encoded: plain JSON, to be kept wherever you like and handed over by
 * `producer.schedulePrepared`, now or by a later release. You may read `queue`, `id` and `name`. Change nothing, and do not rely on the rest.
 */
export interface PreparedJob {
  /** The number of this form. A release reads its own number and all lower ones. */
  readonly format: 1;
  readonly queue: string;
  /** The id under which the job is handed over, however often: yours, or one that was made. */
  readonly id: string;
  readonly name: string;
  /** The version of the payload, by its definition; missing for 1. The job keeps it, whoever hands it over. */
  readonly version?: number;
  /**
   * What the call and its definition said; but `maxAttempts`, `backoff` and `timeoutMs` of the definition, which are looked up where the job runs.
   * Instants in epoch ms, durations in ms.
   */
  readonly options: Omit<ScheduleOptions, 'id' | 'queue' | 'then'>;
  /** What follows in its chain, each job with its own payload; missing for nothing. */
  readonly steps?: readonly StoredStep[];
  /** JSON, or what the codec has written. Missing where the job has no payload. */
  readonly payload?: string;
  /** The id of the codec; missing for JSON. */
  readonly codec?: string;
  /** Where the codec has written bytes: `payload` holds these as base64. */
  readonly encoding?: 'base64';
}

/** Writes a job as JSON that `readPrepared` reads. `request`: its payload is encoded, and its headers hold the trace. */
export function writePrepared(request: ScheduleRequest & { id: string }): PreparedJob {
  const { queue, id, name, version, due, codec, payload, lateness, replace } = request;
  const { priority, worker, group, set, chain, tags, maxWaitMs, throttleMs, settings } = request;
  const options = {
    // Neither for a job that is due when it is handed over.
    ...('at' in due ? { at: due.at } : due.delayMs > 0 && { delay: due.delayMs }),
    priority,
    worker,
    group,
    set,
    tags,
    onDuplicate: replace ? ('replace' as const) : ('keep' as const),
    maxWaitMs,
    throttleMs,
    ...lateness,
    ...settings,
  };
  const isBytes = typeof payload !== 'string';
  return plain({
    format: FORMAT,
    queue,
    id,
    name,
    version,
    options,
    steps: chain?.steps.map((step) => JSON.parse(step)),
    payload: isBytes
      ? asBuffer(payload).toString('base64')
      : payload === '' && codec === undefined
        ? undefined
        : payload,
    codec,
    encoding: isBytes ? 'base64' : undefined,
  });
}

/** Without the fields that are `undefined`, and sharing nothing with what the definition holds: just as JSON gives it back. */
function plain(prepared: PreparedJob): PreparedJob {
  return JSON.parse(JSON.stringify(prepared));
}

const text: Check<string> = (value) =>
  typeof value === 'string' ? { value } : { problem: `got ${describe(value)}, expected a string` };

const SHAPE: Shape<{ -readonly [Field in keyof PreparedJob]: PreparedJob[Field] }> = {
  // Looked at before all others: a later format may have fields that are unknown here.
  format: anything as Check<1>,
  queue: keyPart,
  id: jobId,
  name: jobName,
  version: jobVersion,
  options: (value) =>
    isRecord(value) ? { value } : { problem: `got ${describe(value)}, expected the options that prepare wrote` },
  steps: storedSteps,
  payload: text,
  codec: keyPart,
  encoding: oneOf('base64'),
};
const REQUIRED = ['queue', 'id', 'name', 'options'] as const;

type Refuse = (problem: string) => InvalidScheduleError;

/** The job as `schedule` would hand it over. Throws `InvalidScheduleError`; `where` begins its message. */
export function readPrepared(given: unknown, where: string): ScheduleRequest & { id: string } {
  const refuse: Refuse = (problem) => new InvalidScheduleError(asSentence(`${where}: ${problem}`));
  // Not shown: text may be all of a prepared job, with its payload.
  if (typeof given === 'string') throw refuse('got text, expected what prepare answered: parse its JSON first');
  if (!isRecord(given)) throw refuse(`got ${describe(given)}, expected what prepare answered`);
  requireFormat((given as Partial<PreparedJob>).format, refuse);
  const read = readShape(SHAPE, given);
  if ('problem' in read) throw refuse(read.problem);
  for (const field of REQUIRED)
    if (read.value[field] === undefined) throw refuse(`${field} is missing, expected what prepare answered`);
  const prepared = read.value as PreparedJob;
  const { queue, id, name, version, options, codec, steps } = prepared;
  const payload = readPayload(
    prepared,
    (problem) =>
      new InvalidScheduleError(asSentence(`${where}: payload: ${problem}`), { queue, jobName: name, jobId: id }),
  );
  const request = readSchedule(name, { ...options, queue, id }, undefined, where);
  const chain = steps && { step: 1, of: steps.length + 1, steps: steps.map((step) => JSON.stringify(step)) };
  return { ...request, version: above1(version), id, codec, payload, chain };
}

function readPayload({ payload = '', codec, encoding }: PreparedJob, refuse: Refuse): string | Buffer {
  if (encoding === 'base64') {
    if (codec === undefined)
      throw refuse('got base64 without the codec that wrote the bytes, expected both or neither');
    const bytes = Buffer.from(payload, encoding);
    // Buffer passes over whatever is no base64.
    if (bytes.toString(encoding) !== payload)
      throw refuse('got what is no base64, expected the text that prepare wrote');
    return bytes;
  }
  try {
    if (codec === undefined) deserialisePayload(payload);
  } catch {
    throw refuse('got what is no JSON, expected the text that prepare wrote');
  }
  return payload;
}

function requireFormat(format: unknown, refuse: Refuse): void {
  if (format === FORMAT) return;
  const isLater = typeof format === 'number' && Number.isInteger(format) && format > FORMAT;
  throw refuse(
    `format: got ${describe(format)}, expected ${FORMAT}${isLater ? ': a later release of nestjs-redis-scheduled-queue has prepared this job. Let that release hand the job over, or update this process' : ''}`,
  );
}
