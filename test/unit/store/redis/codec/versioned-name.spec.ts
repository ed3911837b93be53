import { describe, expect, it } from '@jest/globals';
import { jobName } from '../../../../../lib/core/read/names.js';
import {
  readVersionedName,
  versionedName,
  versionedNames,
  withoutVersions,
} from '../../../../../lib/store/redis/codec/versioned-name.js';

describe('a versioned name', () => {
  it('is the name alone for version 1, so that jobs without versions cost nothing', () => {
    expect(versionedName('mail')).toBe('mail');
    expect(versionedName('mail', 1)).toBe('mail');
    expect(readVersionedName('mail')).toEqual({ name: 'mail' });
  });

  it.each(['mail', 'a:b c', 'mail2', '*', '2'])('of %j is read as it was written', (name) => {
    for (const version of [2, 10, 10_000])
      expect(readVersionedName(versionedName(name, version))).toEqual({ name, version });
  });

  it('is no name that a job can have, as what separates the version is not printable', () => {
    expect(jobName(versionedName('mail', 2))).toHaveProperty('problem');
  });
});

it('a session handles each version of each name', () => {
  const versions = new Map([
    ['a', { first: 1, last: 3 }],
    ['b', { first: 4, last: 4 }],
  ]);
  const handled = versionedNames(['a', 'b', 'c'], versions);
  expect(handled.map(readVersionedName)).toEqual([
    { name: 'a' },
    { name: 'a', version: 2 },
    { name: 'a', version: 3 },
    { name: 'b', version: 4 },
    { name: 'c' },
  ]);
  expect(withoutVersions(handled)).toEqual(['a', 'b', 'c']);
});
