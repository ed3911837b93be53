import type { JobRecurrence } from './scheduled-job.js';

/** Which occurrence of which recurrence. */
export interface OccurrenceId {
  recurrenceId: string;
  /** The nominal instant, epoch ms. */
  atMs: number;
}

/** The last instant of `Date` has 16 digits. */
const FORM = /^(.+)@(\d{1,16})$/;

/** The id of the job that an occurrence becomes. */
export function occurrenceId(recurrenceId: string, atMs: number): string {
  return `${recurrenceId}@${atMs}`;
}

/** Which occurrence an id names; `undefined` if it does not have the form of such an id. An id of this form may be anybody's. */
export function readOccurrenceId(id: string): OccurrenceId | undefined {
  const parts = FORM.exec(id);
  return parts ? { recurrenceId: parts[1]!, atMs: Number(parts[2]) } : undefined;
}

/** The occurrence as a job shows it; `undefined` if the job is no occurrence. */
export function recurrenceOf(
  id: string,
  occurrence: { readonly isMissed: boolean } | undefined,
): JobRecurrence | undefined {
  const read = occurrence && readOccurrenceId(id);
  return read && { id: read.recurrenceId, at: new Date(read.atMs), missed: occurrence.isMissed };
}
