import { describe, expect, it } from '@jest/globals';
import { InvalidOptionsError } from '../../../../lib/core/errors.js';
import { defineScheduledJob, readDefinition } from '../../../../lib/core/job/definition.js';
import { thrown } from '../../thrown.js';

class Reminder {}
const same = (payload: unknown) => payload;

const define = defineScheduledJob as (name: unknown, options?: unknown) => ReturnType<typeof defineScheduledJob>;
const refused = (name: unknown, options?: unknown) => thrown<InvalidOptionsError>(() => define(name, options));

describe('a definition', () => {
  it('holds what was said of the job, in the form that is used from then on', () => {
    const definition = defineScheduledJob('reminder.send', {
      queue: 'mail',
      payload: Reminder,
      priority: 2,
      maxAttempts: 5,
      backoff: { type: 'exponential', delayMs: '1s' },
      onDuplicate: 'replace',
      headers: { tenant: 'a' },
    });
    expect(definition).toEqual({
      name: 'reminder.send',
      queue: 'mail',
      payload: Reminder,
      ref: expect.any(Function),
      settings: {
        priority: 2,
        maxAttempts: 5,
        backoff: { type: 'exponential', delayMs: 1_000 },
        onDuplicate: 'replace',
        headers: { tenant: 'a' },
      },
    });
  });

  it('needs a name only', () => {
    expect(defineScheduledJob('ping')).toEqual({ name: 'ping', settings: {}, ref: expect.any(Function) });
  });

  it('cannot be changed once it is shared', () => {
    const headers = { tenant: 'a' };
    const definition = defineScheduledJob('ping', { headers, maxAttempts: 2 });
    headers.tenant = 'b';
    expect(definition.settings.headers).toEqual({ tenant: 'a' });
    expect(Object.isFrozen(definition)).toBe(true);
    expect(Object.isFrozen(definition.settings)).toBe(true);
    expect(Object.isFrozen(definition.settings.headers)).toBe(true);
  });

  it('is told from a name', () => {
    expect(readDefinition(defineScheduledJob('ping'))).toBeDefined();
    expect(['ping', null, undefined, {}, { name: 'ping' }, 5].filter(readDefinition)).toEqual([]);
  });
});

describe('a name of a job is refused', () => {
  it.each([
    ['', '""'],
    ['a\nb', '"a\\nb"'],
    ['x'.repeat(129), `"${'x'.repeat(60)}…" (129 characters)`],
    [undefined, 'undefined'],
    [null, 'null'],
    [7, '7'],
    [{ name: 'ping' }, 'an object'],
  ])('%p', (name, shown) => {
    const error = refused(name);
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error.message).toBe(`defineScheduledJob: name: got ${shown}, expected 1 to 128 printable characters.`);
  });
});

describe('options of a definition are refused', () => {
  it.each([
    [{ priority: 0 }, 'priority: got 0, expected a whole number from 1 to 1000.'],
    [{ priority: 1_001 }, 'priority: got 1001, expected a whole number from 1 to 1000.'],
    [{ priority: 1.5 }, 'priority: got 1.5, expected a whole number from 1 to 1000.'],
    [{ priority: '5' }, 'priority: got "5", expected a whole number from 1 to 1000.'],
    [{ maxAttempts: 0 }, 'maxAttempts: got 0, expected a whole number from 1 to 1000.'],
    [{ maxAttempts: Number.POSITIVE_INFINITY }, 'maxAttempts: got Infinity, expected a whole number from 1 to 1000.'],
    [{ backoff: { type: 'linear', delayMs: 1 } }, `backoff: type: got "linear", expected 'fixed' or 'exponential'.`],
    [{ backoff: { type: 'fixed', delay: 1 } }, `backoff: unknown option "delay", did you mean 'delayMs'?`],
    [{ maxWaitMs: Number.NaN }, 'maxWaitMs: got NaN, expected a finite number of milliseconds.'],
    [{ throttleMs: '2 days' }, 'throttleMs: got "2 days", expected at most 86400000 ms.'],
    [{ onDuplicate: 'drop' }, `onDuplicate: got "drop", expected 'keep' or 'replace'.`],
    [{ headers: ['a'] }, 'headers: got an array of 1, expected an object of strings.'],
    [{ headers: new Map([['a', 'b']]) }, 'headers: got a Map, expected an object of strings.'],
    [{ headers: null }, 'headers: got null, expected an object of strings.'],
    [{ headers: { a: 1 } }, `headers: "a": got 1, expected a string.`],
    [{ headers: { a: undefined } }, `headers: "a": got undefined, expected a string.`],
    [{ headers: { a: 'ä'.repeat(2_048) } }, 'headers: got 4104 bytes, expected at most 4096.'],
    [
      { queue: 'a b' },
      'queue: got "a b", expected 1 to 64 of the characters A-Z a-z 0-9 . _ -, a letter or digit first.',
    ],
    [{ payload: 'Reminder' }, 'payload: got "Reminder", expected a class.'],
    [{ payload: new Reminder() }, 'payload: got a Reminder, expected a class.'],
    [{ payload: null }, 'payload: got null, expected a class.'],
    [{ maxAttemps: 5 }, `unknown option "maxAttemps", did you mean 'maxAttempts'?`],
    [{ payloads: Reminder }, `unknown option "payloads", did you mean 'payload'?`],
    [{ version: 0 }, 'version: got 0, expected a whole number from 1 to 10000.'],
    [{ version: 10_001 }, 'version: got 10001, expected a whole number from 1 to 10000.'],
    [{ version: '2' }, 'version: got "2", expected a whole number from 1 to 10000.'],
    [
      { upgrade: { 1: same } },
      'upgrade: got it without version, expected both: version says what the last step makes of a payload.',
    ],
    [
      { version: 2, upgrade: [same] },
      'upgrade: got an array of 1, expected an object of functions by version, such as { 1: (payload) => … }.',
    ],
    [
      { version: 2, upgrade: { 0: same } },
      'upgrade: got the key "0", expected versions as keys: whole numbers from 1 to 10000.',
    ],
    [
      { version: 2, upgrade: { '1.5': same } },
      'upgrade: got the key "1.5", expected versions as keys: whole numbers from 1 to 10000.',
    ],
    [
      { version: 2, upgrade: { v1: same } },
      'upgrade: got the key "v1", expected versions as keys: whole numbers from 1 to 10000.',
    ],
    [
      { version: 2, upgrade: { '01': same } },
      'upgrade: got the key "01", expected versions as keys: whole numbers from 1 to 10000.',
    ],
    [{ version: 2, upgrade: { 1: 'same' } }, 'upgrade: 1: got "same", expected a function of the payload.'],
    [
      { version: 2, upgrade: { 1: same, 2: same } },
      'upgrade: got the key 2, expected keys from 1 to 1: the version is 2, and each step leads from its key to the next version.',
    ],
    [
      { version: 1, upgrade: { 1: same } },
      'upgrade: got the key 1, expected none: the version is 1, and each step leads from its key to the next version.',
    ],
    [
      { version: 5, upgrade: { 1: same, 2: same, 4: same } },
      'upgrade: got no step 3, expected one for each version from 1 to 4: no payload of version 1 comes to version 5 without it.',
    ],
    [
      { version: 102, upgrade: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [i + 1, same])) },
      'upgrade: got 101 steps, expected at most 100: delete those of versions of which inspector.versions tells no job any more.',
    ],
    [null, 'got null, expected an object of options.'],
    [Reminder, "got the function 'Reminder', expected an object of options."],
  ])('%p', (options, problem) => {
    const error = refused('ping', options);
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error.message).toBe(`defineScheduledJob('ping'): ${problem}`);
    expect(error).toMatchObject({ code: 'INVALID_OPTIONS', jobName: 'ping' });
  });

  it.each(['at', 'delay', 'id', 'worker'])('%s, which only a call can say', (option) => {
    expect(refused('ping', { [option]: '1m' }).message).toContain(
      `defineScheduledJob('ping'): unknown option "${option}"`,
    );
  });
});

it('headers may have 4 KiB in all, as JSON', () => {
  const headers = { a: 'x'.repeat(4_096 - '{"a":""}'.length) };
  expect(defineScheduledJob('ping', { headers }).settings.headers).toEqual(headers);
  expect(refused('ping', { headers: { a: `${headers.a}x` } }).message).toContain('got 4097 bytes');
});

describe('a definition that was copied and changed', () => {
  const original = defineScheduledJob('mail', { queue: 'mails', maxAttempts: 3 });

  it('is read anew, so that nothing unreadable reaches a key', () => {
    expect(() => readDefinition({ ...original, queue: 'a b' })).toThrow(InvalidOptionsError);
    expect(() => readDefinition({ ...original, name: 'line\nbreak' })).toThrow(InvalidOptionsError);
  });

  it('keeps its version and its steps, which are read anew as well', () => {
    const versioned = defineScheduledJob('mail', { version: 3, upgrade: { 2: same } });
    expect(readDefinition({ ...versioned, queue: 'others' })).toMatchObject({ version: 3, upgrade: { 2: same } });
    expect(() => readDefinition({ ...versioned, version: 5 })).toThrow('got no step 3');
  });

  it('keeps what it says', () => {
    expect(readDefinition({ ...original, queue: 'others' })).toMatchObject({
      name: 'mail',
      queue: 'others',
      settings: { maxAttempts: 3 },
    });
    expect(readDefinition(original)).toBe(original);
    expect(readDefinition('mail')).toBeUndefined();
  });
});
