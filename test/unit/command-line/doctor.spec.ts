import { expect, it } from '@jest/globals';
import type { BareInstance } from '../../../lib/command-line/bare-instance.js';
import { bigQueue } from '../../../lib/command-line/doctor/check-queue.js';
import { judge } from '../../../lib/command-line/doctor/finding.js';
import { strayKeys } from '../../../lib/command-line/doctor/stray-keys.js';

// What would take a Redis of 160 MiB, or of 10 million keys. What is measured of a hash, lost-index.spec.ts sees.

const MIB = 1024 * 1024;
const holding = (bytes: number) => {
  const inspection = () => ({ largestHash: async () => ({ key: 'sq:{mail}:jobs', bytes }) });
  return { store: { inspection } } as unknown as BareInstance;
};

it('a queue is too large for a move between nodes from 160 MiB in one key on', async () => {
  expect(await bigQueue(holding(160 * MIB - 1), 'mail')).toEqual([]);
  expect(await bigQueue(holding(160 * MIB), 'mail')).toEqual([
    expect.stringMatching(
      /^The key sq:\{mail\}:jobs holds about 160 MiB, .*let queue 'mail' drain or give the move time/,
    ),
  ]);
});

it('where not all keys were looked at, whether there are stray ones is unknown, unless one was seen', async () => {
  const among = (...keys: string[]) => {
    const eachKey = async (_most: number, each: (key: string) => void) => {
      for (const key of keys) each(key);
      return false;
    };
    const instance = {
      prefix: 'sq',
      store: { servers: { eachKey } },
      inspector: { queues: async () => [{ name: 'mail' }] },
    };
    return judge('stray-keys', () => strayKeys(instance as unknown as BareInstance));
  };
  expect(await among('sq:{mail}:jobs')).toMatchObject([
    { level: 'unknown', message: 'Only 10000000 keys of each server were looked at.' },
  ]);
  expect(await among('sq:{mail}:jobs', 'sq:a')).toMatchObject([{ level: 'problem' }]);
});
