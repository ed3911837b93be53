import { Injectable, Logger } from '@nestjs/common';
import {
  defineScheduledJob,
  InvalidScheduleError,
  OnScheduledJob,
  PayloadTooLargeError,
  type PreparedJob,
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
    job jsonb NOT NULL,
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

@Injectable()
export class OutboxRelay {
  private readonly logger = new Logger('OutboxRelay');

  constructor(
    private readonly database: Database,
    private readonly producer: ScheduledQueueProducer,
  ) {}

  /** Hands over what was committed; answers how many rows it took. */
  @OnScheduledJob('outbox.relay', { everyMs: '1s', overlap: 'skip' })
  relay(): Promise<number> {
    return this.database.transaction(async (query) => {
      // Relays in other processes take other rows.
      const rows = await query<OutboxRow>(
        'SELECT id, job FROM outbox WHERE refused IS NULL ORDER BY id LIMIT 100 FOR UPDATE SKIP LOCKED',
      );
      for (const { id, refusal } of await this.handOver(rows))
        await query('UPDATE outbox SET refused = $2 WHERE id = $1', [
          id,
          refusal,
        ]);
      // Where the process dies before COMMIT, the rows are handed over again, under the same ids.
      await query('DELETE FROM outbox WHERE refused IS NULL AND id = ANY($1)', [
        rows.map(({ id }) => id),
      ]);
      return rows.length;
    });
  }

  /** All together or, where one is refused, one by one. Answers the refused ones. */
  private async handOver(rows: OutboxRow[]) {
    const refused: { id: string; refusal: string }[] = [];
    try {
      await this.producer.schedulePrepared(rows.map(({ job }) => job));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      for (const { id, job } of rows) {
        try {
          await this.producer.schedulePrepared(job);
        } catch (cause) {
          if (!isRefusal(cause)) throw cause;
          this.logger.error(`Outbox row ${id}: ${cause.message}`);
          refused.push({ id, refusal: cause.message });
        }
      }
    }
    return refused;
  }
}

/** Sending the job again would not help. */
function isRefusal(error: unknown): error is Error {
  return (
    error instanceof InvalidScheduleError ||
    error instanceof PayloadTooLargeError
  );
}
