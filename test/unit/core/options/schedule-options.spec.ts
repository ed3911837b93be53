import { describe, expect, it } from '@jest/globals';
import { InvalidScheduleError } from '../../../../lib/core/errors.js';
import { defineScheduledJob } from '../../../../lib/core/job/definition.js';
import { readQueue, readRef, readReschedule } from '../../../../lib/core/options/job-ref.js';
import { readSchedule } from '../../../../lib/core/options/schedule-options.js';
import { thrown } from '../../thrown.js';

const NINE = Date.UTC(2027, 0, 1, 9);
const KEY_PART = 'expected 1 to 64 of the characters A-Z a-z 0-9 . _ -, a letter or digit first';
const read = readSchedule as (job: unknown, options?: unknown) => ReturnType<typeof readSchedule>;
const refused = (options: unknown, job: unknown = 'ping') => thrown<InvalidScheduleError>(() => read(job, options));

describe('a call to schedule', () => {
  it('by name alone means now, the default queue and the default priority', () => {
    const defaults = {
      name: 'ping',
      queue: 'default',
      priority: 5,
      due: { delayMs: 0 },
      replace: false,
      settings: {},
      payload: '',
    };
    expect(read('ping')).toEqual(defaults);
    expect(read('ping', {})).toEqual(defaults);
  });

  it('says all that can be said', () => {
    const options = {
      at: new Date(NINE),
      queue: 'mail',
      id: 'user:7/reminder',
      onDuplicate: 'replace',
      priority: 1,
      maxAttempts: 3,
      backoff: { type: 'fixed', delayMs: '1s' },
      headers: { tenant: 'a' },
    };
    expect(read('reminder.send', options)).toEqual({
      name: 'reminder.send',
      queue: 'mail',
      priority: 1,
      due: { at: NINE },
      id: 'user:7/reminder',
      replace: true,
      settings: { maxAttempts: 3, backoff: { type: 'fixed', delayMs: 1_000 }, headers: { tenant: 'a' } },
      payload: '',
    });
  });

  it('wins over the definition', () => {
    const definition = defineScheduledJob('ping', {
      queue: 'mail',
      priority: 2,
      onDuplicate: 'replace',
      headers: { tenant: 'a', region: 'eu' },
    });
    const said = { queue: 'other', priority: 9, id: 'p', onDuplicate: 'keep', headers: { tenant: 'b' } };
    expect(read(definition, said)).toMatchObject({
      queue: 'other',
      priority: 9,
      replace: false,
      settings: { headers: { tenant: 'b', region: 'eu' } },
    });
  });

  it('leaves to the definition what it does not say', () => {
    const definition = defineScheduledJob('ping', {
      queue: 'mail',
      priority: 2,
      onDuplicate: 'replace',
      headers: { tenant: 'a' },
    });
    const left = { name: 'ping', queue: 'mail', priority: 2, settings: { headers: { tenant: 'a' } } };
    expect(read(definition)).toMatchObject({ ...left, replace: false });
    expect(read(definition, { id: 'p' })).toMatchObject({ ...left, replace: true });
    expect(read(definition, { delay: 5 })).toMatchObject({ ...left, replace: false, due: { delayMs: 5 } });
  });

  it('says how long a row of replacements may wait, or how far apart jobs of its id are', () => {
    const bounded = defineScheduledJob('save', { onDuplicate: 'replace', maxWaitMs: '30s' });
    expect(read(bounded, { id: 'a' })).toMatchObject({ replace: true, maxWaitMs: 30_000 });
    expect(read(bounded, { id: 'a', maxWaitMs: '1m' })).toMatchObject({ maxWaitMs: 60_000 });
    // A call without an id ignores a definition's, whatever else it says.
    expect(read(bounded)).toMatchObject({ replace: false, maxWaitMs: undefined });
    const both = defineScheduledJob('save', { maxWaitMs: 1, throttleMs: 2 });
    expect(read(both)).toMatchObject({ maxWaitMs: undefined, throttleMs: undefined });
    const throttled = { id: 'a', onDuplicate: 'replace', throttleMs: '1 day' };
    expect(read('save', throttled)).toMatchObject({ throttleMs: 86_400_000 });
    expect(read('save', { ...throttled, throttleMs: 0 })).toMatchObject({ throttleMs: 0 });
  });

  it.each(['maxWaitMs', 'throttleMs'] as const)(
    '%s of a definition is refused in a call whose id it does not replace',
    (option) => {
      const definition = defineScheduledJob('ping', { [option]: 5 });
      const problem = `${option}: 5 needs onDuplicate: 'replace', in the call or in the definition.`;
      expect(refused({ id: 'a' }, definition).message).toBe(`schedule('ping'): ${problem}`);
      const replacing = defineScheduledJob('ping', { [option]: 5, onDuplicate: 'replace' });
      expect(refused({ id: 'a', onDuplicate: 'keep' }, replacing).message).toBe(`schedule('ping'): ${problem}`);
    },
  );

  it('does not freeze attempts and backoff of the definition into the job, where the handler may say otherwise', () => {
    const definition = defineScheduledJob('ping', { maxAttempts: 2, backoff: { type: 'fixed', delayMs: 1 } });
    expect(read(definition).settings).toEqual({});
    expect(read(definition, { delay: 1 }).settings).toEqual({});
  });

  it('keeps its headers when the caller changes them afterwards', () => {
    const headers = { tenant: 'a' };
    const request = read('ping', { headers });
    headers.tenant = 'b';
    expect(request.settings.headers).toEqual({ tenant: 'a' });
  });

  it('takes undefined for not said', () => {
    const options = { at: undefined, delay: undefined, queue: undefined, id: undefined, priority: undefined };
    expect(read('ping', options)).toEqual(read('ping'));
  });
});

describe('a call to schedule is refused with', () => {
  it.each([
    ['both at and delay', { at: NINE, delay: '2h' }, `got both at (${NINE}) and delay ("2h"), expected one of them.`],
    ['NaN as delay', { delay: Number.NaN }, 'delay: got NaN, expected a finite number of milliseconds.'],
    [
      'Infinity as delay',
      { delay: Number.POSITIVE_INFINITY },
      'delay: got Infinity, expected a finite number of milliseconds.',
    ],
    [
      '-Infinity as delay',
      { delay: Number.NEGATIVE_INFINITY },
      'delay: got -Infinity, expected a finite number of milliseconds.',
    ],
    ['a negative delay', { delay: '-5m' }, 'delay: got "-5m", expected 0 or more milliseconds.'],
    [
      'a delay without a unit',
      { delay: '10' },
      `delay: got "10", expected a number with a unit, such as '500ms', '10m', '2h' or '3 days'.`,
    ],
    ['null as delay', { delay: null }, `delay: got null, expected milliseconds or a string such as '10m'.`],
    ['an invalid Date', { at: new Date('x') }, 'at: got an invalid Date, expected a valid one.'],
    ['NaN as at', { at: Number.NaN }, 'at: got NaN, expected epoch milliseconds.'],
    [
      'an instant beyond 2^53',
      { at: 2 ** 53 + 2 },
      'at: got 9007199254740994, expected at most 8640000000000000, the last instant of Date.',
    ],
    [
      'seconds',
      { at: 1_798_794_000 },
      'at: got 1798794000, which looks like seconds: expected an instant of at least 1e11 epoch milliseconds (1973-03-03).',
    ],
    [
      'a local time',
      { at: '2027-01-01T09:00' },
      `at: got "2027-01-01T09:00", expected a Date, epoch milliseconds, or ISO 8601 with time and Z or offset, such as '2027-01-01T09:00:00Z'.`,
    ],
    ['an empty id', { id: '' }, 'id: got "", expected 1 to 256 printable characters.'],
    [
      'an overlong id',
      { id: 'x'.repeat(257) },
      `id: got "${'x'.repeat(60)}…" (257 characters), expected 1 to 256 printable characters.`,
    ],
    ['a control character in the id', { id: 'a\u0007' }, 'id: got "a\\u0007", expected 1 to 256 printable characters.'],
    ['a number as id', { id: 7 }, 'id: got 7, expected 1 to 256 printable characters.'],
    ['null as id', { id: null }, 'id: got null, expected 1 to 256 printable characters.'],
    ['a brace in the queue', { queue: 'a}b' }, `queue: got "a}b", ${KEY_PART}.`],
    ['a line break in the queue', { queue: 'a\n' }, `queue: got "a\\n", ${KEY_PART}.`],
    ['an empty queue', { queue: '' }, `queue: got "", ${KEY_PART}.`],
    ['a number as queue', { queue: 7 }, `queue: got 7, ${KEY_PART}.`],
    ['a priority of 0', { priority: 0 }, 'priority: got 0, expected a whole number from 1 to 1000.'],
    ['no attempts', { maxAttempts: 0 }, 'maxAttempts: got 0, expected a whole number from 1 to 1000.'],
    [
      'a backoff that is a number',
      { backoff: 5 },
      'backoff: got 5, expected an object of options (type, delayMs, maxDelayMs, jitter).',
    ],
    [
      'a backoff that is a function',
      { backoff: () => 5 },
      `backoff: got the function 'backoff', expected { type, delayMs }: a function can only be given to a definition, a handler or the module's jobs.`,
    ],
    ['headers that are no strings', { headers: { a: 1 } }, `headers: "a": got 1, expected a string.`],
    [
      'replace without an id',
      { onDuplicate: 'replace' },
      `onDuplicate: 'replace' needs an id, expected one that names what is replaced.`,
    ],
    [
      'maxWaitMs without an id',
      { maxWaitMs: 5 },
      'maxWaitMs: 5 needs an id, expected one that names what is replaced.',
    ],
    [
      'throttleMs without an id',
      { throttleMs: 5 },
      'throttleMs: 5 needs an id, expected one that names what is replaced.',
    ],
    [
      'maxWaitMs without replace',
      { id: 'a', maxWaitMs: '5s' },
      `maxWaitMs: 5000 needs onDuplicate: 'replace', in the call or in the definition.`,
    ],
    [
      'maxWaitMs and throttleMs',
      { id: 'a', onDuplicate: 'replace', maxWaitMs: 5, throttleMs: 6 },
      'got both maxWaitMs (5) and throttleMs (6), expected one of them.',
    ],
    [
      'a throttle of more than a day',
      { id: 'a', onDuplicate: 'replace', throttleMs: '25h' },
      'throttleMs: got "25h", expected at most 86400000 ms.',
    ],
    ['a negative maxWaitMs', { id: 'a', maxWaitMs: -1 }, 'maxWaitMs: got -1, expected 0 or more milliseconds.'],
    ['an option that is misspelt', { dealy: '2h' }, `unknown option "dealy", did you mean 'delay'?`],
    [
      'an option of the definition',
      { payload: 5 },
      `unknown option "payload", known are at, delay, queue, id, worker, group, set, then, priority, maxAttempts, backoff, timeoutMs, maxLatenessMs, onLate, onDuplicate, maxWaitMs, throttleMs, tags, headers.`,
    ],
    ['a Date in place of options', new Date(NINE), 'got 2027-01-01T09:00:00.000Z, expected an object of options.'],
    ['text in place of options', '2h', 'got "2h", expected an object of options.'],
    ['null in place of options', null, 'got null, expected an object of options.'],
    ['a list in place of options', [], 'got an array of 0, expected an object of options.'],
  ])('%s', (_, options, problem) => {
    const error = refused(options);
    expect(error).toBeInstanceOf(InvalidScheduleError);
    expect(error.message).toBe(`schedule('ping'): ${problem}`);
    expect(error).toMatchObject({ code: 'INVALID_SCHEDULE', queue: 'default', jobName: 'ping' });
  });

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    ['', '""'],
    ['a\nb', '"a\\nb"'],
    ['x'.repeat(129), `"${'x'.repeat(60)}…" (129 characters)`],
    [7, '7'],
    [{}, 'an object'],
    [{ name: 'ping' }, 'an object'],
  ])('%p in place of a job', (job, shown) => {
    const error = thrown<InvalidScheduleError>(() => read(job));
    expect(error).toBeInstanceOf(InvalidScheduleError);
    expect(error.message).toBe(
      `schedule: job: got ${shown}, expected a definition or a name of 1 to 128 printable characters.${
        job === undefined
          ? ' Is this file imported in a circle with the one that defines the job? Put definitions into a file of their own.'
          : ''
      }`,
    );
  });

  it('headers that are too large together with those of the definition', () => {
    const definition = defineScheduledJob('ping', { headers: { a: 'x'.repeat(3_000) } });
    expect(refused({ headers: { b: 'x'.repeat(3_000) } }, definition).message).toBe(
      `schedule('ping'): headers, with the definition's: got 6015 bytes, expected at most 4096.`,
    );
    expect(read(definition, { headers: { a: 'x' } }).settings.headers).toEqual({ a: 'x' });
  });
});

describe('a call to reschedule', () => {
  it('takes a time or a delay', () => {
    expect(readReschedule({ at: new Date(NINE) }, 'r7')).toEqual({ at: NINE });
    expect(readReschedule({ delay: '2h' }, 'r7')).toEqual({ delayMs: 7_200_000 });
  });

  it.each([
    [{}, 'got neither at nor delay, expected one of them.'],
    [undefined, 'got neither at nor delay, expected one of them.'],
    [{ at: undefined }, 'got neither at nor delay, expected one of them.'],
    [{ at: NINE, delay: 5 }, `got both at (${NINE}) and delay (5), expected one of them.`],
    [{ delay: -1 }, 'delay: got -1, expected 0 or more milliseconds.'],
    [{ delya: 1 }, `unknown option "delya", did you mean 'delay'?`],
    [new Date(NINE), 'got 2027-01-01T09:00:00.000Z, expected an object of options (at, delay).'],
    ['2h', 'got "2h", expected an object of options (at, delay).'],
    [null, 'got null, expected an object of options (at, delay).'],
  ])('is refused with %p', (options, problem) => {
    const error = thrown<InvalidScheduleError>(() => readReschedule(options, 'r7'));
    expect(error).toBeInstanceOf(InvalidScheduleError);
    expect(error.message).toBe(`reschedule('r7'): ${problem}`);
    expect(error.jobId).toBe('r7');
  });
});

describe('a job is named', () => {
  it('by its id alone, in the default queue', () => {
    expect(readRef('r7', undefined, 'cancel')).toEqual({ id: 'r7', queue: 'default' });
  });

  it('by its id and a queue beside it', () => {
    expect(readRef('r7', { queue: 'mail' }, 'cancel')).toEqual({ id: 'r7', queue: 'mail' });
  });

  it('by what schedule answered', () => {
    const ref = { id: 'r7', queue: 'mail', name: 'ping', dueAt: new Date(NINE), created: true };
    expect(readRef(ref, undefined, 'cancel')).toEqual({ id: 'r7', queue: 'mail' });
    expect(readRef(ref, { queue: 'other' }, 'cancel')).toEqual({ id: 'r7', queue: 'other' });
    expect(readRef({ id: 'r7' }, {}, 'cancel')).toEqual({ id: 'r7', queue: 'default' });
  });

  it.each([
    [undefined, undefined, 'got undefined, expected an id or { id, queue }.'],
    [null, undefined, 'got null, expected an id or { id, queue }.'],
    [7, undefined, 'got 7, expected an id or { id, queue }.'],
    [{ queue: 'mail' }, undefined, 'got an object, expected an id or { id, queue }.'],
    ['', undefined, 'id: got "", expected 1 to 256 printable characters.'],
    [{ id: 7 }, undefined, 'id: got 7, expected 1 to 256 printable characters.'],
    ['a\u0000', undefined, 'id: got "a\\u0000", expected 1 to 256 printable characters.'],
    [{ id: 'r7', queue: 'a:b' }, undefined, `queue: got "a:b", ${KEY_PART}.`],
    ['r7', { queue: 'a{' }, `queue: got "a{", ${KEY_PART}.`],
    ['r7', { queu: 'mail' }, `unknown option "queu", did you mean 'queue'?`],
    ['r7', 'mail', 'got "mail", expected an object of options (queue).'],
  ])('and never by %p with %p', (ref, options, problem) => {
    const error = thrown<InvalidScheduleError>(() => readRef(ref, options as never, 'cancel'));
    expect(error).toBeInstanceOf(InvalidScheduleError);
    expect(error.message).toBe(`cancel: ${problem}`);
  });
});

it('a queue is the default one unless it is named, and is refused under a name that it cannot have', () => {
  expect(readQueue(undefined, 'counts')).toBe('default');
  expect(readQueue('mail', 'counts')).toBe('mail');
  const error = thrown<InvalidScheduleError>(() => readQueue(null, 'counts'));
  expect(error).toBeInstanceOf(InvalidScheduleError);
  expect(error.message).toBe(`counts: queue: got null, ${KEY_PART}.`);
});
