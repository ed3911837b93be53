import { describe, expect, it } from '@jest/globals';
import {
  DuplicateHandlerError,
  InvalidOptionsError,
  InvalidPayloadError,
  InvalidScheduleError,
  LeaseLostError,
  PayloadTooLargeError,
  QueueClosedError,
  QueueUnavailableError,
  ScheduledQueueError,
} from '../../../lib/core/errors.js';

const FIELDS = { queue: 'mail', jobName: 'reminder.send', jobId: 'r7', cause: new Error('below') };

describe.each([
  ['InvalidOptionsError', 'INVALID_OPTIONS', new InvalidOptionsError('m', FIELDS)],
  ['InvalidScheduleError', 'INVALID_SCHEDULE', new InvalidScheduleError('m', FIELDS)],
  ['InvalidPayloadError', 'INVALID_PAYLOAD', new InvalidPayloadError('m', [], FIELDS)],
  ['PayloadTooLargeError', 'PAYLOAD_TOO_LARGE', new PayloadTooLargeError(2, 1, FIELDS)],
  ['DuplicateHandlerError', 'DUPLICATE_HANDLER', new DuplicateHandlerError('m', FIELDS)],
  ['LeaseLostError', 'LEASE_LOST', new LeaseLostError('m', FIELDS)],
  ['QueueClosedError', 'QUEUE_CLOSED', new QueueClosedError('m', FIELDS)],
  ['QueueUnavailableError', 'QUEUE_UNAVAILABLE', new QueueUnavailableError('m', 'refused', FIELDS)],
])('%s', (name, code, error) => {
  it('is told by its class, its name and a code that stays', () => {
    expect(error).toBeInstanceOf(ScheduledQueueError);
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe(name);
    expect(error.code).toBe(code);
  });

  it('says where it happened and why', () => {
    expect(error).toMatchObject(FIELDS);
    expect(error.stack).toContain('errors.spec.ts');
  });
});

it('an error of a payload says what was found', () => {
  const findings = [{ path: 'email', messages: ['email must be an email'] }];
  expect(new InvalidPayloadError('m', findings).findings).toEqual(findings);
  expect(new PayloadTooLargeError(2, 1, FIELDS)).toMatchObject({ bytes: 2, maxBytes: 1 });
});

it('an outage says whether the call may have happened', () => {
  expect(new QueueUnavailableError('m', 'refused').outcome).toBe('refused');
  expect(new QueueUnavailableError('m', 'unknown').outcome).toBe('unknown');
});

it('an outage says what Redis answered, where it did', () => {
  expect(new QueueUnavailableError('m', 'refused', { redisCode: 'OOM' }).redisCode).toBe('OOM');
  expect(new QueueUnavailableError('m', 'refused').redisCode).toBeUndefined();
});

it('an error without a cause has none', () => {
  expect('cause' in new InvalidOptionsError('m')).toBe(false);
});

it('an outage names every job of the call, so that the same call can be sent again', () => {
  expect(new QueueUnavailableError('m', 'unknown', { jobIds: ['a', 'b'] }).jobIds).toStrictEqual(['a', 'b']);
  expect(new QueueUnavailableError('m', 'unknown', { jobId: 'a' }).jobIds).toStrictEqual(['a']);
  expect(new QueueUnavailableError('m', 'refused').jobIds).toStrictEqual([]);
});
