import { isReadable } from '../../store/envelope.js';
import type { FoundJobs, JobSelection, SearchStep, StoredJob } from '../../store/job-store.js';
import { byId } from './job.js';

const UNKNOWN = { name: '', group: undefined, tags: [] as string[] };

/** A step through jobs by id, which no job changes. A place is the id of the last one that was looked at. */
export function searchStep(
  all: readonly StoredJob[],
  selection: JobSelection,
  place: string | undefined,
  { size, limit }: SearchStep,
): FoundJobs {
  const ahead = all.filter(({ id }) => place === undefined || id > place).sort(byId);
  const jobs: StoredJob[] = [];
  let looked = 0;
  while (looked < Math.min(size, ahead.length) && jobs.length < limit) {
    const job = ahead[looked++]!;
    if (fits(job, selection)) jobs.push(job);
  }
  const next = looked < ahead.length ? ahead[looked - 1]!.id : undefined;
  return { jobs, ...(next !== undefined && { next }), looked, bytes: 0 };
}

function fits({ id, state, dueAtMs, envelope }: StoredJob, wanted: JobSelection): boolean {
  const { states, names, tags = [], group, idPrefix = '', dueFromMs = 0, dueToMs = Number.POSITIVE_INFINITY } = wanted;
  if (
    !(states as readonly StoredJob['state'][]).includes(state) ||
    !id.startsWith(idPrefix) ||
    dueAtMs < dueFromMs ||
    dueAtMs >= dueToMs
  )
    return false;
  const { name, group: whose, tags: carried } = isReadable(envelope) ? envelope : UNKNOWN;
  if (group !== undefined && group !== whose) return false;
  return (!names || names.includes(name)) && tags.every((tag) => carried.includes(tag));
}
