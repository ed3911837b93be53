import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { audit } from '../../support/audit.js';
import { LogLines } from '../../support/log-lines.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { TestSentinels } from '../../support/redis-sentinel.js';
import { until } from '../../support/wait.js';
import { Work } from '../../support/work.js';

let redis: TestSentinels;

beforeEach(async () => {
  redis = await TestSentinels.start();
});

afterEach(async () => {
  await stopApps();
  await redis.stop();
});

it('when Sentinel makes a replica the primary, workers go on there by themselves and nothing is lost', async () => {
  const log = new LogLines();
  const connection = { sentinels: [...redis.sentinels], name: 'main' };
  const { producer, inspector, get, prefix } = await startApp([Work], { connection }, { log });
  const work = get(Work);
  const refs = await producer.scheduleMany(
    Array.from({ length: 50 }, (_, payload) => ({ job: 'work', payload, options: { delay: payload * 100 } })),
  );
  await until('some have run', () => work.runs.length > 2);
  const [primary, replica] = [new Redis(redis.primary.url), new Redis(redis.replica.url)];
  primary.on('error', () => {});
  try {
    expect(await primary.wait(1, 5_000)).toBe(1);
    await redis.primary.kill();
    const takenOverAt = await until(
      'the replica has taken over',
      async () => (await replica.info('replication')).includes('role:master') && performance.now(),
    );
    const runsBefore = work.runs.length;
    const firstRun = await until('jobs are claimed', () => work.runs[runsBefore]);
    process.stdout.write(`claimed ${Math.round(firstRun.startedAt - takenOverAt)} ms after the failover\n`);
    expect(firstRun.startedAt - takenOverAt).toBeLessThan(2_000 + 1_500);
    await producer.schedule('work', 'after', { id: 'after' });
    await until('all have run', () => [...refs, { id: 'after' }].every(({ id }) => work.has(id)));
    // A settlement that the replica never got is lost: that job is active until its lease of 15 s ends, and runs again.
    await until('all are settled', async () => (await inspector.counts()).active === 0);
    expect(await audit(replica, prefix)).toEqual([]);
    // It is said once the last connection is back, which may be that for messages.
    await until('the log says that Redis is back', () => log.lines.length > 1);
    expect(log.lines).toEqual([
      expect.stringMatching(/^warn Redis cannot/),
      expect.stringMatching(/^log Redis is back/),
    ]);
  } finally {
    for (const client of [primary, replica]) client.disconnect();
  }
});
