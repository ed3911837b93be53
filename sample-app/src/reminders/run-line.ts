import type { ScheduledJob } from '../../../lib/index.js';

/** One line about one run. Both times are by Redis' clock, the only one that decides what is due. */
export function runLine(job: ScheduledJob, text: string): string {
  const startedAt = new Date(job.dueAt.getTime() + job.latenessMs);
  const attempt = `attempt ${job.attempt} of ${job.maxAttempts}`;
  return `${job.name} "${text}" ${attempt}: due ${timeOf(job.dueAt)}, started ${timeOf(startedAt)}, ${job.latenessMs} ms late`;
}

function timeOf(instant: Date): string {
  return `${instant.toTimeString().slice(0, 8)}.${String(instant.getMilliseconds()).padStart(3, '0')}`;
}
