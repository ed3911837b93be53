import { describe, expect, it } from '@jest/globals';
import { InvalidScheduleError } from '../../../../lib/core/errors.js';
import { defineScheduledJob } from '../../../../lib/core/job/definition.js';
import {
  readBackfillRange,
  readPauseReason,
  readRecurrence,
  readRecurrenceRef,
  readRecurrencesPage,
  readRecurringJob,
} from '../../../../lib/core/options/recurrence-options.js';

const digest = defineScheduledJob<string>('digest', {
  queue: 'mail',
  priority: 2,
  onDuplicate: 'replace',
  throttleMs: 5,
});

/** The message of the `InvalidScheduleError` that it throws. */
function refusal(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidScheduleError);
    return (error as Error).message;
  }
  throw new Error('It was not refused.');
}

describe('which recurrence is meant', () => {
  it.each([
    ['digest/7', undefined, 'digest/7', 'default'],
    ['digest/7', { queue: 'mail' }, 'digest/7', 'mail'],
    [{ id: 'digest/7' }, undefined, 'digest/7', 'default'],
    [{ id: 'digest/7', queue: 'mail', created: true, nextAt: null }, undefined, 'digest/7', 'mail'],
    [{ id: 'digest/7', queue: 'mail' }, { queue: 'other' }, 'digest/7', 'other'],
    [digest.ref('x'), {}, 'x', 'mail'],
  ])('%j with %j', (ref, options, id, queue) => {
    expect(readRecurrence(ref, options, 'recurrence')).toMatchObject({ id, queue });
  });

  it.each([
    [undefined, undefined, 'recurrence: got undefined, expected the id of a recurrence or { id, queue }.'],
    [7, undefined, 'recurrence: got 7, expected the id of a recurrence or { id, queue }.'],
    [{ queue: 'q' }, undefined, 'recurrence: got an object, expected the id of a recurrence or { id, queue }.'],
    ['', undefined, 'recurrence: id: got "", expected 1 to 200 printable characters.'],
    ['a\nb', undefined, 'recurrence: id: got "a\\nb", expected 1 to 200 printable characters.'],
    [{ id: 'a', queue: 'a b' }, undefined, 'recurrence(\'a\'): queue: got "a b", expected 1 to 64 of the characters'],
    ['a', { queu: 'q' }, "recurrence('a'): unknown option \"queu\", did you mean 'queue'?"],
  ])('%j with %j is refused', (ref, options, message) => {
    expect(refusal(() => readRecurrence(ref, options as object, 'recurrence'))).toContain(message);
  });

  it('an id has at most 200 characters, so that the ids of its jobs have at most 256', () => {
    expect(readRecurrenceRef('x'.repeat(200), undefined, 'recurrence').id).toHaveLength(200);
    expect(refusal(() => readRecurrenceRef('x'.repeat(201), undefined, 'recurrence'))).toContain('(201 characters)');
  });
});

describe('the job of a recurrence', () => {
  it.each([
    [undefined, undefined, 'mail'],
    [{ queue: 'other' }, undefined, 'other'],
    [undefined, 'third', 'third'],
    [{ queue: 'other' }, 'third', 'other'],
  ])('with the options %j and a ref of queue %s it goes to queue %s', (options, queue, expected) => {
    expect(readRecurringJob(digest, options, queue, 'here').queue).toBe(expected);
  });

  it('has the options of the call and of its definition, whose onDuplicate means nothing here', () => {
    expect(readRecurringJob(digest, { tags: ['a'] }, undefined, 'here')).toMatchObject({
      name: 'digest',
      priority: 2,
      tags: ['a'],
      id: undefined,
      replace: false,
    });
  });

  it.each([
    [
      { at: new Date() },
      'here: got the option at, expected none: the rule says when the jobs are due; its startAt says from when on.',
    ],
    [{ delay: '1h' }, 'here: got the option delay, expected none: the rule says when'],
    [{ id: 'a' }, 'here: got the option id, expected none: the first argument names the recurrence'],
    [{ onDuplicate: 'replace' }, 'here: got the option onDuplicate, expected none: there is one job for each instant.'],
    [{ maxWaitMs: 5 }, 'here: got the option maxWaitMs, expected none: the rule says when the jobs are due.'],
    [{ throttleMs: 5 }, 'here: got the option throttleMs, expected none: the rule says when the jobs are due.'],
    [{ priority: 0 }, 'here: priority: got 0, expected a whole number from 1 to 1000.'],
    [{ prioriti: 1 }, 'here: unknown option "prioriti", did you mean \'priority\'?'],
    [7, 'here: got 7, expected an object of options.'],
  ])('the options %j are refused', (options, message) => {
    expect(refusal(() => readRecurringJob(digest, options as object, undefined, 'here'))).toContain(message);
  });

  it('has a name', () => {
    expect(refusal(() => readRecurringJob(undefined as never, {}, undefined, 'here'))).toContain(
      'here: job: got undefined',
    );
  });
});

describe('a range to backfill', () => {
  it('is read as instants', () => {
    const from = new Date('2027-01-01T00:00:00Z');
    expect(readBackfillRange({ from, to: '2027-01-02T00:00:00+01:00' }, 'here')).toEqual({
      from: from.getTime(),
      to: Date.UTC(2027, 0, 1, 23),
    });
    expect(readBackfillRange({ from, to: from }, 'here')).toEqual({ from: from.getTime(), to: from.getTime() });
  });

  it.each([
    [undefined, 'here: got undefined, expected { from, to }.'],
    [{ from: 1e12 }, 'here: got no to, expected { from, to }: two instants.'],
    [{ to: 1e12 }, 'here: got no from, expected { from, to }: two instants.'],
    [{ from: Number.NaN, to: 1e12 }, 'here: from: got NaN, expected epoch milliseconds.'],
    [{ from: 1e12, to: '2027-01-01' }, 'here: to: got "2027-01-01", expected a Date, epoch milliseconds, or ISO 8601'],
    [{ from: 1e12, til: 1e12 }, 'here: unknown option "til"'],
    [
      { from: 1e12 + 1, to: 1e12 },
      'here: got from 2001-09-09T01:46:40.001Z and to 2001-09-09T01:46:40.000Z, expected a from that is not later than to.',
    ],
  ])('%j is refused', (range, message) => {
    expect(refusal(() => readBackfillRange(range, 'here'))).toContain(message);
  });
});

it('a reason for a pause is one line of up to 1 000 characters', () => {
  expect(readPauseReason({ reason: 'on holiday', queue: 'mail' }, 'here')).toEqual({
    reason: 'on holiday',
    queue: 'mail',
  });
  expect(readPauseReason(undefined, 'here')).toEqual({});
  expect(refusal(() => readPauseReason({ reason: '' }, 'here'))).toContain('here: reason: got ""');
  expect(refusal(() => readPauseReason({ reason: 'x'.repeat(1_001) }, 'here'))).toContain('(1001 characters)');
  expect(refusal(() => readPauseReason('holiday' as never, 'here'))).toBe(
    'here: got "holiday", expected an object of options (reason, queue).',
  );
});

it('a page holds the first 1 000 of the default queue unless the call says otherwise', () => {
  expect(readRecurrencesPage(undefined)).toEqual({ queue: 'default', offset: 0, limit: 1_000 });
  expect(readRecurrencesPage({ queue: 'mail', offset: 5, limit: 10_000 })).toEqual({
    queue: 'mail',
    offset: 5,
    limit: 10_000,
  });
  for (const page of [
    { offset: -1 },
    { limit: 0 },
    { limit: 10_001 },
    { limit: Number.NaN },
    { queue: 'a b' },
    { off: 1 },
  ])
    expect(refusal(() => readRecurrencesPage(page as object))).toMatch(/^recurrences: /);
});
