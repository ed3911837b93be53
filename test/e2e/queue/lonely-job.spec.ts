import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { OnScheduledJob } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { startOwnServer } from '../../support/redis-server.js';
import { commandsOfScripts } from '../../support/script-commands.js';
import { until } from '../../support/wait.js';
import { Work } from '../../support/work.js';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  await stopApps();
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

class LongNames {
  @OnScheduledJob('l'.repeat(100))
  one() {}

  @OnScheduledJob('n'.repeat(100))
  other() {}
}

it.each([
  ['a job that comes alone', [Work], 'runs (\\d+) commands inside scripts this way'],
  ['and beside names that are long', [Work, LongNames], 'this way, (\\d+) where the names of a crew are longer'],
])('%s is three calls, of as many commands as docs/redis-design.md says', async (_, providers, printedAs) => {
  const server = await startOwnServer();
  cleanups.push(() => server.stop());
  const redis = new Redis(server.url);
  cleanups.push(() => redis.disconnect());
  // So that no turn lists its session meanwhile: such a turn is whole.
  const queues = { default: { leaseMs: '1h', maxSleepMs: '10m' } } as const;
  const { producer, prefix } = await startApp(providers, { connection: server.url, queues });
  const jobsEnded = async () => Number(await redis.hget(`${prefix}:{default}:stats`, 'completed'));
  const run = async (before: number) => {
    await producer.schedule('work', null);
    await until('it is settled', async () => (await jobsEnded()) === before + 1);
  };
  await run(0);
  await run(1);
  const scripts = await commandsOfScripts(redis, () => run(2));
  expect(scripts).toHaveLength(3);
  const printed = readFileSync('docs/redis-design.md', 'utf8').match(new RegExp(printedAs))![1];
  expect(scripts.flat()).toHaveLength(Number(printed));
});
