import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { EVENT_TYPES } from '../../../lib/core/job/events.js';
import {
  JobOutcome,
  OnScheduledJob,
  RedisScheduledQueueModule,
  ScheduledJob,
  type ScheduledQueueEvent,
  ScheduledQueueProducer,
  type ScheduledQueueStreamedEvent,
} from '../../../lib/index.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { ActivityController } from './events-page/activity.controller.js';
import { Alerts, Pager } from './events-page/alerts.js';
import { Archive, Archiver } from './events-page/archiver.js';
import { Audit, AuditTable } from './events-page/audit.js';

let free = () => {};

class Handlers {
  @OnScheduledJob('fail', { maxAttempts: 1 })
  fail(_: unknown, job: ScheduledJob): void {
    job.progress({ done: 1 });
    throw new Error('no');
  }

  @OnScheduledJob('snooze')
  snooze(): JobOutcome {
    return JobOutcome.snooze('1h');
  }

  @OnScheduledJob('discard')
  discard(): JobOutcome {
    return JobOutcome.discard('no longer needed');
  }

  @OnScheduledJob('work')
  work(): void {}

  @OnScheduledJob('wait')
  wait(): Promise<void> {
    return new Promise((resolve) => {
      free = resolve;
    });
  }
}

afterEach(async () => {
  free();
  await stopApps();
});

/** The fields of the page's table, by type; `?` marks those that some events of the type lack. */
function documented(): Map<string, string[]> {
  const section = readFileSync('docs/events.md', 'utf8').split('\n## The events\n')[1]!.split('\n## ')[0]!;
  return new Map(
    [...section.matchAll(/^\| `(\w+)` \|([^|]*)\|/gm)].map(([, type, fields]) => [
      type!,
      [...fields!.matchAll(/`(\w+\??)`/g)].map(([, field]) => field!),
    ]),
  );
}

it('docs/events.md lists every type, with exactly the fields that its events have when they happen', async () => {
  const { producer, events, prefix } = await startApp([Handlers], {
    queues: { default: { keepDead: 1, leaseMs: 1_000 } },
  });
  const seen: ScheduledQueueEvent[] = [];
  events.events$.subscribe((event) => seen.push(event));
  const saw = (type: string, id: string) =>
    until(`${type} of ${id}`, () => seen.some((event) => event.type === type && event.id === id));

  await producer.cancel(await producer.schedule('work', null, { id: 'cancelled', delay: '1h' }));
  for (const name of ['work', 'snooze', 'discard']) await producer.dispatch(name, null, { id: name });
  for (const id of ['dead', 'dead too']) {
    await producer.dispatch('fail', null, { id });
    await saw('dead', id);
  }
  const at = Date.now() - 60_000;
  await producer.schedule('work', null, { id: 'late', at, maxLatenessMs: 1, onLate: 'discard' });
  await saw('discarded', 'late');
  const redis = new Redis(redisUrl());
  // Their process died: nobody renews the lease of a job that another worker holds.
  const { dueAt } = await producer.dispatch('wait', null, { id: 'lost' });
  await saw('started', 'lost');
  await redis.hset(`${prefix}:{default}:claims`, 'lost', `99 2 1 ${dueAt!.getTime()} other 5::wait`);
  await saw('leaseLost', 'lost');
  free();
  await saw('recovered', 'lost');
  redis.disconnect();
  await saw('completed', 'work');

  expect([...new Set(seen.map(({ type }) => type))].sort()).toEqual([...EVENT_TYPES].sort());
  const page = documented();
  expect([...page.keys()].sort()).toEqual([...EVENT_TYPES].sort());
  for (const event of seen) {
    const fields = page.get(event.type)!;
    const always = fields.filter((field) => !field.endsWith('?'));
    const { type, queue, id, ...own } = event;
    expect({ type, queue: typeof queue, id: typeof id }).toEqual({ type, queue: 'string', id: 'string' });
    expect({ type, fields: Object.keys(own) }).toEqual({ type, fields: expect.arrayContaining(always) });
    const unknown = Object.keys(own).filter((field) => !fields.includes(field) && !fields.includes(`${field}?`));
    expect({ type, unknown }).toEqual({ type, unknown: [] });
  }
});

it('the alerts of docs/events.md page for a dead job', async () => {
  const pages: string[] = [];
  const pager: Pager = { page: async (message) => void pages.push(message) };
  const { producer } = await startApp([Handlers, Alerts, { provide: Pager, useValue: pager }]);
  await producer.dispatch('fail', null, { id: 'f' });
  await until('it is paged', () => pages.length === 1);
  expect(pages).toEqual(['Job fail (f) of default is dead: attempts-exhausted']);
});

it('the audit of docs/events.md inserts one batch after the other, and outlives an insert that fails', async () => {
  const inserted: string[][] = [];
  let failing = true;
  let refused = 0;
  const table: AuditTable = {
    insert: async (events) => {
      if (failing) {
        refused += events.length;
        throw new Error('The database is gone');
      }
      inserted.push(events.map(({ id }) => id));
    },
  };
  const { app, producer, inspector } = await startApp([Handlers, Audit, { provide: AuditTable, useValue: table }]);
  const runAll = (ids: number[]) =>
    producer.scheduleMany(ids.map((i) => ({ job: 'work', payload: null, options: { id: `w${i}` } })));
  await runAll(Array.from({ length: 500 }, (_, i) => i));
  await until('no insert has worked', () => refused === 500);
  failing = false;
  await runAll([500, 501]);
  await until('both have completed', async () => (await inspector.stats()).completed === 502);
  await app.close();
  await until('they are inserted', () => inserted.flat().length > 0);
  expect(inserted.flat().sort()).toEqual(['w500', 'w501']);
});

const MAIL = { queues: { mail: { streamEvents: { maxLength: 1_000 } } } };

it('the controller of docs/events.md sends events to a browser, from where it was when it connects again', async () => {
  const module = await Test.createTestingModule({
    imports: [RedisScheduledQueueModule.forRoot({ connection: redisUrl(), prefix: newPrefix(), ...MAIL })],
    controllers: [ActivityController],
  }).compile();
  const app = module.createNestApplication({ logger: false });
  await app.listen(0, '127.0.0.1');
  const url = `${await app.getUrl()}/activity/mail`;
  const tell = (id: string) =>
    app.get(ScheduledQueueProducer).schedule('work', null, { id, queue: 'mail', delay: '1h' });
  const connect = async (headers?: Record<string, string>) => {
    const response = await fetch(url, { headers });
    return { body: response.body!, texts: textsOf(response.body!) };
  };
  const first = await connect();
  let probes = 0;
  await until('it is sent', async () => {
    await tell(`probe-${probes++}`);
    return first.texts.all.includes('probe');
  });
  const [lastId] = [...first.texts.all.matchAll(/^id: (.*)$/gm)].map(([, id]) => id!);
  await tell('missed');
  const second = await connect({ 'last-event-id': lastId! });
  await until('it is sent', () => second.texts.all.includes('"missed"'));
  expect(second.texts.all).not.toContain('"probe-0"');
  const from = performance.now();
  // Nest waits for its connections, which end as the stream does.
  await app.close();
  expect(performance.now() - from).toBeLessThan(5_000);
});

/** What comes, as it grows. */
function textsOf(body: ReadableStream<Uint8Array>): { all: string } {
  const texts = { all: '' };
  void (async () => {
    for await (const chunk of body) texts.all += Buffer.from(chunk).toString();
  })().catch(() => {});
  return texts;
}

it('the archiver of docs/events.md saves each event once, over saves that fail and restarts', async () => {
  const saved: ScheduledQueueStreamedEvent[] = [];
  let failures = 2;
  const archive: Archive = {
    lastId: async () => saved.at(-1)?.eventId,
    save: async (events) => {
      if (failures-- > 0) throw new Error('The database is gone');
      saved.push(...events);
    },
  };
  const prefix = newPrefix();
  const producing = await startApp([], { ...MAIL, prefix, role: 'producer' });
  const ids = Array.from({ length: 1_200 }, (_, i) => `w${i}`);
  const schedule = (some: string[]) =>
    producing.producer.scheduleMany(
      some.map((id) => ({ job: 'work', payload: null, options: { id, queue: 'mail', delay: '1h' } })),
    );
  await schedule(ids.slice(0, 700));
  for (const [from, to] of [
    [0, 700],
    [700, 1_200],
  ] as const) {
    const archiving = await startApp([Archiver, { provide: Archive, useValue: archive }], { prefix, role: 'producer' });
    if (from > 0) await schedule(ids.slice(from, to));
    await until(`${to} are saved`, () => saved.length >= to);
    await archiving.app.close();
  }
  expect(saved.map((event) => 'id' in event && event.id)).toEqual(ids);
});
