import { afterEach, expect, it } from '@jest/globals';
import { Type } from 'class-transformer';
import { IsArray, IsDate, IsInt, ValidateNested } from 'class-validator';
import { defineScheduledJob, OnScheduledJob, PayloadTooLargeError, ScheduledJob } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

const MIB = 1024 * 1024;

class Line {
  @IsInt() amount!: number;
}
class Order {
  @IsDate()
  @Type(() => Date)
  orderedAt!: Date;

  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => Line)
  lines!: Line[];
}
const handleOrder = defineScheduledJob('order', { payload: Order });
const nothing = defineScheduledJob<void>('nothing');

class Handlers {
  readonly received: { payload: unknown; job: ScheduledJob }[] = [];

  @OnScheduledJob('echo')
  @OnScheduledJob(handleOrder)
  @OnScheduledJob(nothing)
  take(payload: unknown, job: ScheduledJob): void {
    this.received.push({ payload, job });
  }
}

afterEach(stopApps);

async function start() {
  const { producer, inspector, get } = await startApp([Handlers], { queues: { default: { keepCompleted: 100 } } });
  const { received } = get(Handlers);
  return {
    producer,
    inspector,
    received,
    next: () => until('the job is handled', () => received.shift()),
  };
}

const deep = Array.from({ length: 200 }).reduce<object>((inner) => ({ inner }), { end: true });

it.each<[string, unknown]>([
  ['nested objects', { a: { b: { c: [{ d: 1 }, [[2]]] } } }],
  ['200 levels', deep],
  ['empty objects and arrays, at every place', { o: {}, a: [], n: { o: {}, a: [[], {}] } }],
  ['an empty object', {}],
  ['an empty array', []],
  ['null', null],
  ['nested null', { a: null, b: [null] }],
  ['true', true],
  ['false', false],
  ['zero', 0],
  ['a fraction', 0.1],
  [
    'the largest safe integers',
    { max: Number.MAX_SAFE_INTEGER, min: Number.MIN_SAFE_INTEGER, all: [2 ** 53 - 1, 2 ** 53 - 2] },
  ],
  ['the largest and the smallest number', [Number.MAX_VALUE, Number.MIN_VALUE]],
  ['a string', 'plain'],
  ['an empty string', ''],
  ['a string that looks like JSON', '{"a":1}'],
  ['emoji, with joiners and flags', '👩‍👩‍👧‍👦 🏳️‍🌈 🎉'],
  ['scripts from right to left, with their marks', 'שלום \u202eabc\u202c مرحبا \u200f'],
  ['combining characters, as they were', ['e\u0301', '\u00e9']],
  ['lone surrogates', ['\ud83d', '\udc00', 'a\ud800b']],
  ['NUL and other control characters', 'a\u0000b\u0001\u001f\u007f\u0085'],
  ['line breaks and tabs', 'a\nb\r\nc\td\u2028e\u2029f'],
  ['quotes and backslashes', `"'\\ \\n \\u0000 %s {{x}}`],
  ['such characters in keys', { 'a\nb': 1, '\u0000': 2, '': 3, '🎉': 4, 'a.b': 5, '{x}': 6 }],
  ['an array of all kinds', [1, 'a', null, true, [], {}, { a: [1.5] }]],
  ['keys in their order', JSON.parse('{"z":1,"a":2,"m":3}')],
])('a payload arrives as it was sent: %s', async (_, payload) => {
  const { producer, inspector, next } = await start();
  const ref = await producer.schedule('echo', payload);
  const received = await next();
  expect(received.payload).toEqual(payload);
  expect(JSON.stringify(received.payload)).toBe(JSON.stringify(payload));
  expect(received.job.payload).toBe(received.payload);
  const kept = await until('the job is kept', () => inspector.job(ref));
  expect(kept.payload).toEqual(payload);
});

it('a job without a payload gets none', async () => {
  const { producer, next } = await start();
  await producer.schedule(nothing);
  await producer.schedule(nothing, undefined, { delay: 1 });
  expect((await next()).payload).toBeUndefined();
  expect((await next()).payload).toBeUndefined();
});

it('properties that are undefined are left out, and whatever has toJSON arrives as what that says', async () => {
  const { producer, next } = await start();
  await producer.schedule('echo', {
    gone: undefined,
    at: new Date(0),
    bytes: Buffer.from('hi'),
    url: new URL('http://x/'),
  });
  expect((await next()).payload).toStrictEqual({
    at: '1970-01-01T00:00:00.000Z',
    bytes: { type: 'Buffer', data: [104, 105] },
    url: 'http://x/',
  });
});

it('dates and nested classes of a payload class arrive as such', async () => {
  const { producer, next } = await start();
  await producer.schedule(handleOrder, { orderedAt: new Date('2027-01-01T09:00:00Z'), lines: [{ amount: 2 }] });
  const { payload } = await next();
  expect(payload).toBeInstanceOf(Order);
  expect((payload as Order).orderedAt).toEqual(new Date('2027-01-01T09:00:00Z'));
  expect((payload as Order).lines).toEqual([{ amount: 2 }]);
  expect((payload as Order).lines[0]).toBeInstanceOf(Line);
});

it('a payload of exactly 1 MiB arrives, and one byte more is refused', async () => {
  const { producer, inspector, next } = await start();
  const largest = 'x'.repeat(MIB - 2);
  await producer.schedule('echo', largest);
  expect((await next()).payload === largest).toBe(true);
  await expect(producer.schedule('echo', `${largest}x`)).rejects.toThrow(PayloadTooLargeError);
  await expect(producer.schedule('echo', `${largest}x`)).rejects.toMatchObject({ bytes: MIB + 1, maxBytes: MIB });
  expect(await inspector.stats()).toMatchObject({ scheduled: 1 });
});

it('counts the bytes of a payload rather than its characters', async () => {
  const { producer, next } = await start();
  const largest = `${'é'.repeat(MIB / 2 - 1)}`;
  await producer.schedule('echo', largest);
  expect((await next()).payload === largest).toBe(true);
  await expect(producer.schedule('echo', `${largest}é`)).rejects.toMatchObject({ bytes: MIB + 2 });
});

it('twenty payloads of 1 MiB that are due at once all arrive', async () => {
  const { producer, received } = await start();
  const sent = Array.from({ length: 20 }, (_, i) => String.fromCharCode(97 + i).repeat(MIB - 2));
  await producer.scheduleMany(sent.map((payload) => ({ job: 'echo', payload })));
  await until('all are handled', () => received.length === 20);
  const arrived = new Set(received.map(({ payload }) => payload));
  expect(sent.filter((payload) => !arrived.has(payload))).toHaveLength(0);
});

it(`headers arrive as they were sent, those of the call over those of the definition`, async () => {
  const traced = defineScheduledJob<number>('echo', { headers: { tenant: 'a', locale: 'de' } });
  const { producer, next } = await start();
  const headers = { tenant: 'b', '🎉': 'a\nb\u0000"', empty: '' };
  await producer.schedule(traced, 1, { headers });
  expect((await next()).job.headers).toEqual({ locale: 'de', ...headers });
  await producer.schedule(traced, 1);
  expect((await next()).job.headers).toEqual({ tenant: 'a', locale: 'de' });
  await producer.schedule('echo', 1);
  expect((await next()).job.headers).toEqual({});
});

it('a handler learns when its job was due and scheduled, how late it is, its priority and its id', async () => {
  const { producer, next } = await start();
  const before = Date.now();
  const ref = await producer.schedule('echo', 1, { delay: 30, priority: 7, id: 'my/own:id' });
  const { job } = await next();
  expect(job).toMatchObject({
    id: 'my/own:id',
    queue: 'default',
    name: 'echo',
    priority: 7,
    attempt: 1,
    maxAttempts: 6,
  });
  expect(job.dueAt).toEqual(ref.dueAt);
  expect(job.dueAt.getTime() - job.createdAt.getTime()).toBe(30);
  expect(job.createdAt.getTime()).toBeGreaterThanOrEqual(before);
  expect(job.latenessMs).toBeGreaterThanOrEqual(0);
  expect(Date.now()).toBeGreaterThanOrEqual(job.dueAt.getTime() + job.latenessMs);
  expect(job.fence).toBeGreaterThan(0);
  expect(job.signal.aborted).toBe(false);
});
