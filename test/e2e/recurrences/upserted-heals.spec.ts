import { afterAll, afterEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { LogLines } from '../../support/log-lines.js';
import { redisUrl, stopApps } from '../../support/queue-app.js';
import { instantsOf, startBuild } from '../../support/recurring-apps.js';
import { until } from '../../support/wait.js';

/** Beyond this a recurrence would not be back in time. */
const BACK_WITHIN_MS = 10_000;

const redis = new Redis(redisUrl(), { lazyConnect: true });

afterEach(stopApps);
afterAll(() => redis.disconnect());

/** Under a queue of its own each. */
const losses: Record<string, (base: string) => Promise<unknown>> = {
  'the whole timetable': (base) => redis.del(`${base}timetable`),
  'the state of one': (base) => redis.hdel(`${base}timetable`, 'often'),
  'the timetable and the note of when to tend': (base) => redis.del(`${base}timetable`, `${base}gate`),
  'the timetable and what waits': (base) => redis.del(`${base}timetable`, `${base}jobs`),
};

/** Answers how long after the loss of this the recurrences of an application went on. */
async function goneOnAfter(lost: string, log: LogLines): Promise<number> {
  const { app, runs } = await startBuild('only', [], {}, log);
  await app.producer.upsertRecurrence('often', 'tick', 1, { everyMs: 200 });
  await app.producer.upsertRecurrence('second', 'tick', 2, { cron: '* * * * * *' });
  await until('both run', () => instantsOf(runs, 'often').length >= 2 && instantsOf(runs, 'second').length >= 1);
  await losses[lost]!(`${app.prefix}:{default}:`);
  const lostAt = Date.now();
  // By then what waited when it was lost has begun.
  const later = (id: string) => instantsOf(runs, id).filter((at) => at > lostAt + 1_000);
  const goesOn = (id: string) => later(id).length >= 3;
  await until(`both go on after ${lost} was lost`, () => goesOn('often') && goesOn('second'), BACK_WITHIN_MS + 4_000);
  const ids = runs.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  return Math.max(later('often')[0]!, later('second')[0]!) - lostAt;
}

it('what was upserted goes on within 10 s after its state was lost, each instant once', async () => {
  const log = new LogLines();
  const delays = await Promise.all(Object.keys(losses).map((lost) => goneOnAfter(lost, log)));
  expect(Math.max(...delays)).toBeLessThan(BACK_WITHIN_MS);
  const warned = log.starting('warn').filter((line) => /Redis has lost the state of .*'often'/.test(line));
  expect(warned).toHaveLength(delays.length);
});

it('one whose record somebody has damaged is told in one line of log, and goes on once it is upserted again', async () => {
  const log = new LogLines();
  const { app, runs } = await startBuild('only', [], {}, log);
  const base = `${app.prefix}:{default}:`;
  const upsert = () => app.producer.upsertRecurrence('often', 'tick', 1, { everyMs: 200 });
  const tended = async () => {
    await redis.hset(`${base}gate`, 'tendAt', '1');
    await until('it was tended', async () => (await redis.hget(`${base}gate`, 'tendAt')) !== '1', BACK_WITHIN_MS);
  };
  const warned = () => log.starting('warn').filter((line) => line.includes("'often', or somebody has damaged it."));
  await upsert();
  await until('it runs', () => instantsOf(runs, 'often').length >= 2);
  await redis.hset(`${base}recurrences`, 'often', 'rubbish');
  await until('it is told', () => warned().length > 0, BACK_WITHIN_MS);
  await tended();
  await tended();
  const before = runs.length;
  await upsert();
  await until('it goes on', () => runs.length >= before + 3);
  expect(new Set(runs.map(({ id }) => id)).size).toBe(runs.length);
  expect(warned()).toHaveLength(1);
});
