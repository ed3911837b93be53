import { afterEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { stopApps } from '../../support/queue-app.js';
import { instantsOf, startBuild } from '../../support/recurring-apps.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { until } from '../../support/wait.js';

/** Beyond this a recurrence would not be back in time. */
const BACK_WITHIN_MS = 10_000;

let server: OwnRedisServer | undefined;
let admin: Redis | undefined;

afterEach(async () => {
  await stopApps();
  admin?.disconnect();
  await server?.stop();
});

it('after FLUSHALL under a running application what it declares is back within 10 s, and runs', async () => {
  server = await startOwnServer();
  admin = new Redis(server.url);
  const { app, runs } = await startBuild(
    'only',
    [
      { everyMs: 200, recurrenceId: 'often' },
      { cron: '0 3 * * *', recurrenceId: 'night' },
    ],
    { connection: server.url },
  );
  await until('it runs', () => runs.length >= 2);
  await admin.flushall();
  const emptiedAt = Date.now();
  await until(
    'both are back',
    async () => {
      const armed = (await app.inspector.list('scheduled')).map(({ id }) => id.split('@')[0]);
      return armed.includes('night') && instantsOf(runs, 'often').at(-1)! > emptiedAt + 400;
    },
    BACK_WITHIN_MS,
  );
  const instants = instantsOf(runs, 'often');
  expect(new Set(instants).size).toBe(instants.length);
});
