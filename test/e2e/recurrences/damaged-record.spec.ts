import { afterAll, afterEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { LogLines } from '../../support/log-lines.js';
import { redisUrl, stopApps } from '../../support/queue-app.js';
import { instantsOf, startBuild } from '../../support/recurring-apps.js';
import { until } from '../../support/wait.js';

/** A walk through all recurrences begins every 7 s. */

const redis = new Redis(redisUrl(), { lazyConnect: true });

afterEach(stopApps);
afterAll(() => redis.disconnect());

it('one whose record somebody has damaged is told in one line of log, and goes on once it is upserted again', async () => {
  const log = new LogLines();
  const { app, runs } = await startBuild('only', [], {}, log);
  const base = `${app.prefix}:{default}:`;
  const upsert = () => app.producer.upsertRecurrence('often', 'tick', 1, { everyMs: 200 });
  const tended = async () => {
    await redis.hset(`${base}gate`, 'tendAt', '1');
    await until('it was tended', async () => (await redis.hget(`${base}gate`, 'tendAt')) !== '1');
  };
  const warned = () => log.starting('warn').filter((line) => line.includes("somebody has damaged: 'often'."));
  await upsert();
  await until('it runs', () => instantsOf(runs, 'often').length >= 2);
  await redis.hset(`${base}recurrences`, 'often', 'rubbish');
  await until('it is told', () => warned().length > 0);
  await tended();
  await tended();
  const before = runs.length;
  await upsert();
  await until('it goes on', () => runs.length >= before + 3);
  expect(new Set(runs.map(({ id }) => id)).size).toBe(runs.length);
  expect(warned()).toHaveLength(1);
});
