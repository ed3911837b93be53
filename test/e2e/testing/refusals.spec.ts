import { afterEach, describe, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { defineScheduledJob } from '../../../lib/index.js';
import { createScheduledJob, overrideScheduledQueue, ScheduledQueueTestingModule } from '../../../lib/testing/index.js';
import { stopTestedApps, testedApp } from '../../support/tested-app.js';

// A mistake in a test is an error that names it, and nothing has happened: a call that was ignored would make the test pass.

const mail = defineScheduledJob<{ to: string }>('mail');

afterEach(stopTestedApps);

describe('times', () => {
  it.each([
    [
      'advance',
      8.64e15,
      /^advance: got 8640000000000000 ms, expected at most 8638201206000000: no Date can hold a later instant/,
    ],
    ['advance', 'tomorrow', /^advance: got "tomorrow", expected a number with a unit/],
    ['advance', undefined, /^advance: got undefined, expected milliseconds or a string/],
    ['sleep', -1, /^sleep: got -1, expected 0 or more milliseconds/],
    ['drain', { until: 'noon' }, /^drain: until: got "noon", expected a Date/],
    ['drain', { till: 5 }, /^drain: unknown option "till"/],
    ['drain', '1h', /^drain: got "1h", expected an object of options, such as \{ until \}\. Did you mean advance\?/],
    ['drain', 5, /^drain: got 5, expected an object of options, such as \{ until \}\. Did you mean advance\?/],
    [
      'advance',
      '2027-02-01T09:00:00Z',
      /^advance: got "2027-02-01T09:00:00Z", expected a duration; for an instant, call drain\(\{ until \}\)\./,
    ],
    ['advance', '3 months', /; the units are ms, s, m \(minutes\), h, d, w and y, or their names\./],
  ] as const)('%s(%j)', async (call, argument, message) => {
    const { tester } = await testedApp();
    const before = tester.now();
    await expect(tester[call](argument as never)).rejects.toThrow(message);
    await expect(tester[call](argument as never)).rejects.toMatchObject({ code: 'INVALID_SCHEDULE' });
    expect(tester.now()).toEqual(before);
  });
});

describe('jobs', () => {
  it.each([
    'failNext',
    'crashNext',
    'loseLeaseNext',
    'scheduled',
    'runs',
    'expectScheduled',
    'expectNotScheduled',
  ] as const)('%s of something that is none', async (call) => {
    const { tester } = await testedApp();
    const ask = (job: unknown) => () => (tester[call] as (job: unknown, error?: unknown) => unknown)(job, {});
    expect(ask({ name: 'mail' })).toThrow('job: got an object, expected a definition or a name.');
    expect(ask(null)).toThrow('job: got null, expected a definition or a name.');
    expect(ask(mail)).not.toThrow(/expected a definition/);
  });

  it('deliverTwice of something that is neither true nor false', async () => {
    const { tester } = await testedApp();
    expect(() => tester.deliverTwice('mail' as never)).toThrow('deliverTwice: got "mail", expected true or false.');
  });
});

describe('expectations', () => {
  it.each(['expectScheduled', 'expectNotScheduled'] as const)('%s', async (call) => {
    const { tester } = await testedApp();
    for (const [expected, message] of [
      [{ at: 'noon' }, `${call}: at: got "noon", expected a Date`],
      [{ at: 1_800_000_000 }, `${call}: at: got 1800000000, which looks like seconds`],
      [{ within: 'soon' }, `${call}: within: got "soon"`],
      [{ payloads: {} }, `${call}: unknown option "payloads", did you mean 'payload'?`],
      ['1h', `${call}: got "1h", expected an object of options`],
    ] as const)
      expect(() => tester[call](mail, expected as never)).toThrow(message);
  });
});

describe('options', () => {
  it('overrideScheduledQueue', () => {
    const builder = Test.createTestingModule({});
    for (const [options, message] of [
      [{ at: 5 }, 'overrideScheduledQueue: unknown option "at"'],
      [{ now: 'noon' }, 'overrideScheduledQueue: now: got "noon", expected a Date'],
      ['2027-01-01T09:00:00Z', 'overrideScheduledQueue: got "2027-01-01T09:00:00Z", expected an object of options'],
    ] as const) {
      expect(() => overrideScheduledQueue(builder, options as never)).toThrow(message);
      expect(() => overrideScheduledQueue(builder, options as never)).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTIONS' }),
      );
    }
  });

  it('ScheduledQueueTestingModule.forRoot', async () => {
    expect(() => ScheduledQueueTestingModule.forRoot('x' as never)).toThrow(
      'ScheduledQueueTestingModule.forRoot: got "x", expected an object of options.',
    );
    const misspelt = ScheduledQueueTestingModule.forRoot({ queue: {} } as never);
    await expect(
      Test.createTestingModule({ imports: [misspelt] })
        .setLogger({ log() {}, warn() {}, error() {} })
        .compile(),
    ).rejects.toThrow('unknown option "queue", did you mean \'queues\'?');
  });

  it('createScheduledJob', () => {
    expect(() => createScheduledJob(mail, { to: 'ada' }, { atempt: 2 } as never)).toThrow(
      'createScheduledJob: unknown option "atempt", did you mean \'attempt\'?',
    );
    expect(() => createScheduledJob({ name: 'mail' } as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_SCHEDULE' }),
    );
  });
});
