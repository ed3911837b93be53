import { describe, expect, it } from '@jest/globals';
import { InvalidScheduleError } from '../../../../lib/core/errors.js';
import { type PreparedJob, readPrepared, writePrepared } from '../../../../lib/core/options/prepared-job.js';
import { readSchedule, type ScheduleOptions } from '../../../../lib/core/options/schedule-options.js';
import { defineScheduledJob } from '../../../../lib/index.js';

const BYTES = Buffer.from([0xff, 0x00, 0x0a, 0xc3, 0x28, 0xfb]);
const DEFINED = defineScheduledJob<{ tenant: string }>('mail.send', {
  queue: 'mails',
  priority: 2,
  tags: ['all'],
  headers: { from: 'definition' },
  group: ({ tenant }) => tenant,
  maxLatenessMs: '1h',
  onLate: 'discard',
  // Of the handler's side: a call does not carry these.
  maxAttempts: 9,
  backoff: () => 1_000,
});

/** The job of a call, as it is kept as JSON and read again. */
function keptAndRead(
  options: ScheduleOptions,
  {
    codec,
    payload = '{}',
    job = DEFINED,
  }: { codec?: string; payload?: string | Uint8Array; job?: typeof DEFINED | string } = {},
) {
  const { definition: _, ...request } = readSchedule(
    job as typeof DEFINED,
    { id: 'a job/7', ...options },
    { tenant: 'acme' },
  );
  const given = { ...request, id: 'a job/7', codec, payload };
  const { definition: __, ...read } = readPrepared(JSON.parse(JSON.stringify(writePrepared(given))), 'here');
  return { given, read };
}

describe('a job that is kept as JSON is the one that was prepared', () => {
  it.each<[string, ScheduleOptions]>([
    ['due when it is handed over', {}],
    ['at an instant', { at: '2027-01-01T09:00:00.5Z' }],
    ['after a delay', { delay: '2h' }],
    [
      'with all that a call says',
      { queue: 'other', priority: 7, maxAttempts: 3, timeoutMs: 0, tags: ['a', 'é'], headers: { b: '"\n' } },
    ],
    ['with a backoff', { backoff: { type: 'exponential', delayMs: '1s', maxDelayMs: '1m', jitter: 0.5 } }],
    ['that replaces', { onDuplicate: 'replace', maxWaitMs: '30s' }],
    ['that is throttled', { onDuplicate: 'replace', throttleMs: 0 }],
    ['of a worker', { worker: 'w-1', group: null }],
    ['of no group', { group: null }],
    ['that must not be late', { maxLatenessMs: 0, onLate: 'dead-letter' }],
  ])('%s', (_, options) => {
    const { given, read } = keptAndRead(options);
    expect(read).toEqual(given);
  });

  it.each<[string, { codec?: string; payload: string | Uint8Array }]>([
    ['JSON', { payload: '{"a":[1,"é"]}' }],
    ['nothing', { payload: '' }],
    ['text of a codec', { codec: 'rot13', payload: 'nopq' }],
    ['no text of a codec', { codec: 'empty', payload: '' }],
    ['bytes of a codec', { codec: 'msgpack', payload: BYTES }],
    ['no bytes of a codec', { codec: 'empty', payload: Buffer.alloc(0) }],
  ])('with a payload of %s', (_, payload) => {
    const { given, read } = keptAndRead({}, payload);
    expect(read).toEqual(given);
  });

  it('of a version', () => {
    const job = defineScheduledJob<{ tenant: string }>('mail.send', { version: 3 });
    const { given, read } = keptAndRead({}, { job });
    expect(read).toEqual(given);
    expect(read).toMatchObject({ version: 3 });
  });

  it('of a name alone', () => {
    const { given, read } = keptAndRead({}, { job: 'mail.send' });
    expect(read).toEqual(given);
    expect(given).toMatchObject({ queue: 'default', priority: 5 });
  });
});

/** What releases have written. Each stays readable for ever, so none of these is ever changed or taken away. */
const WRITTEN: [string, unknown, object][] = [
  [
    'format 1: what every job has',
    {
      format: 1,
      queue: 'default',
      id: '0mx0g1fhh000c8rbhw',
      name: 'mail.send',
      options: { priority: 5, onDuplicate: 'keep' },
    },
    {
      queue: 'default',
      id: '0mx0g1fhh000c8rbhw',
      name: 'mail.send',
      priority: 5,
      replace: false,
      due: { delayMs: 0 },
      payload: '',
    },
  ],
  [
    'format 1: JSON, an instant, and all options',
    {
      format: 1,
      queue: 'mails',
      id: 'order/7',
      name: 'mail.send',
      options: {
        at: 1_893_456_000_000,
        priority: 2,
        group: 'acme',
        tags: ['a', 'b'],
        onDuplicate: 'keep',
        maxLatenessMs: 3_600_000,
        onLate: 'discard',
        maxAttempts: 3,
        backoff: { type: 'exponential', delayMs: 1_000, maxDelayMs: 60_000, jitter: 0.5 },
        timeoutMs: 30_000,
        headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
      },
      payload: '{"to":"ada@example.com"}',
    },
    {
      queue: 'mails',
      id: 'order/7',
      due: { at: 1_893_456_000_000 },
      group: 'acme',
      tags: ['a', 'b'],
      lateness: { maxLatenessMs: 3_600_000, onLate: 'discard' },
      settings: {
        maxAttempts: 3,
        backoff: { type: 'exponential', delayMs: 1_000, maxDelayMs: 60_000, jitter: 0.5 },
        timeoutMs: 30_000,
        headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
      },
      payload: '{"to":"ada@example.com"}',
    },
  ],
  [
    'format 1: bytes of a codec, a delay, a worker, a debounce',
    {
      format: 1,
      queue: 'default',
      id: 'doc/7',
      name: 'document.index',
      options: { delay: 5_000, priority: 5, worker: 'w-1', onDuplicate: 'replace', maxWaitMs: 30_000 },
      payload: '/wAKwyj7',
      codec: 'msgpack',
      encoding: 'base64',
    },
    { due: { delayMs: 5_000 }, worker: 'w-1', replace: true, maxWaitMs: 30_000, codec: 'msgpack', payload: BYTES },
  ],
  [
    'format 1: text of a codec, a throttle',
    {
      format: 1,
      queue: 'default',
      id: 'doc/7',
      name: 'document.index',
      options: { priority: 5, onDuplicate: 'replace', throttleMs: 60_000 },
      payload: 'nopq',
      codec: 'rot13',
    },
    { replace: true, throttleMs: 60_000, codec: 'rot13', payload: 'nopq' },
  ],
  [
    'format 1: a version above 1',
    {
      format: 1,
      queue: 'default',
      id: '0mx0g1fhh000c8rbhw',
      name: 'mail.send',
      version: 3,
      options: { priority: 5, onDuplicate: 'keep' },
      payload: '{"to":"ada@example.com"}',
    },
    { name: 'mail.send', version: 3, payload: '{"to":"ada@example.com"}' },
  ],
];

it.each(WRITTEN)('%s is read', (_, written, expected) => {
  expect(readPrepared(written, 'here')).toMatchObject(expected);
});

describe('what is no prepared job is refused', () => {
  const good: PreparedJob = {
    format: 1,
    queue: 'default',
    id: 'a',
    name: 'work',
    options: { priority: 5 },
    payload: '{}',
  };

  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'here: got undefined, expected what prepare answered.'],
    ['text', '{"format":1}', 'here: got text, expected what prepare answered: parse its JSON first.'],
    ['an array', [good], 'expected what prepare answered'],
    ['another object', { id: 'a' }, 'here: format: got undefined, expected 1.'],
    [
      'a later format',
      { ...good, format: 2 },
      'format: got 2, expected 1: a later release of nestjs-redis-scheduled-queue has prepared this job',
    ],
    ['a format that is no number', { ...good, format: '1' }, 'expected 1.'],
    ['no queue', { ...good, queue: undefined }, 'queue is missing'],
    ['no id', { ...good, id: undefined }, 'id is missing'],
    ['no name', { ...good, name: undefined }, 'name is missing'],
    ['no options', { ...good, options: undefined }, 'options is missing'],
    ['a queue that is none', { ...good, queue: 'a}b' }, 'queue: got'],
    ['an id that is none', { ...good, id: 'a\nb' }, 'id: got'],
    ['a field of a later release', { ...good, set: 'a' }, 'unknown option "set"'],
    ['a version that is none', { ...good, version: 0 }, 'version: got 0'],
    ['an option that is none', { ...good, options: { delays: 5 } }, "did you mean 'delay'?"],
    ['an option that is wrong', { ...good, options: { priority: 0 } }, 'priority: got 0'],
    ['text that is no JSON', { ...good, payload: '{' }, 'payload: got what is no JSON'],
    ['a payload that is no text', { ...good, payload: { a: 1 } }, 'payload: got'],
    ['bytes without a codec', { ...good, encoding: 'base64' }, 'payload: got base64 without the codec'],
    ['no base64', { ...good, payload: '{}', codec: 'a', encoding: 'base64' }, 'payload: got what is no base64'],
  ])('%s', (_, given, message) => {
    expect(() => readPrepared(given, 'here')).toThrow(InvalidScheduleError);
    expect(() => readPrepared(given, 'here')).toThrow(message);
  });

  it('and the error shows nothing of its payload', () => {
    const secret = { ...good, payload: '{"password":"hunter2"' };
    expect(() => readPrepared(secret, 'here')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
    );
  });
});
