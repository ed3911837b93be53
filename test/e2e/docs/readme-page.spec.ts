import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { ScheduledQueueProducer } from '../../../lib/index.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { until } from '../../support/wait.js';

let server: OwnRedisServer;

beforeAll(async () => {
  server = await startOwnServer();
  process.env.REDIS_URL = server.url;
});
afterAll(async () => {
  delete process.env.REDIS_URL;
  await server.stop();
});

it('the application that the README shows logs a reminder when it is due', async () => {
  // Not before: it reads the environment.
  const { AppModule } = await import('./readme/app.module.js');
  const { Reminders } = await import('./readme/reminders.js');
  const lines: string[] = [];
  const log = { log: (message: string) => lines.push(message), warn() {}, error() {} };
  const app = await Test.createTestingModule({ imports: [AppModule] })
    .setLogger(log)
    .compile();
  await app.init();
  try {
    const job = await app.get(Reminders).remind('ada@example.com');
    const delayMs = job.dueAt!.getTime() - Date.now();
    expect(delayMs).toBeGreaterThan(8_000);
    expect(delayMs).toBeLessThan(12_000);
    expect(await app.get(ScheduledQueueProducer).runNow(job)).toBe(true);
    await until('it is logged', () => lines.includes('A reminder for ada@example.com'));
  } finally {
    await app.close();
  }
});
