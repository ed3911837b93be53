import { afterEach, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { ScheduledQueueTester, ScheduledQueueTestingModule } from 'nestjs-redis-scheduled-queue/testing';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { Contacts, Crm } from './sets-and-chains/contacts.js';
import { Imports, Shop } from './sets-and-chains/imports.js';
import { Bank, Orders } from './sets-and-chains/orders.js';
import { Releases, Scanner } from './sets-and-chains/releases.js';
import { Converter, convert, Videos } from './sets-and-chains/videos.js';

afterEach(stopApps);

/** A promise that is kept from outside. */
function gate(): { passed: Promise<void>; open(): void } {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

it('an import tells how far it is, and mails its counts once', async () => {
  const mails: string[] = [];
  const { passed, open } = gate();
  const rows = [...Array.from({ length: 30 }, (_, i) => `row ${i}`), '', ''];
  const shop: Shop = {
    rowsOf: async () => rows,
    save: async (row) => (row === 'row 0' ? passed : undefined),
    mail: async (to, text) => void mails.push(`${to}: ${text}`),
  };
  const { get } = await startApp([Imports, { provide: Shop, useValue: shop }]);
  const imports = get(Imports);
  const set = await imports.start({ file: 'june.csv', to: 'ada@example.com' });
  const nearly = { state: 'closed', done: 31, of: 32, dead: 0 };
  await until('all but one are done', async () => (await imports.progress(set))?.done === nearly.done);
  expect(await imports.progress(set)).toEqual(nearly);
  expect(mails).toEqual([]);
  open();
  await until('it has mailed', () => mails.length > 0);
  expect(await imports.progress(set)).toEqual({ ...nearly, state: 'done', done: 32 });
  expect(mails).toEqual(['ada@example.com: june.csv: 30 of 32 rows, 0 failed']);
});

it('an import whose first attempt died after half of its rows has each row once', async () => {
  const saved: string[] = [];
  const mails: string[] = [];
  const rows = Array.from({ length: 10 }, (_, i) => `row ${i}`);
  let attempts = 0;
  const shop: Shop = {
    rowsOf: async () => rows,
    save: async (row) => void saved.push(row),
    mail: async (_, text) => void mails.push(text),
  };
  const jobs = { 'import.begin': { backoff: { type: 'fixed', delayMs: 50 } as const } };
  const { get, producer } = await startApp([Imports, { provide: Shop, useValue: shop }], { jobs });
  const scheduleMany = producer.scheduleMany.bind(producer);
  producer.scheduleMany = (async (items: never[]) => {
    if (++attempts > 1) return await scheduleMany(items);
    await scheduleMany(items.slice(0, 5));
    throw new Error('It dies');
  }) as typeof producer.scheduleMany;
  await get(Imports).start({ file: 'june.csv', to: 'ada@example.com' });
  await until('it has mailed', () => mails.length > 0);
  expect(saved.sort()).toEqual(rows);
  expect(mails).toEqual(['june.csv: 10 of 10 rows, 0 failed']);
});

it('all pages are fetched before the set is done, however many there are', async () => {
  const crm: Crm = {
    page: async (cursor) => {
      const number = cursor === 'first' ? 1 : Number(cursor);
      return { contacts: [`contact ${number}`], ...(number < 7 && { next: `${number + 1}` }) };
    },
  };
  const { get } = await startApp([Contacts, { provide: Crm, useValue: crm }]);
  const contacts = get(Contacts);
  await contacts.fetchAll('2027-01-01');
  await until('they are fetched', () => contacts.pages > 0);
  expect(contacts.pages).toBe(7);
  expect(contacts.found).toEqual([1, 2, 3, 4, 5, 6, 7].map((number) => `contact ${number}`));
});

it('a dead page that is replayed once its set is done can add no member', async () => {
  let isMended = false;
  const crm: Crm = {
    page: async () => {
      if (!isMended) throw new Error('the service is away');
      return { contacts: [], next: '2' };
    },
  };
  const jobs = { 'contacts.page': { maxAttempts: 1 } };
  const { get, inspector } = await startApp([Contacts, { provide: Crm, useValue: crm }], { jobs });
  await get(Contacts).fetchAll('2027-01-01');
  await until('it is done', () => get(Contacts).pages === 1);
  const { jobs: dead } = await inspector.find({ set: 'contacts/2027-01-01', states: ['dead'] });
  isMended = true;
  expect(await inspector.replayDead(dead[0]!)).toBe(1);
  const again = await until('it is dead again', async () => {
    const job = await inspector.job(dead[0]!);
    return job?.state === 'dead' && job.failures.length === 2 && job;
  });
  expect(again.failures[1]).toMatchObject({ name: 'InvalidScheduleError', code: 'INVALID_SCHEDULE' });
  expect(await inspector.set('contacts/2027-01-01')).toMatchObject({ state: 'done', total: 1, dead: 1 });
});

it('a release is audited, compressed and published, and nothing follows one with a virus', async () => {
  const scanner: Scanner = { scan: async (file) => (file === 'bad.tar' ? 'Eicar' : undefined) };
  const { get, inspector } = await startApp([Releases, { provide: Scanner, useValue: scanner }]);
  const releases = get(Releases);
  await releases.release('bad.tar');
  await releases.release('good.tar');
  await until('one is published', () => releases.published.length > 0);
  expect(releases.published).toEqual(['good.tar.zst in stable']);
  await until('nothing is left', async () => (await inspector.stats()).completed === 3);
  expect(await inspector.stats()).toMatchObject({ scheduled: 4, completed: 3, discarded: 1 });
});

it('the owner of a video is told once, from another queue, though the video was converted twice', async () => {
  const schedules: string[] = [];
  const converter: Converter = { convert: async () => {} };
  const { get, producer, inspector } = await startApp([Videos, { provide: Converter, useValue: converter }]);
  const schedule = producer.schedule.bind(producer) as (...args: unknown[]) => Promise<{ id: string; status: string }>;
  const { id } = await schedule(convert, { file: 'a.mov', owner: 'ada' }, { id: 'a' });
  // The attempt fails after it has scheduled the mail.
  producer.schedule = (async (...args: unknown[]) => {
    const answer = await schedule(...args);
    schedules.push(answer.status);
    if (schedules.length === 1) throw new Error('It dies');
    return answer;
  }) as typeof producer.schedule;
  await until('both attempts have scheduled', () => schedules.length === 2);
  await until('it is told', async () => (await inspector.stats({ queue: 'mails' })).completed === 1);
  expect(id).toBe('a');
  expect(schedules[0]).toBe('created');
  expect(['waiting', 'active', 'ended']).toContain(schedules[1]);
  expect(get(Videos).told).toEqual(['ada: a.mov']);
});

it('orders are charged and packed, and the report counts every step', async () => {
  const bank: Bank = { charge: async (order) => order !== 2 };
  const { get } = await startApp([Orders, { provide: Bank, useValue: bank }]);
  const orders = get(Orders);
  await orders.workOff('2027-01-01', [1, 2, 3]);
  await until('it is reported', () => orders.reports.length > 0);
  expect(orders.packed.sort()).toEqual([1, 3]);
  const counts = { total: 5, completed: 4, dead: 0, discarded: 1, cancelled: 0 };
  expect(orders.reports).toEqual([{ id: 'orders/2027-01-01', ...counts }]);
});

it('the test kit runs completion jobs and steps, and shows those that wait', async () => {
  const app = await Test.createTestingModule({
    imports: [ScheduledQueueTestingModule.forRoot({ now: '2027-01-01T09:00:00Z' })],
    providers: [Orders, { provide: Bank, useValue: { charge: async () => true } }],
  }).compile();
  await app.init();
  const tester = app.get(ScheduledQueueTester);
  await app.get(Orders).workOff('2027-01-01', [1, 2]);
  expect(tester.scheduled().map(({ name }) => name)).toEqual(['order.charge', 'order.charge']);
  await tester.drain();
  expect(tester.runs().map(({ name }) => name)).toEqual([
    'order.charge',
    'order.charge',
    'order.pack',
    'order.pack',
    'orders.report',
  ]);
  expect(app.get(Orders).reports).toMatchObject([{ total: 4, completed: 4 }]);
  await app.close();
});

it('a completion job has a delay and a chain of its own', async () => {
  const { producer, consumer, inspector } = await startApp();
  const done = { job: 'first', payload: 1, options: { delay: '1h', then: { job: 'second', payload: 2 } } } as const;
  await producer.openSet('s', { done });
  await producer.closeSet('s');
  const [first] = await inspector.list('scheduled');
  expect(first).toMatchObject({ name: 'first', setDone: { id: 's', total: 0 }, chain: { of: 2, next: ['second'] } });
  expect(first!.dueAt!.getTime() - Date.now()).toBeGreaterThan(3_500_000);
  await producer.runNow(first!);
  const [popped] = await consumer.pop();
  await popped!.complete('r');
  expect(await consumer.pop()).toMatchObject([{ name: 'second', payload: 2, chain: { step: 2, result: 'r' } }]);
});
