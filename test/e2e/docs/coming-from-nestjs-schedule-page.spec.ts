import { afterEach, expect, it } from '@jest/globals';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { Reports } from './coming-from-nestjs-schedule/cron.js';
import { Tasks } from './coming-from-nestjs-schedule/interval.js';

afterEach(stopApps);

it('a job that was a @Cron is armed for the next midnight in Paris, and one that was a @Timeout runs', async () => {
  const { inspector, producer, get } = await startApp([Reports]);
  const report = await until('the report is armed', async () => (await inspector.list('scheduled'))[0]);
  expect(report.dueAt.toLocaleTimeString('en-GB', { timeZone: 'Europe/Paris' })).toBe('00:00:00');
  const ref = await get(Reports).welcome('7');
  expect(ref).toMatchObject({ id: 'users.welcome/7', dueAt: expect.any(Date) });
  expect(await producer.runNow(ref)).toBe(true);
  await until('it has run', () => get(Reports).built.includes('7'));
});

it('a job that was an @Interval is armed for a round time', async () => {
  const { inspector, producer, get } = await startApp([Tasks]);
  const sweep = await until('the sweep is armed', async () => (await inspector.list('scheduled'))[0]);
  expect(sweep.dueAt.getTime() % 600_000).toBe(0);
  await producer.runNow(sweep);
  await until('it has run', () => get(Tasks).runs === 1);
});
