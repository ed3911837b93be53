import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { IsEmail, IsInt, IsObject, IsOptional } from 'class-validator';
import { Redis } from 'ioredis';
import {
  defineScheduledJob,
  InvalidPayloadError,
  InvalidScheduleError,
  OnScheduledJob,
  PayloadTooLargeError,
  ScheduledQueueError,
  type ScheduledQueueProducer,
} from '../../../lib/index.js';
import { type QueueApp, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

class SendReminder {
  @IsInt() userId!: number;
  @IsEmail() email!: string;
}
const sendReminder = defineScheduledJob('reminder.send', { payload: SendReminder });
const thrownGroup = defineScheduledJob<{ tenant: number }>('thrown', {
  group: ({ tenant }) => (tenant as unknown as string).toUpperCase(),
});
const promisedGroup = defineScheduledJob<number>('promised', { group: (async () => 'a') as never });
const FITTING = { userId: 7, email: 'a@b.co' };
const MAX_BYTES = 1_000;

let redis: Redis;
let app: QueueApp;

beforeAll(async () => {
  redis = new Redis(redisUrl());
});
afterAll(() => redis.disconnect());
afterEach(stopApps);

async function keysOf(prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const found of redis.scanStream({ match: `${prefix}:*`, count: 1_000 })) keys.push(...(found as string[]));
  return keys;
}

/** Calls something of a running module that has no handlers, and so writes nothing of its own. */
async function refused(call: (app: QueueApp) => unknown): Promise<ScheduledQueueError> {
  app = await startApp([], { maxPayloadBytes: MAX_BYTES });
  const error = await (call(app) as Promise<unknown>).then(
    (answer) => ({ answer }),
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(ScheduledQueueError);
  expect(await keysOf(app.prefix)).toEqual([]);
  return error;
}

type Case = [what: string, given: unknown, message: string];

function named(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}

const circular: Record<string, unknown> = { list: [] };
(circular.list as unknown[]).push({ back: circular });

describe('schedule refuses, says what was wrong and what is expected, and writes nothing, when given', () => {
  const WHEN: Case[] = [
    ['a delay of NaN', { delay: Number.NaN }, 'delay: got NaN, expected a finite number of milliseconds'],
    ['a delay of Infinity', { delay: Number.POSITIVE_INFINITY }, 'delay: got Infinity, expected a finite number'],
    ['a delay of -Infinity', { delay: Number.NEGATIVE_INFINITY }, 'delay: got -Infinity, expected a finite number'],
    ['a negative delay', { delay: -1 }, 'delay: got -1, expected 0 or more milliseconds'],
    ['a negative delay in words', { delay: '-5m' }, 'expected 0 or more milliseconds'],
    ['a delay beyond the range of dates', { delay: 2 ** 53 }, 'delay: got 9007199254740992, expected at most'],
    ['a delay that ends beyond the range of dates', { delay: 8e15 }, 'expected at most'],
    ['a delay without a unit', { delay: '10' }, `delay: got "10", expected a number with a unit, such as '500ms'`],
    ['an unparsable delay', { delay: 'soon' }, 'delay: got "soon", expected a number with a unit'],
    ['an empty delay', { delay: '' }, 'delay: got "", expected a number with a unit'],
    ['a delay of null', { delay: null }, 'delay: got null, expected milliseconds or a string'],
    ['a delay that is a BigInt', { delay: 10n }, 'delay: got the bigint 10, expected milliseconds or a string'],
    ['an invalid Date', { at: new Date('x') }, 'at: got an invalid Date, expected a valid one'],
    ['an instant of NaN', { at: Number.NaN }, 'at: got NaN, expected epoch milliseconds'],
    ['an instant of Infinity', { at: Number.POSITIVE_INFINITY }, 'at: got Infinity, expected epoch milliseconds'],
    ['an instant beyond 2^53', { at: 2 ** 53 + 2 }, 'at: got 9007199254740994, expected at most 8640000000000000'],
    ['an instant in seconds', { at: 1_800_000_000 }, 'at: got 1800000000, which looks like seconds'],
    ['a negative instant', { at: -1 }, 'at: got -1, '],
    [
      'a time without an offset',
      { at: '2027-01-01T09:00:00' },
      'at: got "2027-01-01T09:00:00", expected a Date, epoch milliseconds, or ISO 8601',
    ],
    ['a day without a time', { at: '2027-01-01' }, 'at: got "2027-01-01", expected a Date'],
    ['a day that does not exist', { at: '2027-13-01T00:00:00Z' }, 'at: got "2027-13-01T00:00:00Z", expected a Date'],
    ['an instant that is an object', { at: {} }, 'at: got an object, expected a Date'],
    [
      'both at and delay',
      { at: new Date(1e12), delay: 5 },
      'got both at (2001-09-09T01:46:40.000Z) and delay (5), expected one of them',
    ],
  ];

  const OPTIONS: Case[] = [
    ['an unknown option', { dealy: 5 }, `unknown option "dealy", did you mean 'delay'?`],
    [
      'an unknown option that is near no other',
      { zzzzzzzzz: 5 },
      'unknown option "zzzzzzzzz", known are at, delay, queue, id',
    ],
    ['an option of the prototype', JSON.parse('{"__proto__":{"id":"x"}}'), 'unknown option "__proto__"'],
    ['options that are a number', 5, 'got 5, expected an object of options'],
    ['options that are null', null, 'got null, expected an object of options'],
    ['options that are an array', [], 'got an array of 0, expected an object of options'],
    ['a priority of 0', { priority: 0 }, 'priority: got 0, expected a whole number from 1 to 1000'],
    ['a priority of 1001', { priority: 1001 }, 'priority: got 1001, expected a whole number from 1 to 1000'],
    ['a broken priority', { priority: 1.5 }, 'priority: got 1.5, expected a whole number'],
    ['a priority in words', { priority: 'HIGH' }, 'priority: got "HIGH", expected a whole number'],
    ['no attempt', { maxAttempts: 0 }, 'maxAttempts: got 0, expected a whole number from 1 to 1000'],
    ['NaN attempts', { maxAttempts: Number.NaN }, 'maxAttempts: got NaN, expected a whole number'],
    [
      'infinite attempts',
      { maxAttempts: Number.POSITIVE_INFINITY },
      'maxAttempts: got Infinity, expected a whole number',
    ],
    [
      'a backoff of an unknown type',
      { backoff: { type: 'linear', delayMs: 5 } },
      `type: got "linear", expected 'fixed' or 'exponential'`,
    ],
    ['a backoff without a delay', { backoff: { type: 'fixed' } }, 'backoff: '],
    [
      'a backoff with a negative delay',
      { backoff: { type: 'fixed', delayMs: -5 } },
      'delayMs: got -5, expected 0 or more',
    ],
    [
      'a backoff with too much jitter',
      { backoff: { type: 'fixed', delayMs: 5, jitter: 2 } },
      'jitter: got 2, expected a number from 0 to 1',
    ],
    ['a backoff that is a number', { backoff: 5 }, 'backoff: '],
    [
      'an unknown onDuplicate',
      { id: 'x', onDuplicate: 'drop' },
      `onDuplicate: got "drop", expected 'keep' or 'replace'`,
    ],
    ['replace without an id', { onDuplicate: 'replace' }, `onDuplicate: 'replace' needs an id`],
    ['an empty group', { group: '' }, 'group: got "", expected 1 to 256 printable characters'],
    ['a group that is an object', { group: { id: 'a' } }, 'group: got an object, expected 1 to 256 printable'],
    ['a group that is a function', { group: () => 'a' }, `group: got the function 'group', expected 1 to 256`],
    [
      'a group beside a worker',
      { group: 'a', worker: 'w-1' },
      'group: got "a" together with worker "w-1", expected one of them',
    ],
    ['headers that are a string', { headers: 'a: b' }, 'headers: got "a: b", expected an object of strings'],
    ['a header that is a number', { headers: { trace: 5 } }, `headers: "trace": got 5, expected a string`],
    ['too many headers', { headers: { trace: 'x'.repeat(5_000) } }, 'bytes, expected at most 4096'],
  ];

  const NAMES: Case[] = [
    ...[
      '',
      'x'.repeat(10_240),
      '{',
      '}',
      'a:b',
      'a b',
      ' ',
      'a\nb',
      'a\r\nb',
      '🎉',
      'ü',
      '{a}',
      '*',
      '-a',
      'a\u0000',
      '../a',
    ].map((queue): Case => [`the queue ${named(queue)}`, { queue }, `queue: got ${named(queue)}`]),
    ['a queue that is a number', { queue: 5 }, 'queue: got 5, expected 1 to 64 of the characters A-Z a-z 0-9 . _ -'],
    ['a queue that is null', { queue: null }, 'queue: got null, expected 1 to 64'],
    ...['', 'x'.repeat(257), 'a\u0000b', 'a\nb', 'a\tb', 'a\u0007', '\u202e', '\u2028', '\ud800'].map(
      (id): Case => [
        `the id ${named(id).replace(/[\u202e\u2028]/, 'of an invisible character')}`,
        { id },
        `id: got ${named(id)}`,
      ],
    ),
    ['an id that is a number', { id: 5 }, 'id: got 5, expected 1 to 256 printable characters'],
    ['an id that is an object', { id: {} }, 'id: got an object, expected 1 to 256 printable characters'],
  ];

  it.each([...WHEN, ...OPTIONS, ...NAMES])('%s', async (_, options, message) => {
    const error = await refused(({ producer }) => producer.schedule(sendReminder, FITTING, options as never));
    expect(error).toBeInstanceOf(InvalidScheduleError);
    expect(error).toMatchObject({ code: 'INVALID_SCHEDULE', jobName: 'reminder.send' });
    expect(error.message).toContain(`schedule('reminder.send'): `);
    expect(error.message).toContain(message);
    expect(error.message.length).toBeLessThan(500);
  });

  const JOBS: Case[] = [
    ['an empty job name', '', 'job: got "", expected a definition or a name of 1 to 128 printable characters'],
    ['an overlong job name', 'x'.repeat(129), '(129 characters), expected a definition or a name of 1 to 128'],
    ['a job name with a line break', 'a\nb', 'job: got "a\\nb", expected a definition or a name'],
    ['a job name of undefined', undefined, 'printable characters. Is this file imported in a circle'],
    ['a job name that is a number', 5, 'job: got 5, expected a definition or a name'],
    [
      'a class in place of a job',
      SendReminder,
      `job: got the function 'SendReminder', expected a definition or a name`,
    ],
  ];

  it.each(JOBS)('%s', async (_, job, message) => {
    const error = await refused(({ producer }) => producer.schedule(job as string, FITTING));
    expect(error).toBeInstanceOf(InvalidScheduleError);
    expect(error.message).toContain(message);
  });

  const PAYLOADS: [...Case, path: string][] = [
    ['a circular payload', circular, `'list[0].back' is circular`, 'list[0].back'],
    ['a BigInt', 1n, 'It is a BigInt: send it as a string', ''],
    ['a BigInt deep inside', { a: [{ b: 1n }] }, `'a[0].b' is a BigInt`, 'a[0].b'],
    ['a function', () => {}, 'It is a function, which JSON would drop', ''],
    [
      'a function deep inside',
      { a: { run: () => {} } },
      `'a.run' is the function 'run', which JSON would drop`,
      'a.run',
    ],
    ['a symbol', { a: Symbol('s') }, `'a' is a symbol, which JSON would drop`, 'a'],
    ['undefined', undefined, `is undefined, expected a value; null says that there is none`, ''],
    ['an array with a hole', [1, undefined], `'[1]' is undefined, which JSON would turn into null`, '[1]'],
    ['NaN', { a: Number.NaN }, `'a' is NaN, which JSON would turn into null`, 'a'],
    ['an invalid Date', { a: new Date('x') }, `'a' is an invalid Date`, 'a'],
    ['a Map', { a: new Map() }, `'a' is a Map`, 'a'],
    ['a promise that nobody awaited', { a: Promise.resolve(1) }, `'a' is a Promise`, 'a'],
    [
      'a toJSON that throws',
      {
        toJSON: () => {
          throw new Error('no');
        },
      },
      'cannot be serialised: no',
      '',
    ],
    ['a toJSON that answers nothing', { toJSON: () => undefined }, 'serialises to nothing', ''],
  ];

  it.each(PAYLOADS)('the payload %s', async (_, payload, message, path) => {
    const error = await refused(({ producer }) => producer.schedule('reminder', payload, { queue: 'mails', id: 'x' }));
    expect(error).toBeInstanceOf(InvalidPayloadError);
    expect(error).toMatchObject({ code: 'INVALID_PAYLOAD', queue: 'mails', jobName: 'reminder', jobId: 'x' });
    expect(error.message).toContain(`The payload of job 'reminder' `);
    expect(error.message).toContain(message);
    expect((error as InvalidPayloadError).findings).toMatchObject([{ path }]);
  });

  it('a payload over the size limit', async () => {
    const error = await refused(({ producer }) => producer.schedule('reminder', 'x'.repeat(MAX_BYTES - 1)));
    expect(error).toBeInstanceOf(PayloadTooLargeError);
    expect(error).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', bytes: MAX_BYTES + 1, maxBytes: MAX_BYTES });
    expect(error.message).toContain(`has ${MAX_BYTES + 1} bytes, but maxPayloadBytes is ${MAX_BYTES}`);
  });

  const MISFITS: [string, unknown, string[]][] = [
    [
      'of wrong types',
      { userId: '7', email: 'nobody' },
      ['userId: userId must be an integer number', 'email: email must be an email'],
    ],
    ['without its properties', {}, ['userId: ', 'email: ']],
    ['that is null', null, ['got null, expected an object']],
    ['that is an array', [FITTING], ['got an array of 1, expected an object']],
    ['that is a string', 'x', ['got a string of 1 characters, expected an object']],
    ['that is undefined', undefined, ['is undefined, expected a SendReminder']],
  ];

  it.each(MISFITS)('a payload %s for a class', async (_, payload, messages) => {
    const error = await refused(({ producer }) => producer.schedule(sendReminder, payload as never));
    expect(error).toBeInstanceOf(InvalidPayloadError);
    for (const message of messages) expect(error.message).toContain(message);
    expect((error as InvalidPayloadError).findings.length).toBeGreaterThan(0);
  });
});

describe('another call is refused, and writes nothing:', () => {
  const CALLS: [string, (app: QueueApp) => unknown, string][] = [
    [
      'dispatch with at',
      ({ producer }) => producer.dispatch('x', null, { at: new Date() } as never),
      'dispatch: got at or delay',
    ],
    [
      'dispatch with an unknown option',
      ({ producer }) => producer.dispatch('x', null, { prioriti: 1 } as never),
      `did you mean 'priority'?`,
    ],
    [
      'dispatch of a job whose group function throws',
      ({ producer }) => producer.dispatch(thrownGroup, { tenant: 7 }),
      "group: the definition's function threw a TypeError, expected it to answer a group or undefined",
    ],
    [
      'scheduleMany with an item whose group function throws',
      ({ producer }) =>
        producer.scheduleMany([
          { job: 'fitting', payload: 1 },
          { job: thrownGroup, payload: { tenant: 7 } },
        ]),
      "scheduleMany: item 1: schedule('thrown'): group: ",
    ],
    [
      'a replace of a job whose group function answers a promise',
      ({ producer }) => producer.schedule(promisedGroup, 1, { id: 'x', onDuplicate: 'replace' }),
      "group: got a Promise of the definition's function, expected",
    ],
    [
      'upsertRecurrence of a job whose group function answers a promise',
      ({ producer }) => producer.upsertRecurrence('r', promisedGroup, 1, { everyMs: 1_000 }),
      "upsertRecurrence('r'): group: got a Promise",
    ],
    [
      'upsertRecurrence with group and worker',
      ({ producer }) => producer.upsertRecurrence('r', 'x', 1, { everyMs: 1_000 }, { group: 'a', worker: 'w' }),
      `upsertRecurrence('r'): group: got "a" together with worker "w"`,
    ],
    [
      'setGroup of no group',
      ({ inspector }) => inspector.setGroup('', { weight: 2 }),
      'setGroup: group: got "", expected 1 to 256 printable characters',
    ],
    [
      'setGroup of nothing',
      ({ inspector }) => (inspector.setGroup as (group: string) => Promise<void>)('a'),
      'setGroup: got undefined, expected an object of options (weight, concurrency, rateLimit)',
    ],
    [
      'setGroup in a queue with a brace',
      ({ inspector }) => inspector.setGroup('a', {}, { queue: '{' }),
      'setGroup: queue: got "{"',
    ],
    [
      'pauseGroup for no time',
      ({ inspector }) => inspector.pauseGroup('a', { forMs: 0 }),
      'pauseGroup: forMs: got 0, expected at least 1 ms',
    ],
    ['pauseGroup of a number', ({ inspector }) => inspector.pauseGroup(7 as never), 'pauseGroup: group: got 7'],
    ['resumeGroup of no group', ({ inspector }) => inspector.resumeGroup(''), 'resumeGroup: group: got ""'],
    [
      'resumeGroup with an unknown option',
      ({ inspector }) => inspector.resumeGroup('a', { forMs: 5 } as never),
      'resumeGroup: unknown option "forMs"',
    ],
    ['group of undefined', ({ inspector }) => inspector.group(undefined as never), 'group: group: got undefined'],
    ['groups of none', ({ inspector }) => inspector.groups({ limit: 0 }), 'groups: limit: got 0, expected a whole'],
    [
      'groups of too many',
      ({ inspector }) => inspector.groups({ limit: 1_001 }),
      'groups: limit: got 1001, expected a whole number from 1 to 1000',
    ],
    ['find of no group', ({ inspector }) => inspector.find({ group: '' }), 'find: group: got "", expected 1 to 256'],
    [
      'cancel of a number',
      ({ producer }) => producer.cancel(5 as never),
      'cancel: got 5, expected an id or { id, queue }',
    ],
    [
      'cancel of undefined',
      ({ producer }) => producer.cancel(undefined as never),
      'cancel: got undefined, expected an id',
    ],
    ['cancel of an empty id', ({ producer }) => producer.cancel(''), 'cancel: id: got "", expected 1 to 256'],
    [
      'cancel of a definition',
      ({ producer }) => producer.cancel(sendReminder as never),
      'cancel: got an object, expected an id',
    ],
    [
      'cancel in a queue with a brace',
      ({ producer }) => producer.cancel({ id: 'x', queue: '{' }),
      'cancel: queue: got "{"',
    ],
    [
      'cancel with an unknown option',
      ({ producer }) => producer.cancel('x', { quue: 'a' } as never),
      `unknown option "quue", did you mean 'queue'?`,
    ],
    [
      'reschedule without a time',
      ({ producer }) => producer.reschedule('x', {}),
      'got neither at nor delay, expected one of them',
    ],
    [
      'reschedule to undefined',
      ({ producer }) => producer.reschedule('x', undefined as never),
      'got neither at nor delay',
    ],
    [
      'reschedule with both',
      ({ producer }) => producer.reschedule('x', { at: 1e12, delay: 1 }),
      'got both at (1000000000000) and delay (1)',
    ],
    ['reschedule with a negative delay', ({ producer }) => producer.reschedule('x', { delay: -1 }), 'delay: got -1'],
    [
      'reschedule to a bare Date',
      ({ producer }) => producer.reschedule('x', new Date() as never),
      `reschedule('x'): got `,
    ],
    [
      'reschedule with an unknown option',
      ({ producer }) => producer.reschedule('x', { delai: 1 } as never),
      `did you mean 'delay'?`,
    ],
    ['runNow of null', ({ producer }) => producer.runNow(null as never), 'runNow: got null, expected an id'],
    [
      'counts of a bare name',
      ({ inspector }) => inspector.counts('mails' as never),
      'counts: got "mails", expected an object of options',
    ],
    [
      'counts of a queue with a colon',
      ({ inspector }) => inspector.counts({ queue: 'a:b' }),
      'counts: queue: got "a:b"',
    ],
    [
      'stats with an unknown option',
      ({ inspector }) => inspector.stats({ quue: 'a' } as never),
      `did you mean 'queue'?`,
    ],
    ['nextDueAt of a number', ({ inspector }) => inspector.nextDueAt(5 as never), 'nextDueAt: got 5'],
    ['latenessMs of an emoji', ({ inspector }) => inspector.latenessMs({ queue: '🎉' }), 'latenessMs: queue: got "🎉"'],
    [
      'job of an object without an id',
      ({ inspector }) => inspector.job({} as never),
      'job: got an object, expected an id',
    ],
    [
      'list of an unknown state',
      ({ inspector }) => inspector.list('waiting' as never),
      'list: state: got "waiting", expected one of scheduled, due',
    ],
    [
      'list with a limit of 0',
      ({ inspector }) => inspector.list('due', { limit: 0 }),
      'list: limit: got 0, expected a whole number from 1 to',
    ],
    [
      'list with a limit of NaN',
      ({ inspector }) => inspector.list('due', { limit: Number.NaN }),
      'list: limit: got NaN',
    ],
    ['list with a negative offset', ({ inspector }) => inspector.list('due', { offset: -1 }), 'list: offset: got -1'],
    [
      'list with an unknown option',
      ({ inspector }) => inspector.list('due', { ofset: 1 } as never),
      `did you mean 'offset'?`,
    ],
  ];

  it.each(CALLS)('%s', async (_, call, message) => {
    const error = await refused(call);
    expect(error).toBeInstanceOf(InvalidScheduleError);
    expect(error.message).toContain(message);
  });

  const ITEM = { job: 'fine', payload: null };
  const MANY: [string, unknown, abstract new (...args: never[]) => Error, string][] = [
    [
      'an invalid delay',
      { ...ITEM, options: { delay: -1 } },
      InvalidScheduleError,
      `scheduleMany: item 2: schedule('fine'): delay: got -1`,
    ],
    [
      'an unknown option',
      { ...ITEM, options: { dealy: 1 } },
      InvalidScheduleError,
      `scheduleMany: item 2: schedule('fine'): unknown option "dealy"`,
    ],
    [
      'misspelt options',
      { ...ITEM, option: { delay: 5 } },
      InvalidScheduleError,
      `scheduleMany: item 2: unknown option "option", did you mean 'options'?`,
    ],
    [
      'an invalid payload',
      { job: sendReminder, payload: {} },
      InvalidPayloadError,
      `scheduleMany: item 2: The payload of job 'reminder.send'`,
    ],
    [
      'a payload that is too large',
      { ...ITEM, payload: 'x'.repeat(2_000) },
      PayloadTooLargeError,
      `scheduleMany: item 2: The payload of job 'fine'`,
    ],
    ['no job', {}, InvalidScheduleError, 'scheduleMany: item 2: schedule: job: got undefined'],
    ['null', null, InvalidScheduleError, 'scheduleMany: item 2: got null'],
    ['undefined', undefined, InvalidScheduleError, 'scheduleMany: item 2: got undefined'],
  ];

  it.each(MANY)('scheduleMany, whole, where one item has or is %s', async (_, item, type, message) => {
    const error = await refused(({ producer }) => producer.scheduleMany([ITEM, ITEM, item, ITEM] as never));
    expect(error).toBeInstanceOf(type);
    expect(error.message).toContain(message);
  });

  it.each([[undefined], [null], ['x'], [{}]])('scheduleMany of %j', async (items) => {
    const error = await refused(({ producer }) => producer.scheduleMany(items as never));
    expect(error).toBeInstanceOf(InvalidScheduleError);
    expect(error.message).toContain('expected an array of { job, payload, options }');
  });
});

it('accepts what lies on the right side of every limit, so that none of the refusals is of something else', async () => {
  const { producer, prefix } = await startApp([], { maxPayloadBytes: MAX_BYTES });
  const accepted: Parameters<ScheduledQueueProducer['schedule']>[] = [
    ['a:b/c', null, { id: 'x'.repeat(256), queue: 'A.b_c-9', delay: 0 }],
    ['x'.repeat(128), 'x'.repeat(MAX_BYTES - 2), { id: 'Zeit: 12/ü 🎉', at: 8.64e15, queue: 'x'.repeat(64) }],
    ['n', { kept: 1, left: undefined }, { delay: '3 days', priority: 1_000, maxAttempts: 1_000, headers: { a: 'b' } }],
  ];
  for (const call of accepted) expect(await producer.schedule(...call)).toMatchObject({ created: true });
  expect((await keysOf(prefix)).length).toBeGreaterThan(0);
});

describe('__proto__ in a payload pollutes nothing', () => {
  class Open {
    @IsOptional() @IsObject() nested?: Record<string, unknown>;
  }
  const open = defineScheduledJob('open', { payload: Open });
  const received: unknown[] = [];
  class Handlers {
    @OnScheduledJob('plain')
    plain(payload: unknown): void {
      received.push(payload);
    }
    @OnScheduledJob(open)
    open(payload: Open): void {
      received.push(payload);
    }
  }

  afterEach(() => void received.splice(0));

  it.each([
    ['on top', '{"__proto__":{"polluted":true},"fine":1}'],
    ['nested', '{"nested":{"__proto__":{"polluted":true},"fine":1}}'],
    ['on both levels', '{"__proto__":{"polluted":true},"nested":{"__proto__":{"polluted":true},"fine":1}}'],
  ])('%s, with a class or without', async (_, json) => {
    const { producer } = await startApp([Handlers]);
    await producer.schedule('plain', JSON.parse(json));
    await producer.schedule(open, JSON.parse(json));
    await until('both are handled', () => received.length === 2);
    expect(({} as { polluted?: true }).polluted).toBeUndefined();
    expect(Object.prototype).not.toHaveProperty('polluted');
    for (const payload of received as { nested?: object; polluted?: true }[]) {
      expect(payload.polluted).toBeUndefined();
      expect([Object.prototype, Open.prototype]).toContain(Object.getPrototypeOf(payload));
      if (!payload.nested) continue;
      expect((payload.nested as { polluted?: true }).polluted).toBeUndefined();
      expect(Object.getPrototypeOf(payload.nested)).toBe(Object.prototype);
      expect(payload.nested).toHaveProperty('fine', 1);
    }
    expect(Open.prototype).not.toHaveProperty('polluted');
  });

  it('nor does a constructor: it arrives as data, and is refused where a class is to be made of it', async () => {
    const json = '{"nested":{"constructor":{"prototype":{"polluted":true}}}}';
    const { producer } = await startApp([Handlers]);
    await expect(producer.schedule(open, JSON.parse(json))).rejects.toThrow(InvalidPayloadError);
    await producer.schedule('plain', JSON.parse(json));
    await until('it is handled', () => received.length === 1);
    expect(JSON.stringify(received[0])).toBe(json);
    expect(Object.prototype).not.toHaveProperty('polluted');
  });
});
