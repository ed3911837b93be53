import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { relayKey } from '../../lib/index.js';
import { DAY, recurrenceOf } from '../contract/recurring.js';
import { QUEUE, TestStore, TestWorker } from '../support/store.js';

let test: TestStore;
const key = (name: string) => `${test.prefix}:{${QUEUE}}:${name}`;

beforeEach(() => {
  test = new TestStore();
});

afterEach(() => test.close());

/** As an eviction does, or somebody. */
const loseGate = () => test.redis.del(key('gate'));
const gate = () => test.redis.hgetall(key('gate'));

describe('where the key gate is lost', () => {
  const sessions = {
    worker: () => test.worker('fresh'),
    relay: () =>
      new TestWorker(
        test.sessions.relay('r', undefined, { type: 'list', key: relayKey(QUEUE, test.prefix), maxLength: 0 }),
      ),
  };

  it.each(['worker', 'relay'] as const)('the first turn of a %s has the queue tended', async (kind) => {
    await test.recurrences.upsert(recurrenceOf({ everyMs: DAY }));
    await loseGate();
    expect((await sessions[kind]().turn({ limit: 1 })).tendInMs).toBe(0);
    expect(await test.recurrences.tend()).toBeLessThanOrEqual(7_000);
    expect((await gate()).tendAt).toMatch(/^\d+$/);
    const { tendInMs } = await sessions[kind]().turn({ limit: 1 });
    expect(tendInMs).toBeGreaterThan(0);
  });
});

it('a queue without recurrences and blackouts is tended by nobody', async () => {
  await test.schedule();
  expect((await test.worker('w').turn({ limit: 1 })).tendInMs).toBeUndefined();
});
