import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from '@jest/globals';
import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { QueueClosedError, ScheduledQueueConsumer } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

@Injectable()
class RowExport implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly rows: number[] = [];
  private loop?: Promise<void>;

  constructor(private readonly consumer: ScheduledQueueConsumer) {}

  onApplicationBootstrap() {
    this.loop = this.pull();
  }

  // By then pops that wait have ended, and jobs in hand can still be settled.
  async beforeApplicationShutdown() {
    await this.loop;
  }

  private async pull() {
    for (;;) {
      try {
        const jobs = await this.consumer.pop<number>({ names: ['row.export'], count: 100, waitMs: '30s' });
        this.rows.push(...jobs.map(({ payload }) => payload));
        await Promise.all(jobs.map((job) => job.complete()));
      } catch (error) {
        if (error instanceof QueueClosedError) return;
        new Logger('RowExport').warn(error);
      }
    }
  }
}

afterEach(stopApps);

it('the loop that docs/job-life-cycle.md shows is this one', () => {
  const [shown] = readFileSync(new URL(import.meta.url), 'utf8').match(/^@Injectable\(\)\n.*?^\}\n/ms)!;
  expect(readFileSync('docs/job-life-cycle.md', 'utf8')).toContain(shown);
});

it('it takes what is due in batches, and ends with the application', async () => {
  const { app, producer, inspector, get } = await startApp([RowExport]);
  const rows = Array.from({ length: 250 }, (_, i) => i);
  await producer.scheduleMany(rows.map((payload) => ({ job: 'row.export', payload })));
  await until('all are exported', async () => (await inspector.stats()).completed === 250);
  expect(get(RowExport).rows).toEqual(rows);
  const from = performance.now();
  await app.close();
  expect(performance.now() - from).toBeLessThan(5_000);
});
