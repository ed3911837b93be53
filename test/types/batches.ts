// Handlers that get many jobs a call, and what must not compile.
import {
  type BatchOptions,
  defineScheduledJob,
  type HandlerOptions,
  OnScheduledJob,
  RedisScheduledQueueModule,
  ScheduledJob,
} from 'nestjs-redis-scheduled-queue';

class Row {
  id!: number;
}

const insertRow = defineScheduledJob('row.insert', { payload: Row });
const meet = defineScheduledJob<{ at: Date }>('meet');
const tick = defineScheduledJob('tick');

const SIZES: BatchOptions = { size: 100, waitMs: '1s' };
/** Wide types say nothing of `batch`: its methods get one job. */
const LIMITS: HandlerOptions = { concurrency: 5 };
const BULK = { concurrency: 5, batch: SIZES } satisfies HandlerOptions;

export class Handlers {
  @OnScheduledJob(insertRow, { batch: { size: 100 } })
  @OnScheduledJob('row.insert.again', { payload: Row, batch: SIZES })
  insert(rows: Row[], jobs: ScheduledJob<Row>[]): void {
    rows[0]?.id satisfies number | undefined;
    jobs[0]?.payload.id satisfies number | undefined;
  }

  @OnScheduledJob(insertRow, { batch: { size: 100, waitMs: 400 }, concurrency: 2, queue: 'rows' })
  withPayloadsAlone(rows: readonly Row[]): number {
    return rows.length;
  }

  @OnScheduledJob(insertRow, BULK)
  withoutParameters(): void {}

  @OnScheduledJob('by.name.alone', LIMITS)
  withWideOptions(payload: { any: string }, job: ScheduledJob): number {
    return payload.any.length + job.attempt;
  }

  @OnScheduledJob(insertRow, { batch: undefined })
  withNone(row: Row, job: ScheduledJob<Row>): number {
    return row.id + job.attempt;
  }

  @OnScheduledJob(meet, { batch: SIZES })
  asJson(payloads: { at: string }[], jobs: ScheduledJob<{ at: string }>[]): void {
    console.log(payloads, jobs);
  }

  @OnScheduledJob(tick, { batch: SIZES, cron: '@hourly' })
  withoutPayloads(payloads: undefined[], jobs: ScheduledJob<undefined>[]): void {
    console.log(payloads, jobs);
  }

  @OnScheduledJob('by.name', { batch: { size: 2 } })
  byName(payloads: { any: string }[], jobs: ScheduledJob[]): void {
    console.log(payloads, jobs);
  }

  // @ts-expect-error one payload, where many come
  @OnScheduledJob(insertRow, { batch: SIZES })
  onePayload(row: Row): void {
    console.log(row);
  }

  // @ts-expect-error one job, where many come
  @OnScheduledJob(insertRow, { batch: SIZES })
  oneJob(rows: Row[], job: ScheduledJob<Row>): void {
    console.log(rows, job);
  }

  // @ts-expect-error many payloads without the option
  @OnScheduledJob(insertRow)
  manyWithout(rows: Row[]): void {
    console.log(rows);
  }

  // @ts-expect-error payloads of another type
  @OnScheduledJob(insertRow, { batch: SIZES })
  otherPayloads(rows: { name: string }[]): void {
    console.log(rows);
  }

  // @ts-expect-error dates, which JSON has made strings
  @OnScheduledJob(meet, { batch: SIZES })
  dates(payloads: { at: Date }[]): void {
    console.log(payloads);
  }

  // @ts-expect-error the job of one payload, by name
  @OnScheduledJob('by.name', { batch: SIZES })
  oneByName(payload: { any: string }): void {
    console.log(payload);
  }

  // @ts-expect-error payloads of another class than the option names
  @OnScheduledJob('by.name', { payload: Row, batch: SIZES })
  otherClass(rows: { name: string }[]): void {
    console.log(rows);
  }

  // @ts-expect-error a batch without its size
  @OnScheduledJob(insertRow, { batch: { waitMs: 400 } })
  withoutSize(rows: Row[]): void {
    console.log(rows);
  }

  // @ts-expect-error an option of batch that is misspelt
  @OnScheduledJob(insertRow, { batch: { size: 100, wait: 400 } })
  misspelt(rows: Row[]): void {
    console.log(rows);
  }

  // @ts-expect-error no payload for the occurrences of a job that has one
  @OnScheduledJob(insertRow, { batch: SIZES, cron: '@daily' })
  withoutOccurrencePayload(rows: Row[]): void {
    console.log(rows);
  }
}

export const elsewhere = [
  RedisScheduledQueueModule.forRoot({
    jobs: { 'row.insert': { batch: { size: 50 } }, tick: { batch: { waitMs: '2s' } } },
  }),
  RedisScheduledQueueModule.forRoot({ jobs: { tick: { batch: undefined } } }),
  // @ts-expect-error configuration cannot take it away
  RedisScheduledQueueModule.forRoot({ jobs: { tick: { batch: false } } }),
  // @ts-expect-error an option of batch that is misspelt
  RedisScheduledQueueModule.forRoot({ jobs: { tick: { batch: { sise: 5 } } } }),
  // @ts-expect-error a definition says nothing of how its handler is called
  defineScheduledJob('x', { batch: SIZES }),
];
