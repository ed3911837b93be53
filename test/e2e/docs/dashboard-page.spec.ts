import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DashboardProcess } from '../../support/dashboard-process.js';
import { newPrefix, type QueueApp, startApp, stopApps } from '../../support/queue-app.js';

let dashboard: DashboardProcess;
let locked: DashboardProcess;
let app: QueueApp;
const as = (user: string) => ({ authorization: `Basic ${Buffer.from(user).toString('base64')}` });
const OPERATOR = as('operator:right');

beforeAll(async () => {
  app = await startApp([], { prefix: newPrefix(), role: 'producer' });
  [dashboard, locked] = await Promise.all([
    DashboardProcess.start(app.prefix, 'right'),
    DashboardProcess.start(app.prefix),
  ]);
});

afterAll(async () => {
  await Promise.all([dashboard?.stop(), locked?.stop(), stopApps()]);
});

const ask = (path: string, headers: Record<string, string> = OPERATOR, method = 'GET') =>
  fetch(`${dashboard.url}${path}`, { method, headers });

it('the module of docs/dashboard.md mounts a board that shows and changes its queues', async () => {
  const page = await ask('/queues');
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<base href="/queues/"')]);
  const job = await app.producer.schedule('report.make', null, { queue: 'default', delay: '1h' });
  const { queues } = (await (await ask('/queues/api/queues')).json()) as { queues: { name: string; counts: object }[] };
  expect(queues.map(({ name }) => name)).toEqual(['default', 'mail']);
  expect(queues[0]!.counts).toMatchObject({ delayed: 1 });
  expect((await ask(`/queues/api/queues/default/${job.id}/promote`, OPERATOR, 'PUT')).status).toBe(204);
  expect(await app.inspector.counts()).toMatchObject({ scheduled: 0, due: 1 });
});

it.each([
  ['no password', {}],
  ['a wrong password', as('operator:wrong')],
  ['another name', as('root:right')],
])('nobody comes in with %s, neither to the page nor to its API', async (_, headers) => {
  for (const path of [
    '/queues',
    '/queues/',
    '/queues/api/queues',
    '/queues/queue/mail',
    '/queues/static/favicon.ico',
  ]) {
    const { status } = await ask(path, headers);
    expect([path, status]).toEqual([path, 401]);
  }
  expect((await ask('/queues/api/queues/mail/pause', headers, 'PUT')).status).toBe(401);
  expect(await app.inspector.isPaused({ queue: 'mail' })).toBe(false);
});

it.each(['operator:', 'operator:undefined'])('nobody comes in where no password is set, with %s', async (user) => {
  expect((await fetch(`${locked.url}/queues/`, { headers: as(user) })).status).toBe(401);
});
