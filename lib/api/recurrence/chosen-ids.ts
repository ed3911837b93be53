import { InvalidScheduleError } from '../../core/errors.js';
import { readOccurrenceId } from '../../core/job/occurrence-id.js';
import type { ScheduleRequest } from '../../core/options/schedule-options.js';
import type { JobStore } from '../../store/job-store.js';

/** How many recurrences one call asks for at a time. */
const ASKED_AT_A_TIME = 100;

/**
 * Keeps a caller's jobs from the ids of occurrences: such a job would stand in the place of one. Only ids that have their form are
 * asked for in the store.
 */
export class ChosenIds {
  constructor(private readonly store: JobStore) {}

  /** Rejects with `InvalidScheduleError` if the job's id is one of a recurrence that exists. `undefined`: the id has not the form of one. */
  check(request: ScheduleRequest): Promise<void> | undefined {
    const { id, queue } = request;
    // The common case costs no regular expression.
    const occurrence = id?.includes('@') ? readOccurrenceId(id) : undefined;
    if (!occurrence) return undefined;
    const { recurrenceId } = occurrence;
    return this.store
      .queue(queue)
      .recurrences.get(recurrenceId)
      .then((found) => {
        if (found) throw taken(request, recurrenceId);
      });
  }

  /** The same for many; `ofItem` says in the error which one it is about. */
  async checkMany(
    requests: readonly ScheduleRequest[],
    ofItem: (index: number, error: unknown) => unknown,
  ): Promise<void> {
    let asked: Promise<void>[] = [];
    for (const [i, request] of requests.entries()) {
      const checked = this.check(request)?.catch((error) => Promise.reject(ofItem(i, error)));
      if (checked && asked.push(checked) === ASKED_AT_A_TIME) {
        await Promise.all(asked);
        asked = [];
      }
    }
    await Promise.all(asked);
  }
}

function taken({ id, name, queue }: ScheduleRequest, recurrenceId: string): InvalidScheduleError {
  return new InvalidScheduleError(
    `schedule('${name}'): id: got '${id}', which is an id of an occurrence of the recurrence '${recurrenceId}' of queue '${queue}', expected an id that does not end with '@' and digits: runRecurrenceNow and backfillRecurrence create occurrences.`,
    { queue, jobName: name, jobId: id },
  );
}
