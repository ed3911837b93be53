import { afterEach, expect, it } from '@jest/globals';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { queueOf, Reminders } from './scaling/reminders.js';

afterEach(stopApps);

it('the jobs of tenants lie in many queues, those of one tenant in one, and all run', async () => {
  const { get, inspector } = await startApp([Reminders]);
  const reminders = get(Reminders);
  const tenants = Array.from({ length: 60 }, (_, i) => `tenant-${i}`);
  const queues = new Set(tenants.map(queueOf));
  expect(queues.size).toBeGreaterThan(20);
  await Promise.all(tenants.map((tenant) => reminders.schedule(tenant, 'later', new Date(Date.now() + 3_600_000))));
  const counts = await Promise.all([...queues].map((queue) => inspector.counts({ queue })));
  expect(counts.reduce((sum, { scheduled }) => sum + scheduled, 0)).toBe(tenants.length);
  expect(Math.min(...counts.map(({ scheduled }) => scheduled))).toBeGreaterThan(0);
  await Promise.all(tenants.map((tenant) => reminders.schedule(tenant, 'now', new Date())));
  await until('all have run', () => reminders.sent.length === tenants.length);
  expect(reminders.sent.sort()).toEqual(tenants.map((tenant) => `now to ${tenant}`).sort());
});
