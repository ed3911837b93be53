import { afterEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { OnScheduledJob } from '../../../lib/index.js';
import { redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

class Handlers {
  @OnScheduledJob('fail', { maxAttempts: 1_000, backoff: { type: 'exponential', delayMs: '1m' } })
  fail(): void {
    throw new Error('no');
  }
}

afterEach(() => stopApps());

it.each([64, 999])(
  'after attempt %d of 1 000, exponential from a minute, a job waits a century at the most, and can still be run',
  async (attempt) => {
    const { producer, inspector, prefix } = await startApp([Handlers]);
    const ref = await producer.schedule('fail', null, { delay: '1h' });
    const redis = new Redis(redisUrl());
    // As it would stand after so many failures.
    await redis.hset(`${prefix}:{default}:claims`, ref.id, `0 ${attempt - 1} 0 ${ref.dueAt!.getTime()} - 5::fail`);
    redis.disconnect();
    expect(await producer.runNow(ref)).toBe(true);
    const job = await until('it waits again', async () => {
      const found = await inspector.job(ref);
      return found?.state === 'scheduled' && found.attempts === attempt ? found : undefined;
    });
    const years = (job.dueAt.getTime() - Date.now()) / (365 * 24 * 3_600_000);
    expect(years).toBeGreaterThan(99);
    expect(years).toBeLessThan(101);
    expect(await producer.runNow(ref)).toBe(true);
    await until('it has run once more', async () => (await inspector.stats()).failed === 2);
    expect(await inspector.job(ref)).toMatchObject({
      state: attempt === 999 ? 'dead' : 'scheduled',
      attempts: attempt + 1,
    });
  },
);
