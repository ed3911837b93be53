import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Redis } from 'ioredis';
import { defineScheduledJob, relayKey, ScheduledQueueConsumer } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { toRecord } from '../../support/relayed.js';
import { until } from '../../support/wait.js';

@Injectable()
class Relays implements OnApplicationBootstrap {
  constructor(private readonly consumer: ScheduledQueueConsumer) {}

  onApplicationBootstrap() {
    this.consumer.relay({ names: ['mail.send'], to: { stream: relayKey('default', 'mail') } });
    this.consumer.relay({ names: ['row.export'], to: { list: relayKey('default', 'rows') } });
  }
}

const page = readFileSync('docs/relay.md', 'utf8');
/** The commands of both blocks, in their order. */
const commands = [...page.matchAll(/^```redis\n(.*?)^```$/gms)].flatMap(([, block]) => block!.trim().split('\n'));

let server: OwnRedisServer;
let redis: Redis;

beforeEach(async () => {
  server = await startOwnServer();
  redis = new Redis(server.url);
});

afterEach(async () => {
  await stopApps();
  redis.disconnect();
  await server.stop();
});

/** Sends the next command of the page, its placeholders filled in. */
function next(filled: Record<string, string> = {}): Promise<unknown> {
  const [command, ...args] = commands.shift()!.split(' ');
  return redis.call(command!, ...args.map((arg) => filled[arg] ?? arg));
}

it('the relays that docs/relay.md shows are these', () => {
  const [shown] = readFileSync(new URL(import.meta.url), 'utf8').match(/^@Injectable\(\)\n.*?^\}\n/ms)!;
  expect(page).toContain(shown);
});

it('the commands that docs/relay.md shows read what it describes, in the form that it describes', async () => {
  const { producer } = await startApp([Relays], { connection: server.url });
  await next();
  await producer.schedule('mail.send', { to: 'a' }, { id: 'mail-7', tags: ['a'], headers: { b: 'c' } });
  const [, [[entry, fields]]] = (await next()) as [string, [[string, string[]]]];
  expect(toRecord(fields)).toEqual({
    id: 'mail-7',
    name: 'mail.send',
    queue: 'default',
    dueAt: expect.stringMatching(/^\d+$/),
    createdAt: expect.stringMatching(/^\d+$/),
    attempt: '1',
    priority: '5',
    tags: '["a"]',
    headers: '{"b":"c"}',
    payload: '{"to":"a"}',
  });
  expect(await next({ '<entry>': entry })).toBe(1);
  expect(await next({ '<entry>': entry })).toBe(1);

  const rows = [7, 8].map((row) => ({ job: 'row.export', payload: { row }, options: { id: `row-${row}` } }));
  await producer.scheduleMany(rows);
  const element = (await next()) as string;
  const shown = page.match(/^```json\n(.*?)\n```$/ms)![1]!;
  // All but the times of the moment, to the byte.
  expect(element.replaceAll(/\d{13}/g, '0')).toBe(shown.replaceAll(/\d{13}/g, '0'));
  expect(await next({ '<element>': element })).toBe(1);
  const last = await until('the other is there', async () => {
    if ((await redis.llen(relayKey('default', 'rows'))) === 1) return (await next()) as string;
  });
  expect(JSON.parse(last)).toMatchObject({ id: 'row-8', payload: { row: 8 } });
  expect(commands).toEqual([]);
});

it('a list that is read as docs/relay.md shows tells what a codec made from JSON', async () => {
  const codec = { id: 'own', encode: () => Buffer.from([0xff, 0x0a, 0x00]), decode: () => 0 };
  const { producer } = await startApp([Relays], { connection: server.url, codec });
  await producer.schedule('row.export', 1);
  const key = relayKey('default', 'rows');
  const element = await until('it is there', () => redis.lpopBuffer(key));
  const end = element.indexOf('\n');
  const [, shown] = page.match(/^(\{.*"codec".*\})\n<the bytes/m)!;
  const head = JSON.parse(element.toString('utf8', 0, end));
  expect(Object.keys(head)).toEqual(Object.keys(JSON.parse(shown!)));
  expect(element.subarray(end + 1)).toEqual(Buffer.from([0xff, 0x0a, 0x00]));
});

it('docs/relay.md names the fields in the order in which they come', async () => {
  const cells = [
    ...page
      .split('## The format')[1]!
      .split('A stream has')[0]!
      .matchAll(/^\| (`.*?) \| /gm),
  ];
  const named = cells.flatMap(([, cell]) => [...cell!.matchAll(/`(\w+)`/g)].map(([, field]) => field!));
  const codec = { id: 'own', encode: String, decode: Number };
  const { producer } = await startApp([Relays], { connection: server.url, codec });
  const mail = defineScheduledJob<number>('mail.send', { version: 2 });
  await producer.schedule(mail, 1, { group: 'g', tags: ['a'], headers: { b: 'c' } });
  const [[, fields]] = await until('it is there', async () => {
    const found = await redis.xrange(relayKey('default', 'mail'), '-', '+');
    return found.length > 0 && (found as [[string, string[]]]);
  });
  expect(named).toEqual(Object.keys(toRecord(fields)));
});
