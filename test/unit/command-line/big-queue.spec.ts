import { expect, it } from '@jest/globals';
import type { BareInstance } from '../../../lib/command-line/bare-instance.js';
import { bigQueue } from '../../../lib/command-line/doctor/big-queue.js';

// To plant such a queue takes a Redis of 256 MiB: what is measured of a hash, lost-index.spec.ts sees.

const MIB = 1024 * 1024;
const holding = (bytes: number) => {
  const inspection = () => ({ largestHash: async () => ({ key: 'sq:{mail}:jobs', bytes }) });
  return { store: { inspection } } as unknown as BareInstance;
};

it('a queue is too large for a move between nodes from 256 MiB in one key on', async () => {
  expect(await bigQueue(holding(256 * MIB - 1), 'mail')).toEqual([]);
  expect(await bigQueue(holding(256 * MIB), 'mail')).toEqual([
    expect.stringMatching(/^The key sq:\{mail\}:jobs holds about 256 MiB, .*Let queue 'mail' drain before its slot is/),
  ]);
});
