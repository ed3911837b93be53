import { createHash } from 'node:crypto';
import { InvalidScheduleError } from '../../core/errors.js';
import type { FindRequest } from '../../core/options/find-options.js';
import type { Codecs } from '../../core/payload/codecs.js';
import type { JobSelection, QueueView, StoredJob } from '../../store/job-store.js';
import { type InspectedJob, toInspected } from './inspected-job.js';

/** Some of the jobs that a search is for. */
export interface FoundPage {
  /** In no order. There may be none though the search goes on. */
  jobs: InspectedJob[];
  /** To be given to the next call; missing where the search is over. */
  cursor?: string;
}

/** One call looks at about so many jobs, or bytes of jobs, and then answers what it has. A job that it tells counts twice. */
const LOOKED_AT_A_CALL = 10_000;
const BYTES_A_CALL = 64 * 1024 * 1024;
/** How many jobs one step looks at; fewer where they are large. */
const STEP = 80;

/** Takes the steps of one call. */
export async function findJobs(
  view: QueueView,
  request: FindRequest<InspectedJob>,
  codecs: Codecs,
): Promise<FoundPage> {
  const {
    queue,
    where,
    limit,
    states,
    names,
    tags,
    set,
    group,
    idPrefix,
    dueFrom: dueFromMs,
    dueTo: dueToMs,
  } = request;
  const selection: JobSelection = { states, names, tags, set, group, idPrefix, dueFromMs, dueToMs };
  const mark = markOf(queue, selection);
  let place = request.cursor === undefined ? undefined : placeIn(request.cursor, mark);
  const found: InspectedJob[] = [];
  for (let looked = 0, bytes = 0; ; ) {
    const step = await takeStep(view, selection, place, { size: STEP, limit: limit - found.length });
    const jobs = await Promise.all(step.jobs.map((job: StoredJob) => toInspected(queue, job, codecs)));
    for (const job of jobs) if (!where || (await where(job))) found.push(job);
    place = step.next;
    if (place === undefined) return { jobs: found };
    looked += step.looked;
    bytes += step.bytes;
    if (found.length === limit || looked >= LOOKED_AT_A_CALL || bytes >= BYTES_A_CALL)
      return { jobs: found, cursor: cursorAt(place, mark) };
  }
}

/** Tells a search from others: a place in another one would leave jobs out. */
function markOf(queue: string, selection: JobSelection): string {
  return createHash('sha1')
    .update(JSON.stringify([queue, selection]))
    .digest('base64url')
    .slice(0, 8);
}

const cursorAt = (place: string, mark: string) => mark + Buffer.from(place).toString('base64url');

function placeIn(cursor: string, mark: string): string {
  if (!cursor.startsWith(mark))
    throw refused(
      'got one of another search, expected the one that this search has answered: with a cursor, queue, states, names, tags, set, group, idPrefix, dueFrom and dueTo must be those of the call before',
    );
  return Buffer.from(cursor.slice(mark.length), 'base64url').toString();
}

async function takeStep(...[view, selection, place, step]: [QueueView, ...Parameters<QueueView['find']>]) {
  try {
    return await view.find(selection, place, step);
  } catch (error) {
    throw error instanceof RangeError
      ? refused('got one that was changed or cut, expected it as it was answered')
      : error;
  }
}

const refused = (problem: string) => new InvalidScheduleError(`find: cursor: ${problem}.`);
