import { InvalidScheduleError, QueueUnavailableError, restated, ScheduledQueueError } from '../core/errors.js';
import type { ScheduledJobRef } from '../core/job/scheduled-job.js';
import type { ScheduleRequest } from '../core/options/schedule-options.js';
import { describe } from '../core/read/describe.js';
import { asSentence, isRecord, unknownOption } from '../core/read/shape.js';
import type { Answered, JobStore, ScheduledAnswer } from '../store/job-store.js';
import type { SendSpans } from './send-spans.js';

const ITEM = ['job', 'payload', 'options'];

/** Refuses unknown fields: with a misspelt `options`, a job for next year would be due now. */
export function readItem<Item>(item: unknown): Item {
  if (!isRecord(item))
    throw new InvalidScheduleError(`item: got ${describe(item)}, expected { job, payload, options }.`);
  for (const key of Object.keys(item)) {
    if (!ITEM.includes(key)) throw new InvalidScheduleError(asSentence(`item: ${unknownOption(key, ITEM)}`));
  }
  return item as Item;
}

/** Says which item of the call an error is about. */
export function ofItem(index: number, error: unknown, call = 'scheduleMany'): unknown {
  if (error instanceof ScheduledQueueError)
    error.message = `${call}: item ${index}: ${error.message.replace(/^item: /, '')}`;
  return error;
}

/** How many items of one call Redis, or a codec that answers promises, is asked about at a time. */
const ASKED_AT_A_TIME = 100;

/** Does something for each item of the call, in their order. Throws the first error, which says which item it is about. */
export async function forEachItem(
  requests: readonly ScheduleRequest[],
  work: (request: ScheduleRequest, index: number) => Promise<void> | undefined,
  call?: string,
): Promise<void> {
  let asked: Promise<void>[] = [];
  for (const [i, request] of requests.entries()) {
    let working: Promise<void> | undefined;
    try {
      working = work(request, i)?.catch((error) => Promise.reject(ofItem(i, error, call)));
    } catch (error) {
      throw ofItem(i, error, call);
    }
    // A later item may throw before anybody waits for this one.
    working?.catch(() => {});
    if (working && asked.push(working) === ASKED_AT_A_TIME) {
      await Promise.all(asked);
      asked = [];
    }
  }
  await Promise.all(asked);
}

/**
 * Sends the jobs of one `scheduleMany` or `schedulePrepared`: one call for each queue, all at once. A job that may replace another, or whose id several
 * items share, goes in a call of its own; the jobs of one id go one after the other. `told` makes the answers. `spans`: of the call, if any.
 */
export async function sendMany(
  store: Pick<JobStore, 'queue'>,
  requests: (ScheduleRequest | undefined)[],
  told: (request: ScheduleRequest, answer: ScheduledAnswer) => ScheduledJobRef,
  spans?: SendSpans,
): Promise<ScheduledJobRef[]> {
  const refs: (ScheduledJobRef | undefined)[] = new Array(requests.length);
  const errors: unknown[] = [];
  // As they come: while the last of many are on their way, the first are read.
  const answered: Answered = (i, answer, error) => {
    if (answer) refs[i] = told(requests[i]!, answer);
    else errors[i] = error;
    spans?.answered(requests[i]!.queue, answer?.id, error);
    // Thousands of payloads that outlive their sending would be copied from one part of the heap to the next.
    requests[i] = undefined;
  };
  const { together, chains } = sort(requests as ScheduleRequest[]);
  const calls = chains.map((indexes) => sendChain(store, requests, indexes, answered));
  for (const [queue, indexes] of together) {
    const jobs = indexes.map((i) => requests[i]!);
    calls.push(store.queue(queue).jobs.scheduleMany(jobs, (j, answer, error) => answered(indexes[j]!, answer, error)));
  }
  await Promise.all(calls);
  if (errors.length > 0) throw ofAll(errors, refs);
  return refs as ScheduledJobRef[];
}

/** Sorts the items, named by their indexes in the call: those that go together, by queue, and chains of those that share an id. */
function sort(requests: readonly ScheduleRequest[]): { together: Map<string, number[]>; chains: number[][] } {
  const together = new Map<string, number[]>();
  const byId = new Map<string, number[]>();
  for (const [i, { queue, id }] of requests.entries()) {
    // No queue's name holds a slash.
    const [indexes, key] = id === undefined ? [together, queue] : [byId, `${queue}/${id}`];
    if (!indexes.get(key)?.push(i)) indexes.set(key, [i]);
  }
  const chains: number[][] = [];
  for (const indexes of byId.values()) {
    const { queue, replace } = requests[indexes[0]!]!;
    if (replace || indexes.length > 1) chains.push(indexes);
    else if (!together.get(queue)?.push(indexes[0]!)) together.set(queue, [indexes[0]!]);
  }
  if (byId.size > 0) for (const indexes of together.values()) indexes.sort((a, b) => a - b);
  return { together, chains };
}

/**
 * Where a call fails, the later ones of its id are not sent: each builds on the state that the one before it leaves. A job whose set is over
 * leaves none.
 */
async function sendChain(
  store: Pick<JobStore, 'queue'>,
  requests: readonly (ScheduleRequest | undefined)[],
  indexes: readonly number[],
  answered: Answered,
): Promise<void> {
  let failure: unknown;
  for (const i of indexes) {
    const request = requests[i]!;
    if (failure !== undefined) {
      answered(i, undefined, notSent(failure, request));
      continue;
    }
    await sendOne(store, request).then(
      (answer) => answered(i, answer),
      (error) => {
        if (!isSetOver(error)) failure = error;
        answered(i, undefined, error);
      },
    );
  }
}

const isSetOver = (error: unknown) => error instanceof InvalidScheduleError && error.reason === 'set-over';

function notSent(failure: unknown, { queue, name, id }: ScheduleRequest): unknown {
  if (!(failure instanceof QueueUnavailableError)) return failure;
  return restated(failure, { queue, jobName: name, jobId: id }, { outcome: 'refused' });
}

/** Turns the error of one part into the error of the whole call: it names the ids of jobs that may exist. */
function ofAll(errors: readonly unknown[], refs: readonly (ScheduledJobRef | undefined)[]): unknown {
  // What an outage has left open matters more than a set that is over.
  const failures = errors.filter((error) => error !== undefined);
  const reason = failures.find((error) => !isSetOver(error)) ?? failures[0];
  if (!(reason instanceof QueueUnavailableError)) return reason;
  // In the order of the items: who calls again gives each item its id.
  const jobIds = Array.from(refs, (ref, i) =>
    ref ? [ref.id] : ((errors[i] as QueueUnavailableError).jobIds ?? []),
  ).flat();
  const refused = Array.from(
    refs,
    (ref, i) => !ref && (isSetOver(errors[i]) || (errors[i] as QueueUnavailableError).outcome === 'refused'),
  ).every(Boolean);
  return restated(reason, { jobIds }, { outcome: refused ? 'refused' : 'unknown' });
}

/** Hands one job to its queue: to be added, or to take the place of the one that has its id. */
export function sendOne(store: Pick<JobStore, 'queue'>, request: ScheduleRequest): Promise<ScheduledAnswer> {
  const { jobs } = store.queue(request.queue);
  const { id } = request;
  return request.replace && id !== undefined ? jobs.replace({ ...request, id }) : jobs.schedule(request);
}

/**
 * One sender carries the schedules of many, and the errors that it makes know no caller. Here the stack is taken anew: it names the
 * functions that await the call. Other calls need no more than a `return await` for that.
 */
export function calledFromHere(error: unknown): unknown {
  if (error instanceof ScheduledQueueError) Error.captureStackTrace(error, calledFromHere);
  return error;
}
