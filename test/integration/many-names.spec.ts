import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type RedisServer, startOwnServer } from '../support/redis-server.js';
import { commandsOfScripts } from '../support/script-commands.js';
import { newJob, TestStore } from '../support/store.js';

const NAMES = 3_500;

let server: RedisServer;
let test: TestStore;

beforeEach(async () => {
  server = await startOwnServer();
  test = new TestStore({}, server.url);
  const due = { at: Date.now() - 60_000 };
  await test.scheduleAll(Array.from({ length: NAMES }, (_, i) => newJob({ name: `name-${i}`, due })));
});

afterEach(async () => {
  await test.close();
  await server.stop();
});

/** How many heads of lanes Redis steps over to read those that are asked for: these, and with an offset those before them as well. */
const stepsOf = ([name, key, from, to, ...more]: string[]) => {
  if (name !== 'zrange' || !key!.includes(':heads:')) return 0;
  const limit = more.indexOf('LIMIT');
  return limit >= 0 ? Number(more[limit + 1]) + Number(more[limit + 2]) : Number(to) - Number(from) + 1;
};

it.each<[what: string, ask: () => Promise<unknown>]>([
  ['the list of scheduled jobs', () => test.view.list('scheduled', 0, 100)],
  ['the counts', () => test.view.counts()],
  ['a forecast', () => test.view.forecast([0, 4e12])],
])('where many names have due jobs, %s comes to each name once', async (_, ask) => {
  const scripts = await commandsOfScripts(test.redis, ask);
  const steps = scripts.flat().reduce((sum, command) => sum + stepsOf(command), 0);
  expect(steps).toBeGreaterThanOrEqual(NAMES);
  expect(steps).toBeLessThan(1.2 * NAMES);
});
