import { describe, expect, it, jest } from '@jest/globals';
import { InvalidPayloadError } from '../../../../lib/core/errors.js';
import { defineScheduledJob } from '../../../../lib/core/job/definition.js';
import { upgradePayload, versionsOf } from '../../../../lib/core/job/job-versions.js';
import { thrown } from '../../thrown.js';

const FIELDS = { queue: 'default', jobName: 'mail', jobId: 'a' };

const jobVersions = (version?: number, upgrade?: Record<number, (payload: unknown) => unknown>) =>
  versionsOf(defineScheduledJob('mail', { version, upgrade }));
const refused = (payload: unknown, version: number, versions: ReturnType<typeof jobVersions>) =>
  thrown<InvalidPayloadError>(() => upgradePayload(payload, version, versions, FIELDS));

describe('a worker reads', () => {
  it.each([
    ['version 1 alone where its definition says none', undefined, undefined, undefined],
    ['version 1 alone where its definition says so', 1, undefined, undefined],
    ['its own version alone without steps', 3, undefined, [3, 3]],
    ['its own version alone where there are no steps', 3, {}, [3, 3]],
    ['all from the lowest step to its own version', 4, { 2: String, 3: String }, [2, 4]],
    ['versions of a far future', 10_000, { 9999: String }, [9_999, 10_000]],
  ])('%s', (_, version, upgrade, expected) => {
    const versions = jobVersions(version, upgrade);
    expect(versions && [versions.first, versions.last]).toEqual(expected);
  });
});

describe('a payload of an older version', () => {
  const append = (text: string) => jest.fn((payload: unknown) => `${payload}${text}`);

  it('is upgraded step by step, each with what the one before answered', () => {
    const steps = { 1: append('b'), 2: append('c'), 3: append('d') };
    const versions = jobVersions(4, steps);
    expect(upgradePayload('a', 1, versions, FIELDS)).toBe('abcd');
    expect(upgradePayload('a', 3, versions, FIELDS)).toBe('ad');
    expect(upgradePayload('a', 4, versions, FIELDS)).toBe('a');
    expect([steps[1], steps[2], steps[3]].map(({ mock }) => mock.calls.length)).toEqual([1, 1, 2]);
  });

  it('may become nothing, or come of nothing', () => {
    const versions = jobVersions(3, { 1: () => undefined, 2: (payload) => [payload] });
    expect(upgradePayload({ a: 1 }, 1, versions, FIELDS)).toEqual([undefined]);
    expect(upgradePayload(undefined, 2, versions, FIELDS)).toEqual([undefined]);
  });

  it('is invalid where a step throws, with its error as the cause', () => {
    const cause = new RangeError('no such year');
    const versions = jobVersions(3, {
      1: String,
      2: () => {
        throw cause;
      },
    });
    const error = refused('a', 1, versions);
    expect(error).toBeInstanceOf(InvalidPayloadError);
    expect(error).toMatchObject({
      message: "The payload of job 'mail' cannot be upgraded from version 2 to 3: no such year.",
      code: 'INVALID_PAYLOAD',
      queue: 'default',
      jobId: 'a',
      cause,
    });
  });

  it('is invalid whatever a step throws', () => {
    const versions = jobVersions(2, {
      1: () => {
        throw 'just text';
      },
    });
    expect(refused('a', 1, versions).message).toBe(
      "The payload of job 'mail' cannot be upgraded from version 1 to 2: just text.",
    );
  });

  it('is invalid where a step answers a promise, whose rejection ends no process', async () => {
    const unhandled = jest.fn();
    process.once('unhandledRejection', unhandled);
    const versions = jobVersions(2, { 1: () => Promise.reject(new Error('nobody waits')) });
    expect(refused('a', 1, versions).message).toBe(
      "The payload of job 'mail' cannot be upgraded from version 1 to 2: the step answered a promise, expected the payload: a step is synchronous.",
    );
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it.each([
    [5, jobVersions(4, { 3: String }), 'versions 3 to 4'],
    [2, jobVersions(4, { 3: String }), 'versions 3 to 4'],
    [2, jobVersions(3), 'version 3'],
    [2, undefined, 'version 1'],
  ])('is refused in version %i where nobody reads that', (version, versions, read) => {
    expect(refused('a', version, versions).message).toBe(
      `The payload of job 'mail' has version ${version}, expected one that its handler reads: ${read}.`,
    );
  });
});
