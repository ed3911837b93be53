import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  JobOutcome,
  OnScheduledJob,
  ScheduledJob,
  ScheduledQueueInspector,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

export abstract class Shop {
  abstract rowsOf(file: string): Promise<string[]>;
  abstract save(row: string): Promise<void>;
  abstract mail(to: string, text: string): Promise<void>;
}

interface Import {
  file: string;
  to: string;
}

const beginImport = defineScheduledJob<Import>('import.begin');
const importRow = defineScheduledJob<{ row: string }>('import.row');
const mailCounts = defineScheduledJob<Import>('import.mail');

@Injectable()
export class Imports {
  constructor(
    private readonly producer: ScheduledQueueProducer,
    private readonly inspector: ScheduledQueueInspector,
    private readonly shop: Shop,
  ) {}

  /** Answers the id of the set. */
  async start(payload: Import) {
    const { id } = await this.producer.dispatch(beginImport, payload);
    return `import/${id}`;
  }

  /** How many rows are done, and of how many. */
  async progress(set: string) {
    const found = await this.inspector.set(set);
    if (!found) return undefined;
    const { state, total, pending, dead } = found;
    return { state, done: total - pending, of: total, dead };
  }

  // A job: if its process dies half-way, the next attempt closes the set.
  @OnScheduledJob(beginImport)
  async begin(payload: Import, job: ScheduledJob<Import>) {
    const set = `import/${job.id}`;
    const { state } = await this.producer.openSet(set, {
      done: { job: mailCounts, payload },
    });
    // An earlier attempt has closed it.
    if (state !== 'open') return;
    const rows = await this.shop.rowsOf(payload.file);
    await this.producer.scheduleMany(
      rows.map((row, i) => ({
        job: importRow,
        payload: { row },
        // So that a second attempt schedules no row twice.
        options: { set, id: `${set}/${i}` },
      })),
    );
    await this.producer.closeSet(set);
  }

  @OnScheduledJob(importRow)
  async importRow({ row }: { row: string }) {
    if (row === '') return JobOutcome.discard('an empty line');
    await this.shop.save(row);
    return undefined;
  }

  @OnScheduledJob(mailCounts)
  mailCounts({ file, to }: Import, job: ScheduledJob<Import>) {
    const { total, completed, dead } = job.setDone!;
    const text = `${file}: ${completed} of ${total} rows, ${dead} failed`;
    return this.shop.mail(to, text);
  }
}
