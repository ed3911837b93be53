import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { runProgram, typed } from '../../support/command-line.js';
import { newPrefix, type QueueApp, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { Work } from '../../support/work.js';

const prefix = newPrefix();
const ASKED = ['--url', redisUrl(), '--prefix', prefix];
let app: QueueApp;

beforeAll(async () => {
  app = await startApp([Work], {
    prefix,
    queues: { default: { globalConcurrency: 3, leaseMs: 60_000 } },
  });
  const later = { delay: '1h', queue: 'mail' } as const;
  await app.producer.scheduleMany(Array.from({ length: 10 }, () => ({ job: 'send', payload: {}, options: later })));
  await app.producer.schedule('send', {}, { queue: 'mail', at: Date.now() - 3_600_000 });
  await app.inspector.pause({ queue: 'mail' });
  await until('its worker is seen', async () => (await app.inspector.workers()).length === 1);
});

afterAll(stopApps);

it('lists the queues with counts and load, judged by the options of their workers', async () => {
  const { code, out, err } = await typed(['queues', '--json', ...ASKED]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(JSON.parse(out)).toEqual([
    {
      name: 'default',
      lastSeenAt: expect.stringMatching(/^\d{4}-.*Z$/),
      counts: { scheduled: 0, due: 0, active: 0, completed: 0, dead: 0 },
      // Of this process's ten places.
      load: { due: 0, dueSoon: 0, latenessMs: 0, running: 0, capacity: 3, blocked: null },
    },
    {
      name: 'mail',
      lastSeenAt: expect.stringMatching(/^\d{4}-.*Z$/),
      counts: { scheduled: 10, due: 1, active: 0, completed: 0, dead: 0 },
      load: { due: 1, dueSoon: 0, latenessMs: 0, running: 0, capacity: 0, blocked: 'paused' },
    },
  ]);
});

it('shows the same as text, and what to type next', async () => {
  const { code, out } = await typed(['queues', ...ASKED]);
  expect(code).toBe(0);
  expect(out.split('\n')[0]).toBe('queue    due  oldest  scheduled  active  dead  places taken  held by  last used');
  expect(out).toMatch(/^mail +1 +- +10 +0 +0 +0 of 0 {2}paused +(now|\d s ago)$/m);
  expect(out).toContain(`\n  nestjs-redis-scheduled-queue stats default --url … --prefix ${prefix}\n`);
  const { out: some, err } = await typed(['queues', '--limit', '1', ...ASKED]);
  expect(some).not.toContain('mail');
  expect(err).toBe('These are 1 of 2 queues: --limit 2 shows all.\n');
});

it('shows one queue, as text and JSON', async () => {
  const { out } = await typed(['stats', 'mail', '--json', ...ASKED]);
  const [counts, load, stats] = await Promise.all([
    app.inspector.counts({ queue: 'mail' }),
    app.inspector.load({ queue: 'mail' }),
    app.inspector.stats({ queue: 'mail' }),
  ]);
  expect(JSON.parse(out)).toEqual({ counts, load, stats, paused: true });
  const { out: text } = await typed(['stats', 'mail', ...ASKED]);
  expect(text).toContain('jobs         10 scheduled, 1 due, 0 active, 0 completed, 0 dead\n');
  expect(text).toContain('To end the pause:\n  nestjs-redis-scheduled-queue resume mail');
});

it('shows the other queues where the data of one has a newer schema, names that one, and exits with 3', async () => {
  const mixed = await startApp([], { role: 'producer' });
  for (const queue of ['newer', 'known']) await mixed.producer.schedule('send', {}, { queue });
  const redis = new Redis(redisUrl());
  const asked = ['queues', '--json', '--url', redisUrl(), '--prefix', mixed.prefix];
  await redis.hset(`${mixed.prefix}:{newer}:stats`, 'schema', 9);
  const some = await typed(asked);
  expect(some.code).toBe(3);
  expect(JSON.parse(some.out).map(({ name }: { name: string }) => name)).toEqual(['known']);
  expect(some.err.replaceAll('\n', ' ')).toMatch(/^Queue 'newer' is not shown: .* holds data of schema 9 /);
  await redis.hset(`${mixed.prefix}:{known}:stats`, 'schema', 9);
  expect(await typed(asked)).toMatchObject({ code: 3, out: '', err: expect.stringContaining('schema 9') });
  await redis.quit();
});

it('says that nobody has used a queue, and which one may have been meant', async () => {
  const { code, err } = await typed(['stats', 'mial', '--json', ...ASKED]);
  expect({ code, err }).toEqual({
    code: 0,
    err: `Nobody has used a queue 'mial' under the prefix '${prefix}'. Did you mean 'mail'?\n`,
  });
  const { out } = await typed(['queues', '--url', redisUrl(), '--prefix', newPrefix()]);
  expect(out).toMatch(/^Nobody has used a queue under the prefix /);
});

it('runs as a program: the version, an answer, no colours in a pipe', async () => {
  const version = await runProgram(['--version']);
  expect(version).toEqual({ code: 0, out: `${process.env.npm_package_version}\n`, err: '' });
  const { code, out, err } = await runProgram(['queues', '--prefix', prefix], { REDIS_URL: redisUrl() });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(/^queue {4}due/);
});

it('exits with 3 and one line where Redis is away, without the password, in the time of one call', async () => {
  const from = performance.now();
  const { code, out, err } = await runProgram(['stats', 'mail', '--url', 'redis://queue:hunter2@127.0.0.1:1']);
  expect({ code, out }).toEqual({ code: 3, out: '' });
  expect(err).toMatch(/^nestjs-redis-scheduled-queue: Redis is unavailable \(.*ECONNREFUSED.*\); .*\n$/);
  expect(err).not.toContain('hunter2');
  expect(performance.now() - from).toBeLessThan(15_000);
});
