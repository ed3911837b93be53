import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { RedisScheduledQueueModuleOptions } from '../../../lib/index.js';
import { LogLines } from '../../support/log-lines.js';
import { newPrefix, stopApps } from '../../support/queue-app.js';
import { type Build, startBuild } from '../../support/recurring-apps.js';
import { until } from '../../support/wait.js';

const KEPT = { cron: '0 3 * * *', recurrenceId: 'kept' };
const DROPPED = { cron: '0 4 * * *', recurrenceId: 'dropped' };

let options: RedisScheduledQueueModuleOptions;
let log: LogLines;

beforeEach(() => {
  options = { prefix: newPrefix(), app: 'shop', orphanAfterMs: 1_500 };
  log = new LogLines();
});
afterEach(stopApps);

async function armed({ app }: Build): Promise<string[]> {
  return (await app.inspector.list('scheduled')).map(({ id }) => id.split('@')[0]!).sort();
}

/** A build that declares both has run, and one that declares the first alone has taken its place. */
async function deployed(more: RedisScheduledQueueModuleOptions = {}): Promise<Build> {
  const old = await startBuild('old', [KEPT, DROPPED], options);
  await until('both are armed', async () => (await armed(old)).length === 2);
  const next = await startBuild('new', KEPT, { ...options, ...more }, log);
  await old.app.app.close();
  return next;
}

const ORPHAN = `warn No process of app 'shop' has declared this recurrence of queue 'default' for 1500 ms: 'dropped'`;

it('a recurrence that no live process declares any more is named once, in one line, and goes on', async () => {
  const next = await deployed();
  const other = await startBuild('new', KEPT, options, log);
  await until('the orphan is told', () => log.lines.length > 0);
  // Both go on declaring, each every 300 ms.
  const toldAt = performance.now();
  await until('both have declared several times more', () => performance.now() > toldAt + 1_000);
  expect(log.lines).toEqual([
    `${ORPHAN}. It goes on. Set orphanedRecurrences: 'remove' to delete such recurrences, or declare it again.`,
  ]);
  expect(await armed(next)).toEqual(['dropped', 'kept']);
  expect(await armed(other)).toEqual(['dropped', 'kept']);
});

it('it is removed where the module says so, with its armed occurrence', async () => {
  const next = await deployed({ orphanedRecurrences: 'remove' });
  await until('the orphan is gone', async () => (await armed(next)).join() === 'kept');
  await until('that is told', () => log.lines.length > 0);
  expect(log.lines).toEqual([`${ORPHAN}: removed.`]);
});

it('one that was told before is removed where a later build says so', async () => {
  await deployed();
  await until('the orphan is told', () => log.lines.length > 0);
  const remover = await startBuild('remover', KEPT, { ...options, orphanedRecurrences: 'remove' });
  await until('the orphan is gone', async () => (await armed(remover)).join() === 'kept');
});

it('what another app of the queue declares is no orphan of this one', async () => {
  const other = await startBuild('other', DROPPED, { ...options, app: 'office' });
  await until('that of the other is armed', async () => (await armed(other)).length === 1);
  await other.app.app.close();
  const mine = await startBuild('mine', KEPT, { ...options, orphanedRecurrences: 'remove' }, log);
  const startedAt = performance.now();
  await until('it would be one by now', () => performance.now() > startedAt + 3_500);
  expect(await armed(mine)).toEqual(['dropped', 'kept']);
  expect(log.lines).toEqual([]);
});

it('after an outage of all processes the first one to start removes nothing that the next one declares', async () => {
  const both = await startBuild('old', [KEPT, DROPPED], options);
  await until('both are armed', async () => (await armed(both)).length === 2);
  await both.app.app.close();
  const downSince = performance.now();
  await until('all have been down for long', () => performance.now() > downSince + 2_000);
  const first = await startBuild('first', KEPT, { ...options, orphanedRecurrences: 'remove' }, log);
  const firstSince = performance.now();
  await until('the first has declared', () => performance.now() > firstSince + 700);
  await startBuild('second', DROPPED, options);
  await until('the first would remove it by now', () => performance.now() > firstSince + 3_000);
  expect(await armed(first)).toEqual(['dropped', 'kept']);
  expect(log.lines).toEqual([]);
});
