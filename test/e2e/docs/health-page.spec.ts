import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { parse } from 'yaml';
import { RedisScheduledQueueModule, ScheduledQueueProducer } from '../../../lib/index.js';
import { newPrefix } from '../../support/queue-app.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { until } from '../../support/wait.js';
import { HealthModule } from './health/health.module.js';

const page = readFileSync('docs/health.md', 'utf8');
let server: OwnRedisServer;
let app: INestApplication;

beforeAll(async () => {
  server = await startOwnServer('--appendonly', 'yes');
  const queue = RedisScheduledQueueModule.forRoot({ connection: server.url, prefix: newPrefix() });
  const module = await Test.createTestingModule({ imports: [queue, HealthModule] })
    .setLogger(false as never)
    .compile();
  app = module.createNestApplication();
  await app.listen(0, '127.0.0.1');
});
afterAll(async () => {
  await app.close();
  await server.stop();
});

/** What a probe gets from a path of the controller. */
async function probe(path: string): Promise<{ status: number; body: { details: Record<string, object> } }> {
  const response = await fetch(`${await app.getUrl()}${path}`);
  return { status: response.status, body: (await response.json()) as never };
}

it('the probes of docs/health.md ask paths that its controller has', async () => {
  const [, yaml] = page.match(/^```yaml\n(.*?)^```$/ms)!;
  const { livenessProbe, readinessProbe } = parse(yaml!);
  expect(livenessProbe.httpGet.path).toBe('/health/live');
  expect(readinessProbe.httpGet.path).toBe('/health/ready');
  // Both answer within 2.5 s.
  for (const { timeoutSeconds } of [livenessProbe, readinessProbe]) expect(timeoutSeconds).toBeGreaterThan(2.5);
  for (const { httpGet } of [livenessProbe, readinessProbe]) expect((await probe(httpGet.path)).status).toBe(200);
});

it('the controller of docs/health.md answers 200 with what the page prints', async () => {
  const printed = JSON.parse(page.match(/^```json\n(.*?)^```$/ms)![1]!);
  const { status, body } = await probe('/health/ready');
  expect([status, body]).toEqual([200, printed]);
});

it('it answers 503 for bounds that are passed, and says which', async () => {
  await app.get(ScheduledQueueProducer).schedule('nobody.handles.it', null, { at: Date.now() - 3_600_000 });
  const { status, body } = await probe('/health/jobs');
  expect(status).toBe(503);
  expect(body.details.jobs).toMatchObject({
    status: 'down',
    message: expect.stringMatching(
      /^Queue 'default': latenessMs is 36\d{5}, above maxLatenessMs 300000; workers is 0, below minWorkers 1\.$/,
    ),
  });
  expect((await probe('/health/ready')).status).toBe(200);
});

it('while Redis is away the process is not ready, and lives', async () => {
  await server.kill();
  const [ready, live] = await Promise.all([probe('/health/ready'), probe('/health/live')]);
  expect(ready.status).toBe(503);
  expect(ready.body.details.queue).toMatchObject({ status: 'down', message: expect.stringMatching(/ECONNREFUSED/) });
  expect([live.status, live.body.details]).toEqual([200, { queue: { status: 'up' } }]);
  await server.restart();
  await until('it is ready', async () => (await probe('/health/ready')).status === 200);
});
