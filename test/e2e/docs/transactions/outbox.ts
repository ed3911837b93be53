import { Injectable, Logger } from '@nestjs/common';
import {
  defineScheduledJob,
  InvalidScheduleError,
  OnScheduledJob,
  PayloadTooLargeError,
  type PreparedJob,
  ScheduledQueueError,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

/** Sends one statement in a transaction, and answers its rows. */
type Query = <Row>(sql: string, values?: unknown[]) => Promise<Row[]>;

/** Commits what `work` has done, or rolls it back where `work` throws. */
export abstract class Database {
  abstract transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
}

export const SCHEMA = `
  CREATE TABLE appointments (id text PRIMARY KEY, at timestamptz NOT NULL);
  CREATE TABLE outbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job json NOT NULL,
    try_at timestamptz NOT NULL DEFAULT now(),
    refused text
  );
`;

const remind = defineScheduledJob<{ appointment: string }>(
  'appointment.remind',
);

@Injectable()
export class Appointments {
  constructor(
    private readonly database: Database,
    private readonly producer: ScheduledQueueProducer,
  ) {}

  async book(appointment: string, at: Date) {
    const oneHourBefore = new Date(at.getTime() - 3_600_000);
    const job = await this.producer.prepare(
      remind,
      { appointment },
      { at: oneHourBefore },
    );
    await this.database.transaction(async (query) => {
      await query('INSERT INTO appointments VALUES ($1, $2)', [
        appointment,
        at,
      ]);
      await query('INSERT INTO outbox (job) VALUES ($1)', [job]);
    });
  }
}

interface OutboxRow {
  id: string;
  job: PreparedJob;
}

const ROWS_AT_A_TIME = 100;

@Injectable()
export class OutboxRelay {
  private readonly logger = new Logger('OutboxRelay');

  constructor(
    private readonly database: Database,
    private readonly producer: ScheduledQueueProducer,
  ) {}

  @OnScheduledJob('outbox.relay', {
    everyMs: '1s',
    overlap: 'skip',
    backoff: { type: 'fixed', delayMs: '1s' },
  })
  async relayAll() {
    while ((await this.relay()) === ROWS_AT_A_TIME);
  }

  /** Hands over the oldest rows; answers how many it has looked at. */
  relay(): Promise<number> {
    return this.database.transaction(async (query) => {
      // Relays in other processes take other rows.
      const rows = await query<OutboxRow>(
        `SELECT id, job FROM outbox WHERE refused IS NULL AND try_at <= now()
          ORDER BY id LIMIT ${ROWS_AT_A_TIME} FOR UPDATE SKIP LOCKED`,
      );
      const queues = new Set(rows.map(({ job }) => job.queue));
      for (const queue of queues)
        await this.handOver(
          rows.filter(({ job }) => job.queue === queue),
          query,
        );
      return rows.length;
    });
  }

  /** Those of one queue: together or, where one is refused, one by one. */
  private async handOver(rows: OutboxRow[], query: Query): Promise<void> {
    const ids = rows.map(({ id }) => id);
    try {
      const refs = await this.producer.schedulePrepared(
        rows.map(({ job }) => job),
      );
      // Where the process dies before COMMIT, these rows are handed over again, under the same ids.
      await query('DELETE FROM outbox WHERE id = ANY($1)', [ids]);
      const taken = refs.filter(({ status }) => status === 'taken');
      for (const { id, name } of taken)
        this.logger.error(`Job ${id} was not made: a '${name}' has its id`);
    } catch (error) {
      if (!(error instanceof ScheduledQueueError)) throw error;
      this.logger.warn(error.message);
      if (!isRefusal(error))
        await query(
          "UPDATE outbox SET try_at = now() + interval '5 s' WHERE id = ANY($1)",
          [ids],
        );
      else if (rows.length === 1)
        await query('UPDATE outbox SET refused = $2 WHERE id = ANY($1)', [
          ids,
          error.message,
        ]);
      else for (const row of rows) await this.handOver([row], query);
    }
  }
}

/** Sending the job again would not help. */
function isRefusal(error: Error): boolean {
  return (
    error instanceof InvalidScheduleError ||
    error instanceof PayloadTooLargeError
  );
}
