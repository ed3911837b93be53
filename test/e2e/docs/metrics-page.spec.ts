import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from '@jest/globals';
import { NestFactory } from '@nestjs/core';
import { register } from 'prom-client';
import { ScheduledQueueProducer } from '../../../lib/index.js';
import { redisUrl } from '../../support/queue-app.js';
import { Scrape } from '../../support/scrape.js';

const PAGE = readFileSync('docs/metrics.md', 'utf8');
const { REDIS_URL } = process.env;

afterEach(() => {
  if (REDIS_URL === undefined) delete process.env.REDIS_URL;
  else process.env.REDIS_URL = REDIS_URL;
});

it('the application of docs/metrics.md answers a scrape by HTTP, and the page has a row for each metric, with its labels', async () => {
  process.env.REDIS_URL = redisUrl();
  // It reads the address as it is loaded.
  const { MetricsAppModule } = await import('./metrics/metrics.js');
  const app = await NestFactory.create(MetricsAppModule, { logger: false });
  try {
    await app.listen(0, '127.0.0.1');
    const { id } = await app
      .get(ScheduledQueueProducer)
      .schedule('nothing', {}, { delay: '1h', queue: 'metrics-page' });
    const answer = await fetch(`${await app.getUrl()}/metrics`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe(register.contentType);
    const text = await answer.text();
    const read = Scrape.read(text);
    expect(read.value('scheduled_queue_redis_up')).toBe(1);
    expect(read.value('scheduled_queue_jobs', { queue: 'metrics-page', state: 'scheduled' })).toBeGreaterThan(0);
    await app.get(ScheduledQueueProducer).cancel(id, { queue: 'metrics-page' });
    const rows = [...PAGE.matchAll(/^\| `(scheduled_queue_\w+)` \| (.*?) \| (\w+) \|/gm)];
    const types = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => `${name} ${type}`);
    expect(rows.map(([, name, , type]) => `${name} ${type}`).sort()).toEqual(types.sort());
    for (const [, name, labels] of rows) {
      const told = [...labels!.matchAll(/`(\w+)`/g)].map(([, label]) => label);
      const sample = read.samples.find((each) => each.name.startsWith(name!));
      // Nothing has been claimed.
      if (!sample) expect([name, told]).toEqual(['scheduled_queue_claim_size', ['queue']]);
      else expect([name, Object.keys(sample.labels).filter((label) => label !== 'le')]).toEqual([name, told]);
    }
  } finally {
    await app.close();
    register.clear();
  }
});
