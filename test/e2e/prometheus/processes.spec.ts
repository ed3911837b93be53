import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, it } from '@jest/globals';
import type { ScheduledQueueInspector } from '../../../lib/index.js';
import { redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { type Labels, Scrape } from '../../support/scrape.js';
import { until } from '../../support/wait.js';

const NAMES = ['retries', 'dies', 'discards', 'snoozes', ...Array.from({ length: 40 }, () => 'fine')];
const TYPES = ['scheduled', 'started', 'completed', 'failed', 'dead', 'discarded', 'snoozed'] as const;

const children: ChildProcess[] = [];

afterEach(async () => {
  const ended = children.splice(0).map(async (child) => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  await Promise.all(ended);
  await stopApps();
});

async function startProcess(prefix: string): Promise<ChildProcess> {
  const child = fork('dist-test/metered.js', {
    env: { ...process.env, REDIS: redisUrl(), PREFIX: prefix, NODE_OPTIONS: '' },
    execArgv: [],
  });
  children.push(child);
  await once(child, 'message');
  return child;
}

async function ask<Answer>(child: ChildProcess, message: object | string): Promise<Answer> {
  child.send(message as never);
  return (await once(child, 'message'))[0];
}

const scrapes = async () => (await Promise.all(children.map((child) => ask<string>(child, 'scrape')))).map(Scrape.read);
const sumOf = (all: Scrape[], name: string, labels: Labels) =>
  all.reduce((sum, scrape) => sum + scrape.sum(name, labels), 0);
const maxOf = (all: Scrape[], name: string, labels: Labels) =>
  Math.max(...all.flatMap((scrape) => scrape.values(name, labels)));

/** What the queue has told, once nothing runs any more. */
async function rested(inspector: ScheduledQueueInspector) {
  await until('all is done', async () => {
    const { completed, due, active } = await inspector.counts();
    // Those that nobody handles stay due.
    return completed === 41 * 3 && due === 2 && active === 0;
  });
  return { counts: await inspector.counts(), stats: await inspector.stats() };
}

it('of three processes on one queue the maximum of each gauge is the truth, and so is the sum of each counter', async () => {
  const { prefix, producer, inspector } = await startApp([], { role: 'producer' });
  for (let i = 0; i < 3; i++) await startProcess(prefix);
  await producer.schedule('unhandled', {}, { at: Date.now() - 60_000 });
  await producer.schedule('unhandled', {});
  await Promise.all(children.map((child) => ask(child, { schedule: NAMES })));
  const { counts, stats } = await rested(inspector);
  const queue = 'default';
  // Every process tells what it did; the two that nobody handles were scheduled elsewhere.
  const expected = { ...stats, scheduled: stats.scheduled - 2 };
  await until('every process has told its last event', async () => {
    const all = await scrapes();
    return TYPES.every((type) => sumOf(all, 'scheduled_queue_events_total', { queue, type }) === expected[type]);
  });
  const all = await scrapes();
  for (const type of TYPES)
    expect([type, sumOf(all, 'scheduled_queue_events_total', { queue, type })]).toEqual([type, expected[type]]);
  expect(expected).toMatchObject({ started: 46 * 3, completed: 41 * 3, dead: 3, discarded: 3, snoozed: 3, retried: 6 });
  expect(sumOf(all, 'scheduled_queue_run_seconds_count', { queue })).toBe(stats.started);
  expect(sumOf(all, 'scheduled_queue_lateness_seconds_count', { queue })).toBe(stats.started);
  expect(sumOf(all, 'scheduled_queue_claim_size_sum', { queue })).toBe(stats.started);
  // What they tell was kept for up to 5 s, so the last one is asked for until it agrees.
  const seen = await until('the gauges have been read anew', async () => {
    const late = await scrapes();
    const read = (state: string) => maxOf(late, 'scheduled_queue_jobs', { queue, state });
    return Object.entries(counts).every(([state, count]) => read(state) === count) && late;
  });
  for (const scrape of seen) {
    for (const [state, count] of Object.entries(counts))
      expect([state, scrape.value('scheduled_queue_jobs', { queue, state })]).toEqual([state, count]);
    expect(scrape.value('scheduled_queue_redis_up')).toBe(1);
  }
  const oldest = maxOf(seen, 'scheduled_queue_oldest_due_seconds', { queue });
  expect(oldest).toBeGreaterThanOrEqual(60);
  expect(oldest).toBeLessThanOrEqual((await inspector.latenessMs({ queue })) / 1_000);
  // No process did all of it.
  const shares = all.map((scrape) => scrape.sum('scheduled_queue_events_total', { queue, type: 'started' }));
  expect(Math.max(...shares)).toBeLessThan(stats.started);
});
