import { afterEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { SCRIPTS, type ScriptName } from '../../../lib/store/redis/scripts/embedded.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { startOwnServer } from '../../support/redis-server.js';
import { until } from '../../support/wait.js';
import { Work } from '../../support/work.js';

// Over a slow link scripts that are large hardly arrive.

/** Bytes, of one script and of all together. */
const MOST_OF_ONE = 45_000;
const MOST = 80_000;

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  await stopApps();
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

it('an application that uses nothing special sends few and small scripts, from its start to its end', async () => {
  const server = await startOwnServer();
  cleanups.push(() => server.stop());
  const redis = new Redis(server.url);
  cleanups.push(() => redis.disconnect());
  const { producer, prefix } = await startApp([Work], { connection: server.url });
  // As a bare hash: to ask `inspector.stats()` would send a script.
  const jobsEnded = async () => Number(await redis.hget(`${prefix}:{default}:stats`, 'completed'));
  await producer.schedule('work', 1);
  await producer.scheduleMany(Array.from({ length: 50 }, (_, i) => ({ job: 'work', payload: i })));
  await until('all have run', async () => (await jobsEnded()) === 51);
  await stopApps();

  const names = Object.keys(SCRIPTS) as ScriptName[];
  const there = (await redis.script('EXISTS', ...names.map((name) => SCRIPTS[name].sha))) as number[];
  const sent = names.filter((_, i) => there[i] === 1);
  expect(sent).toEqual(expect.arrayContaining(['schedule', 'ordinary', 'register']));
  const sizes = sent.map((name) => ({ name, bytes: Buffer.byteLength(SCRIPTS[name].source) }));
  expect(sizes.filter(({ bytes }) => bytes > MOST_OF_ONE)).toEqual([]);
  expect(sizes.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(MOST);
});
