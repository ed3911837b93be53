import { afterEach, expect, it } from '@jest/globals';
import { startApp, stopApps } from '../../support/queue-app.js';
import { Maintenance } from './operations/maintenance.js';

afterEach(stopApps);

it('the blackouts of docs/operations.md are set, and told as they are', async () => {
  const { get, inspector } = await startApp([Maintenance]);
  await get(Maintenance).plan();
  expect(await inspector.blackouts({ queue: 'orders' })).toEqual([
    { cron: '0 22 * * *', durationMs: 8 * 3_600_000, timeZone: 'Europe/Paris' },
    { from: new Date('2032-05-08T16:00:00Z'), to: new Date('2032-05-09T04:00:00Z') },
  ]);
  expect(await inspector.blackouts()).toEqual([]);
});
