import type { CompletionJob } from '../../job-store.js';

/** Hears of the completion jobs that a call has scheduled, as it has ended the last members of their sets. */
export type CompletionListener = (jobs: readonly CompletionJob[]) => void;

const FIELDS_A_JOB = 3;
const NONE: readonly CompletionJob[] = [];

/** The completion jobs of which a reply tells. */
export function completionsOf(fields: readonly string[]): readonly CompletionJob[] {
  if (fields.length === 0) return NONE;
  const jobs: CompletionJob[] = [];
  for (let i = 0; i < fields.length; i += FIELDS_A_JOB)
    jobs.push({ id: fields[i]!, name: fields[i + 1]!, dueAtMs: Number(fields[i + 2]) });
  return jobs;
}
