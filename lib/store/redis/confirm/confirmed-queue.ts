import type { ScheduledQueueErrorFields } from '../../../core/errors.js';
import type { Answered, NewJob, QueueJobs, QueueStore, ScheduledAnswer } from '../../job-store.js';
import type { QueueRecurrences } from '../../recurrences.js';
import { aboutJob } from '../link/call-error.js';
import type { Confirmations } from './confirmations.js';
import type { ReplicationWatch } from './replication-watch.js';

export interface ConfirmedBy {
  readonly watch: ReplicationWatch;
  readonly confirmations: Confirmations;
  readonly commandTimeoutMs: number;
}

/** A queue as producers see it where `minReplicas` is given: a call that changes it is answered once enough replicas have the change. */
export function confirmedQueue(queue: string, plain: QueueStore, by: ConfirmedBy): QueueStore {
  const changes = new ConfirmedChanges(queue, by);
  return {
    ...plain,
    jobs: confirmedJobs(plain.jobs, changes),
    recurrences: confirmedRecurrences(plain.recurrences, changes),
  };
}

class ConfirmedChanges {
  constructor(
    private readonly queue: string,
    private readonly by: ConfirmedBy,
  ) {}

  /** Makes a change. `about`: what its error names, by its answer where it has one. */
  async make<T>(change: () => Promise<T>, about: (answer?: T) => ScheduledQueueErrorFields = () => ({})): Promise<T> {
    const confirmed = await this.begin().catch((error) => Promise.reject(this.named(error, about())));
    const answer = await change();
    await confirmed().catch((error) => Promise.reject(this.named(error, about(answer))));
    return answer;
  }

  /** Refuses a change if too few replicas are there. Answers what waits for them after the change. */
  async begin(): Promise<() => Promise<void>> {
    const { watch, confirmations, commandTimeoutMs } = this.by;
    const giveUpAt = performance.now() + commandTimeoutMs;
    const id = await watch.require(this.queue, giveUpAt);
    return () => confirmations.confirm(this.queue, id, giveUpAt);
  }

  named(error: unknown, about: ScheduledQueueErrorFields): unknown {
    return aboutJob(error, { queue: this.queue, ...about });
  }
}

function confirmedJobs(jobs: QueueJobs, changes: ConfirmedChanges): QueueJobs {
  const of = (id: string) => () => ({ jobId: id });
  const ofNew = (job: NewJob) => (answer?: ScheduledAnswer) => ({ jobName: job.name, jobId: answer?.id ?? job.id });
  return {
    schedule: (job) => changes.make(() => jobs.schedule(job), ofNew(job)),
    scheduleMany: (many, answered) => scheduleMany(jobs, many, answered, changes),
    replace: (job) => changes.make(() => jobs.replace(job), ofNew(job)),
    cancel: (id) => changes.make(() => jobs.cancel(id), of(id)),
    reschedule: (id, due) => changes.make(() => jobs.reschedule(id, due), of(id)),
    cancelRunning: (id) => jobs.cancelRunning(id),
    remove: (id) => jobs.remove(id),
  };
}

/** One confirmation for all of them. Those that Redis refuses hear of it at once. */
async function scheduleMany(
  jobs: QueueJobs,
  many: readonly NewJob[],
  answered: Answered,
  changes: ConfirmedChanges,
): Promise<void> {
  const answers: (ScheduledAnswer | undefined)[] = new Array(many.length);
  const fail = (i: number, error: unknown) => {
    const { name, id } = many[i]!;
    answered(i, undefined, changes.named(error, { jobName: name, jobId: answers[i]?.id ?? id }));
  };
  let confirmed: () => Promise<void>;
  try {
    confirmed = await changes.begin();
  } catch (error) {
    for (const i of many.keys()) fail(i, error);
    return;
  }
  await jobs.scheduleMany(many, (i, answer, error) => {
    if (answer) answers[i] = answer;
    else answered(i, undefined, error);
  });
  const failure = await confirmed().catch((error) => ({ error }));
  for (const [i, answer] of answers.entries()) {
    if (!answer) continue;
    if (failure) fail(i, failure.error);
    else answered(i, answer);
  }
}

function confirmedRecurrences(recurrences: QueueRecurrences, changes: ConfirmedChanges): QueueRecurrences {
  return {
    upsert: (recurrence) => changes.make(() => recurrences.upsert(recurrence)),
    remove: (id) => changes.make(() => recurrences.remove(id)),
    pause: (id, reason) => changes.make(() => recurrences.pause(id, reason)),
    resume: (id) => changes.make(() => recurrences.resume(id)),
    runNow: (id) =>
      changes.make(
        () => recurrences.runNow(id),
        (job) => ({ jobId: job?.id, jobName: job?.name }),
      ),
    backfill: (id, instants) => changes.make(() => recurrences.backfill(id, instants)),
    get: (id) => recurrences.get(id),
    list: (offset, limit) => recurrences.list(offset, limit),
    tend: (named, tellDamaged) => recurrences.tend(named, tellDamaged),
  };
}
