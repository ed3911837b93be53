import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CallerPool } from '../../../lib/store/redis/calls/caller-pool.js';
import { DAY, HOUR, MINUTE, recurrenceOf } from '../../contract/recurring.js';
import { RedisWorld } from '../../contract/redis-world.js';
import { ManualClock } from '../../support/manual-clock.js';
import { whyNoStoppedRedis } from '../../support/stopped-redis.js';
import { TestStore } from '../../support/store.js';

afterEach(() => {
  jest.restoreAllMocks();
});

/** Has this done once, after a process was asked for instants and before it gives them. */
function whileReckoning(act: () => unknown): void {
  const { call } = CallerPool.prototype;
  jest.spyOn(CallerPool.prototype, 'call').mockImplementation(async function (this: CallerPool, script, args, bytes) {
    if ('reckonedAt' in (args as object)) {
      jest.restoreAllMocks();
      await act();
    }
    return call.call(this, script, args, bytes) as never;
  });
}

describe('instants that were reckoned by a rule before', () => {
  let test: TestStore;
  beforeEach(() => {
    test = new TestStore();
  });
  afterEach(() => test.close());

  it('are not added to those of the rule that has taken its place', async () => {
    const daily = { cron: '0 9 * * *' };
    const first = (await test.recurrences.upsert(recurrenceOf(daily))).nextAtMs!;
    const day = (number: number) => first + number * DAY;
    const next = async () => (await test.recurrences.get('r'))?.nextAtMs;
    const skip = async () => test.jobs.cancel(`r@${await next()}`);
    await skip();
    await skip();
    // So few are left that more are asked for. The first five days are those of both rules.
    const excluded = recurrenceOf({ ...daily, exclude: [day(5)] });
    let status: string | undefined;
    whileReckoning(async () => {
      status = (await test.recurrences.upsert(excluded)).status;
    });
    await skip();
    expect({ status, next: await next() }).toEqual({ status: 'changed', next: day(3) });
    const seen: unknown[] = [];
    for (let i = 0; i < 3; i++) {
      await skip();
      seen.push(await next());
    }
    expect(seen).toEqual([day(4), day(6), day(7)]);
  });
});

const missing = whyNoStoppedRedis();
(missing ? describe.skip : describe)('instants that were reckoned while the clock of Redis was ahead', () => {
  let world: RedisWorld;
  beforeEach(async () => {
    world = await RedisWorld.start(new ManualClock());
  });
  afterEach(async () => {
    await world.close();
    await world.stop();
  });

  it('leave none out that is still to come', async () => {
    const { recurrences, view } = world.store();
    const rule = recurrenceOf({ cron: '* * * * *', onMissed: 'all', missedWithinMs: 5 * MINUTE });
    const first = (await recurrences.upsert(rule)).nextAtMs!;
    world.jump(HOUR);
    // As many would be left out as are older than what is made up for.
    whileReckoning(() => world.jump(-HOUR));
    await recurrences.tend(['r']);
    const ran: string[] = [];
    for (let i = 0; i < 20; i++) {
      world.pass(first + i * MINUTE - world.now());
      await recurrences.tend(['r']);
      ran.push(...(await world.worker('w').claim()).map(({ id }) => id));
    }
    expect(ran).toEqual(Array.from({ length: 20 }, (_, i) => `r@${first + i * MINUTE}`));
    expect(await view.stats()).toEqual({ scheduled: 21, started: 20 });
  });
});
