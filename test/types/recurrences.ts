// What must compile about recurrences, and, below each directive, what must not.
import {
  type CronRule,
  defineScheduledJob,
  type JobRecurrence,
  nextOccurrences,
  OnScheduledJob,
  type PoppedJob,
  type RecurrenceChange,
  type RecurrenceOptions,
  type RecurrenceRef,
  type RecurrenceRule,
  type RecurrenceView,
  ScheduledJob,
  type ScheduledJobRef,
  type ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

class Digest {
  userId!: number;

  title(): string {
    return `for ${this.userId}`;
  }
}

const sendDigest = defineScheduledJob('digest.send', { payload: Digest });
const cleanUp = defineScheduledJob('clean-up');
const count = defineScheduledJob<number>('count');
const mondays: CronRule = { cron: '0 8 * * MON', timeZone: 'Europe/Paris', onMissed: 'skip', missedWithin: '2h' };
const rule: RecurrenceRule = { everyMs: '10m', offsetMs: 5_000, overlap: 'queue', jitterMs: '30s', limit: 10 };

export async function uses(producer: ScheduledQueueProducer): Promise<RecurrenceView[]> {
  const options: RecurrenceOptions = {
    priority: 1,
    tags: ['digest'],
    queue: 'mail',
    worker: 'w-1',
    headers: { a: 'b' },
  };
  const digest: RecurrenceChange = await producer.upsertRecurrence(
    'digest/7',
    sendDigest,
    { userId: 7 },
    mondays,
    options,
  );
  await producer.upsertRecurrence(digest, sendDigest, new Digest(), {
    ...mondays,
    startAt: new Date(),
    exclude: ['2027-12-25'],
  });
  await producer.upsertRecurrence(sendDigest.ref('digest/8'), sendDigest, { userId: 8 }, rule);
  await producer.upsertRecurrence('clean-up', cleanUp, undefined, { everyMs: 60_000, endAt: '2027-01-01T00:00:00Z' });
  await producer.upsertRecurrence('count', count, 7, rule);
  await producer.upsertRecurrence('by-name', 'by.name', { whatever: true }, rule);

  const ref: RecurrenceRef = (await producer.recurrence('digest/7', { queue: 'mail' })) ?? 'digest/7';
  const now: ScheduledJobRef = await producer.runRecurrenceNow(ref);
  await producer.cancel(now);
  const added: number = await producer.backfillRecurrence(
    ref,
    { from: new Date(0), to: Date.now() },
    { queue: 'mail' },
  );
  const paused: boolean = await producer.pauseRecurrence(ref, { reason: 'on holiday', queue: 'mail' });
  const resumed: boolean = await producer.resumeRecurrence({ id: 'digest/7', queue: 'mail' });
  const removed: boolean = await producer.removeRecurrence(digest);
  console.log(added, paused, resumed, removed, digest.created, digest.nextAt?.getTime());

  const [first] = await producer.recurrences({ queue: 'mail', offset: 0, limit: 10 });
  if (first?.state === 'paused')
    console.log(first.reason?.length, first.nextAt?.getTime(), first.rule.cron ?? first.rule.everyMs);
  const dates: Date[] = nextOccurrences(rule, { from: new Date(), count: 3 });
  console.log(dates.length);
  return producer.recurrences();
}

export class Handlers {
  @OnScheduledJob(sendDigest)
  send(payload: Digest, { recurrence }: ScheduledJob): string {
    const of: JobRecurrence | undefined = recurrence;
    return of?.missed ? `${payload.title()} of ${of.at.toISOString()}` : 'now';
  }
}

export const ofPopped = (job: PoppedJob): Date | undefined => job.recurrence?.at;

export async function misuses(producer: ScheduledQueueProducer): Promise<void> {
  // @ts-expect-error a payload of another type
  await producer.upsertRecurrence('a', count, 'seven', rule);
  // @ts-expect-error a job without a payload is given one
  await producer.upsertRecurrence('a', cleanUp, { userId: 7 }, rule);
  // @ts-expect-error no rule
  await producer.upsertRecurrence('a', count, 7);
  // @ts-expect-error both kinds of rule
  await producer.upsertRecurrence('a', count, 7, { cron: '* * * * *', everyMs: 60_000 });
  // @ts-expect-error a policy that does not exist
  await producer.upsertRecurrence('a', count, 7, { everyMs: 60_000, onMissed: 'twice' });
  // @ts-expect-error a duration without a unit
  await producer.upsertRecurrence('a', count, 7, { everyMs: '10' });
  // @ts-expect-error the rule says when
  await producer.upsertRecurrence('a', count, 7, rule, { delay: '1h' });
  // @ts-expect-error the first argument is the id
  await producer.upsertRecurrence('a', count, 7, rule, { id: 'b' });
  // @ts-expect-error there is one job for each instant
  await producer.upsertRecurrence('a', count, 7, rule, { onDuplicate: 'replace' });
  // @ts-expect-error nothing is replaced
  await producer.upsertRecurrence('a', count, 7, rule, { maxWaitMs: '1m' });
  // @ts-expect-error half of a range
  await producer.backfillRecurrence('a', { from: new Date() });
  // @ts-expect-error the reason is an option
  await producer.pauseRecurrence('a', 'on holiday');
}

const maybe = defineScheduledJob<{ days: number } | undefined>('maybe');
const anything = defineScheduledJob<unknown>('anything');

/** A rule needs the payload of its occurrences only where the job cannot do without. */
export class Declared {
  @OnScheduledJob(cleanUp, { cron: '@daily' })
  @OnScheduledJob(maybe, { everyMs: '1h' })
  @OnScheduledJob(anything, { cron: '@hourly' })
  @OnScheduledJob('by a name', { cron: '@daily' })
  without(): void {}

  @OnScheduledJob(count, { cron: '@daily', recurrencePayload: 7 })
  @OnScheduledJob(sendDigest, { everyMs: '1d', recurrencePayload: { userId: 7 } })
  // The rule may come from the module's option jobs.
  @OnScheduledJob(sendDigest, { concurrency: 2, recurrenceId: 'b' })
  with(): void {}
}
