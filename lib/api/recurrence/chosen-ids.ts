import { InvalidScheduleError } from '../../core/errors.js';
import { readOccurrenceId } from '../../core/job/occurrence-id.js';
import type { ScheduleRequest } from '../../core/options/schedule-options.js';
import type { JobStore } from '../../store/job-store.js';

/**
 * Keeps a caller's job from the ids of occurrences: it would stand in the place of one. Only an id that has their form is asked for in
 * the store. Rejects with `InvalidScheduleError` if the job's id is one of a recurrence that exists.
 */
export function checkChosenId(store: Pick<JobStore, 'queue'>, request: ScheduleRequest): Promise<void> | undefined {
  const { id, queue } = request;
  // The common case costs no regular expression.
  const occurrence = id?.includes('@') ? readOccurrenceId(id) : undefined;
  if (!occurrence) return undefined;
  const { recurrenceId } = occurrence;
  return store
    .queue(queue)
    .recurrences.get(recurrenceId)
    .then((found) => {
      if (found) throw taken(request, recurrenceId);
    });
}

function taken({ id, name, queue }: ScheduleRequest, recurrenceId: string): InvalidScheduleError {
  return new InvalidScheduleError(
    `schedule('${name}'): id: got '${id}', which is an id of an occurrence of the recurrence '${recurrenceId}' of queue '${queue}', expected an id that does not end with '@' and digits: runRecurrenceNow and backfillRecurrence create occurrences.`,
    { queue, jobName: name, jobId: id },
  );
}
