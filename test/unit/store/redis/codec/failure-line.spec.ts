import { describe, expect, it } from '@jest/globals';
import type { Failure } from '../../../../../lib/store/envelope.js';
import { decodeFailure, encodeFailure } from '../../../../../lib/store/redis/codec/failure-line.js';

const FAILURE: Failure = { name: 'TypeError', message: 'no such user' };

/** As the scripts put it together. */
const lineOf = (failure: Failure) => `1800000000000 3 ${encodeFailure(failure)}`;

describe('a failure', () => {
  it.each<[string, Partial<Failure>]>([
    ['a name and a message alone', {}],
    ['a code and a cause', { code: 'ECONNREFUSED', cause: 'Error: the way is closed' }],
    ['a stack of several lines', { stack: 'TypeError: no\n    at a (b.js:1:2)\n    at c' }],
    ['why the job is dead', { reason: 'attempts-exhausted' }],
    ['words that look like a reason', { message: '"reason":"crashed"' }],
    ['spaces and nothing else', { name: '', message: '  ' }],
  ])('of %s is read as it was written, in one line', (_what, differs) => {
    const failure = { ...FAILURE, ...differs };
    expect(lineOf(failure)).not.toContain('\n');
    expect(decodeFailure(lineOf(failure))).toEqual({ atMs: 1_800_000_000_000, attempt: 3, ...failure });
  });

  it('names its reason as the scripts that look for the dead search it, and in no quotation', () => {
    expect(encodeFailure({ ...FAILURE, reason: 'late' })).toContain('"reason":"late"');
    expect(encodeFailure({ ...FAILURE, message: '"reason":"late"' })).not.toContain('"reason":"late"');
  });

  it.each([
    ['JSON that was cut off', '{"name":"Err'],
    ['nothing behind the numbers', ''],
    ['another kind of JSON', '"text"'],
    ['null', 'null'],
    ['fields of other types', '{"name":7,"message":["a"],"stack":null}'],
  ])('damaged to %s keeps its numbers', (_what, json) => {
    expect(decodeFailure(`1800000000000 3 ${json}`)).toEqual({ atMs: 1_800_000_000_000, attempt: 3 });
  });

  it('keeps what can be read of it', () => {
    expect(decodeFailure('1800000000000 3 {"name":7,"message":"no"}')).toEqual({
      atMs: 1_800_000_000_000,
      attempt: 3,
      message: 'no',
    });
  });
});
