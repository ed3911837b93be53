import { afterEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import {
  JobOutcome,
  OnScheduledJob,
  ScheduledJob,
  type ScheduledQueueEvent,
  UnrecoverableJobError,
} from '../../../lib/index.js';
import { audit } from '../../support/audit.js';
import { redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { seededRandom } from '../../support/random.js';
import { until } from '../../support/wait.js';

afterEach(() => stopApps());

const random = seededRandom(7);

const COUNTED = [
  'scheduled',
  'started',
  'completed',
  'failed',
  'retried',
  'dead',
  'cancelled',
  'discarded',
  'snoozed',
] as const;

class Handlers {
  readonly snoozed = new Set<string>();

  @OnScheduledJob('mixed', { maxAttempts: 3, backoff: { type: 'fixed', delayMs: 5 } })
  async mixed(_payload: unknown, { id }: ScheduledJob): Promise<unknown> {
    const die = random();
    if (die < 0.15) throw new Error('no');
    if (die < 0.2) throw new UnrecoverableJobError('never');
    if (die < 0.25) return JobOutcome.discard('not needed');
    if (die < 0.3) return JobOutcome.deadLetter('look at it');
    if (die < 0.4 && !this.snoozed.has(id)) {
      this.snoozed.add(id);
      return JobOutcome.snooze(10);
    }
    return undefined;
  }
}

it('the counters of a mixed run are the events of it, one for one', async () => {
  const JOBS = 1_500;
  const { producer, inspector, events, prefix } = await startApp([Handlers], {
    queues: { default: { concurrency: 50, keepDead: 100 } },
  });
  const told = new Map<string, number>();
  const count = (key: string) => told.set(key, (told.get(key) ?? 0) + 1);
  events.events$.subscribe((event: ScheduledQueueEvent) => {
    count(event.type);
    if (event.type === 'failed' && event.retryAt) count('retried');
  });
  const refs = await Promise.all(
    Array.from({ length: JOBS }, (_, i) =>
      producer.schedule('mixed', null, {
        delay: Math.floor(random() * 1_000),
        id: i % 5 === 0 ? `id-${i % 200}` : undefined,
      }),
    ),
  );
  await Promise.all(refs.filter(() => random() < 0.1).map((ref) => producer.cancel(ref)));
  await until('all have ended', async () => {
    const { scheduled, due, active } = await inspector.counts();
    return scheduled + due + active === 0;
  });
  const stats = await inspector.stats();
  // Redis counts an end first; the worker tells it when it has read the answer.
  const isTold = () => COUNTED.every((type) => (told.get(type) ?? 0) >= stats[type]);
  // Where that never comes, the comparison below says of which type too few are told.
  await until('all is told', isTold, 10_000).catch(() => undefined);
  for (const type of COUNTED) {
    expect({ [type]: stats[type] }).toEqual({ [type]: told.get(type) ?? 0 });
    expect(stats[type]).toBeGreaterThan(0);
  }
  expect(stats.scheduled).toBe(stats.completed + stats.cancelled + stats.discarded + stats.dead);
  expect(stats.started).toBe(stats.completed + stats.discarded + stats.retried + stats.snoozed + stats.dead);
  expect(stats.deadDropped).toBe(stats.dead - (await inspector.counts()).dead);
  const redis = new Redis(redisUrl());
  expect(await audit(redis, prefix)).toEqual([]);
  redis.disconnect();
});
