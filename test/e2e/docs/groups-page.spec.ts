import { afterEach, expect, it } from '@jest/globals';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { Crm, CrmCalls, pushContact } from './groups/crm-calls.js';
import { queues as forOrders, Ledger, type OrderEvent, OrderEvents, orderEvent } from './groups/order-events.js';
import { queues as forReports, Reports } from './groups/reports.js';

afterEach(stopApps);

it('a report of another tenant is made beside a backlog, and an upgraded one has more turns', async () => {
  const queue = 'reports';
  // One at a time, so that the order can be seen.
  const queues = { [queue]: { ...forReports[queue], concurrency: 1 } };
  const { inspector, get } = await startApp([Reports], { queues });
  await inspector.pause({ queue });
  const reports = get(Reports);
  const of = (tenant: string, count: number) =>
    Array.from({ length: count }, (_, i) => ({ tenant, month: `${i + 1}` }));
  await reports.order(of('large', 20));
  await reports.order(of('small', 1));
  await reports.upgrade('upgraded');
  await reports.order(of('upgraded', 6));
  expect(await inspector.groups({ queue })).toMatchObject([
    { group: 'large', waiting: 20, due: 20, active: 0, weight: 1, heldBy: null },
    { group: 'upgraded', waiting: 6, weight: 3, concurrency: 10 },
    { group: 'small', waiting: 1 },
  ]);
  await inspector.resume({ queue });
  await until('all are made', () => reports.made.length === 27);
  expect(reports.made.indexOf('small 1')).toBeLessThan(3);
  // Eight starts are two of the large tenant and six of the upgraded one, beside that of the small one.
  const first = reports.made.slice(0, 9).filter((made) => made.startsWith('upgraded'));
  expect(first.length).toBeGreaterThanOrEqual(5);
});

it('what has happened to an order is written in order, although the ledger is away for a moment', async () => {
  const written: OrderEvent[] = [];
  let calls = 0;
  const ledger: Ledger = {
    write: async (event) => {
      if (++calls <= 2) throw new Error('The ledger is away');
      written.push(event);
    },
  };
  const { producer } = await startApp([OrderEvents, { provide: Ledger, useValue: ledger }], { queues: forOrders });
  const events = (['placed', 'paid', 'sent'] as const).map((what) => ({ order: 'A-1', what }));
  for (const event of events) await producer.schedule(orderEvent, event);
  await until('all are written', () => written.length === 3);
  expect(written).toEqual(events);
});

it('a 429 holds the account that it is about, and no other', async () => {
  const pushed: string[] = [];
  const crm: Crm = {
    push: async (account, contact) => {
      pushed.push(`${account} ${contact}`);
      return account === 'busy'
        ? new Response(null, { status: 429, headers: { 'retry-after': '120' } })
        : new Response();
    },
  };
  const { producer, inspector } = await startApp([CrmCalls, { provide: Crm, useValue: crm }]);
  const { id } = await producer.schedule(pushContact, { account: 'busy', contact: 'ada' });
  const group = await until('the group is held', async () => {
    const found = await inspector.group('busy', { queue: 'crm' });
    return found.waiting === 1 && found.isPaused && found;
  });
  expect(group).toMatchObject({ waiting: 1, due: 0, active: 0, heldBy: 'paused' });
  expect(await inspector.job({ id, queue: 'crm' })).toMatchObject({ state: 'scheduled', attempts: 0, group: 'busy' });
  const waits = await producer.schedule(pushContact, { account: 'busy', contact: 'bob' });
  await producer.schedule(pushContact, { account: 'other', contact: 'eve' });
  await until('the other account is served', () => pushed.includes('other eve'));
  expect(pushed).toEqual(['busy ada', 'other eve']);
  expect(await inspector.explain(waits)).toMatchObject({ code: 'group-paused' });
});
