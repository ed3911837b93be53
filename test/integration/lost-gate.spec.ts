import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { BlackoutRule } from '../../lib/core/blackouts/blackout.js';
import { relayKey } from '../../lib/index.js';
import { DAY, HOUR, recurrenceOf } from '../contract/recurring.js';
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
const ALWAYS: BlackoutRule = { cron: '0 * * * *', timeZone: 'UTC', durationMs: HOUR };
const NOW: BlackoutRule = { fromMs: Date.now() - HOUR, toMs: Date.now() + DAY };
const OVER: BlackoutRule = { fromMs: Date.now() - HOUR, toMs: Date.now() - 1 };

describe('where the key gate is lost', () => {
  it.each([
    ['comes again', ALWAYS],
    ['comes once', NOW],
  ])('a blackout that %s is on again once the queue is tended', async (_, rule) => {
    await test.management.setBlackouts([rule]);
    await test.schedule();
    const before = await gate();
    await loseGate();
    const inMs = await test.recurrences.tend();
    if ('cron' in rule) expect(inMs).toBeGreaterThan(HOUR);
    else expect(inMs).toBeUndefined();
    const { blackout, ...others } = await gate();
    expect(blackout!.split(' ')[0]).toBe(before.blackout!.split(' ')[0]);
    expect('blackoutsTendAt' in others).toBe('cron' in rule);
    expect(await test.worker('w').claim()).toEqual([]);
  });

  it('so it is where the recurrences of the queue have brought it back', async () => {
    await test.management.setBlackouts([ALWAYS]);
    await test.schedule();
    await test.recurrences.upsert(recurrenceOf({ everyMs: DAY }));
    await loseGate();
    await test.recurrences.upsert(recurrenceOf({ everyMs: DAY }, {}, 'another'));
    expect(await test.recurrences.tend()).toBeLessThanOrEqual(7_000);
    expect(await test.worker('w').claim()).toEqual([]);
  });

  it('so it is where only the windows are lost, once the last known one is over', async () => {
    await test.management.setBlackouts([ALWAYS]);
    const { blackoutsTendAt } = await gate();
    await test.redis.del(key('blackouts'));
    await test.redis.hset(key('gate'), 'blackout', `- - ${Date.now()}`);
    expect(await test.recurrences.tend()).toBeGreaterThan(HOUR);
    expect((await test.view.blackouts()).untilMs).toBeGreaterThan(Date.now());
    expect(Number((await gate()).blackoutsTendAt)).toBeGreaterThanOrEqual(Number(blackoutsTendAt));
  });

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

  it('the first turn of a session has lost blackouts found', async () => {
    await test.management.setBlackouts([NOW]);
    await loseGate();
    const worker = test.worker('fresh');
    expect((await worker.turn({ limit: 1 })).tendInMs).toBe(0);
    await test.recurrences.tend();
    expect((await worker.turn({ limit: 1 })).tendInMs).toBeUndefined();
    expect((await test.worker('next').turn({ limit: 1 })).tendInMs).toBeUndefined();
  });
});

it('a queue whose blackouts are over for good writes nothing when it is tended', async () => {
  await test.management.setBlackouts([OVER]);
  await loseGate();
  expect(await test.recurrences.tend()).toBeUndefined();
  expect(await gate()).toEqual({});
});

it('a queue without recurrences and blackouts is tended by nobody', async () => {
  await test.schedule();
  expect((await test.worker('w').turn({ limit: 1 })).tendInMs).toBeUndefined();
});
