import type { ScheduleRequest } from '../core/options/schedule-options.js';
import type { JobStore, ScheduledAnswer } from '../store/job-store.js';

/** Hands one job to its queue: to be added, or to take the place of the one that has its id. */
export function sendOne(store: JobStore, request: ScheduleRequest): Promise<ScheduledAnswer> {
  const { jobs } = store.queue(request.queue);
  const { id } = request;
  return request.replace && id !== undefined ? jobs.replace({ ...request, id }) : jobs.schedule(request);
}
