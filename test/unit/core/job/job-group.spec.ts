import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { InvalidOptionsError, InvalidScheduleError } from '../../../../lib/core/errors.js';
import { defineScheduledJob } from '../../../../lib/core/job/definition.js';
import { readRecurringJob } from '../../../../lib/core/options/recurrence-options.js';
import { readSchedule, type ScheduleOptions } from '../../../../lib/core/options/schedule-options.js';
import { thrown } from '../../thrown.js';

class Mail {
  tenant!: string;
}

const ofTenant = defineScheduledJob<{ tenant?: string }>('mail', { group: ({ tenant }) => tenant });
const refused = (options: object) =>
  thrown<InvalidScheduleError>(() => readSchedule('ping', options as ScheduleOptions));

describe('the group of a job', () => {
  it("is the call's, else the definition's, and null in the call means none", () => {
    const definition = defineScheduledJob('ping', { group: 'a' });
    expect(readSchedule(definition, undefined).group).toBe('a');
    expect(readSchedule(definition, { group: undefined }).group).toBe('a');
    expect(readSchedule(definition, { group: 'b' }).group).toBe('b');
    expect(readSchedule(definition, { group: null }).group).toBeUndefined();
    expect(readSchedule('ping', { group: 'b' }).group).toBe('b');
    expect(readSchedule('ping', { group: null }).group).toBeUndefined();
    expect(readSchedule('ping', {}).group).toBeUndefined();
  });

  it('is what a function of the payload answers, which is not asked where the call says it', () => {
    expect(readSchedule(ofTenant, undefined, { tenant: 'a' }).group).toBe('a');
    expect(readSchedule(ofTenant, undefined, {}).group).toBeUndefined();
    expect(readSchedule({ ...ofTenant, queue: 'mails' }, undefined, { tenant: 'a' }).group).toBe('a');
    const asked = defineScheduledJob('ping', {
      group: () => {
        throw new Error('asked');
      },
    });
    expect(readSchedule(asked, { group: 'b' }).group).toBe('b');
    expect(readSchedule(asked, { group: null }).group).toBeUndefined();
  });

  it('is that of each occurrence of a recurrence', () => {
    expect(readRecurringJob(ofTenant, undefined, undefined, 'here', { tenant: 'a' }).group).toBe('a');
    expect(readRecurringJob(ofTenant, { group: 'b' }, undefined, 'here', { tenant: 'a' }).group).toBe('b');
  });

  it('is asked by the payload as it was given, and not where a payload is missing that its class needs', () => {
    const given: unknown[] = [];
    const group = (payload: unknown) => void given.push(payload);
    const mail = { tenant: 'a' };
    readSchedule(defineScheduledJob('mail', { payload: Mail, group }), undefined, mail);
    readSchedule(defineScheduledJob('mail', { payload: Mail, group }), undefined, undefined);
    readSchedule(defineScheduledJob('ping', { group }), undefined, undefined);
    expect(given).toStrictEqual([mail, undefined]);
    expect(given[0]).toBe(mail);
  });

  it.each(['a', 'x'.repeat(256), 'tenant:7/eu', 'two words', '@a;1', 'größe', '🚀'])('may be %p', (group) => {
    expect(readSchedule('ping', { group }).group).toBe(group);
    expect(readSchedule(defineScheduledJob('ping', { group: () => group }), undefined).group).toBe(group);
  });

  it.each<[unknown, string]>([
    ['', 'got ""'],
    ['x'.repeat(257), '(257 characters)'],
    [7, 'got 7'],
    [{ id: 'a' }, 'got an object'],
    ['a\nb', 'got "a\\nb"'],
  ])('is not %p', (group, message) => {
    const expected = 'expected 1 to 256 printable characters';
    expect(refused({ group }).message).toContain(message);
    expect(refused({ group }).message).toContain(expected);
    expect(() => defineScheduledJob('ping', { group: group as string })).toThrow(InvalidOptionsError);
    const byFunction = defineScheduledJob('ping', { group: () => group as string });
    const error = thrown<InvalidScheduleError>(() => readSchedule(byFunction, undefined));
    expect(error).toBeInstanceOf(InvalidScheduleError);
    expect(error.message).toContain(message);
    expect(error.message).toContain(expected);
  });

  it('is no null of a function, no function in a call and no null in a definition', () => {
    const byFunction = defineScheduledJob('ping', { group: () => null as never });
    expect(() => readSchedule(byFunction, undefined)).toThrow(
      `schedule('ping'): group: got null of the definition's function, expected 1 to 256 printable characters or undefined.`,
    );
    expect(refused({ group: () => 'a' }).message).toContain(`group: got the function 'group', expected`);
    expect(() => defineScheduledJob('ping', { group: null as never })).toThrow(InvalidOptionsError);
  });

  it('is no promise, and one that rejects ends no process', async () => {
    const late = defineScheduledJob('ping', { group: (async () => Promise.reject(new Error('late'))) as never });
    const error = thrown<InvalidScheduleError>(() => readSchedule(late, undefined));
    expect(error.message).toContain(`got a Promise of the definition's function`);
    await setImmediate();
  });

  it('is an error with its cause where the function throws', () => {
    const error = thrown<InvalidScheduleError>(() => readSchedule(ofTenant, undefined, null, 'dispatch'));
    expect(error).toBeInstanceOf(InvalidScheduleError);
    expect(error).toMatchObject({ queue: 'default', jobName: 'mail', cause: expect.any(TypeError) });
    expect(error.message).toBe(
      `dispatch: group: the definition's function threw a TypeError, expected it to answer a group or undefined.`,
    );
  });

  it('stands beside no worker', () => {
    expect(refused({ group: 'a', worker: 'w-1' }).message).toBe(
      `schedule('ping'): group: got "a" together with worker "w-1", expected one of them.`,
    );
    const error = thrown(() => readSchedule(ofTenant, { worker: 'w-1' }, { tenant: 'a' }));
    expect(error.message).toBe(
      `schedule('mail'): group: got the definition's "a" together with worker "w-1", expected one of them.`,
    );
    expect(readSchedule(ofTenant, { worker: 'w-1' }, {})).toMatchObject({ worker: 'w-1', group: undefined });
    expect(readSchedule(ofTenant, { worker: 'w-1', group: null }, { tenant: 'a' }).group).toBeUndefined();
  });
});
