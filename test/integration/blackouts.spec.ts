import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { BlackoutRule, FixedBlackout } from '../../lib/core/blackouts/blackout.js';
import { windowsAt } from '../../lib/core/blackouts/windows.js';
import type { QueueOptions } from '../../lib/core/options/queue-options.js';
import { relayKey } from '../../lib/index.js';
import { formatWindows } from '../../lib/store/redis/codec/blackout-text.js';
import { type OwnRedisServer, startOwnServer } from '../support/redis-server.js';
import { QUEUE, TestStore, TestWorker } from '../support/store.js';
import { until } from '../support/wait.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let test: TestStore;
const others: TestStore[] = [];
let server: OwnRedisServer | undefined;

function open(options: QueueOptions = {}, url?: string): void {
  test = new TestStore(options, url);
}

/** Another process on the same queue. */
function another(): TestStore {
  const other = new TestStore({}, undefined, test.prefix);
  others.push(other);
  return other;
}

const key = (name: string) => `${test.prefix}:{${QUEUE}}:${name}`;
const range = (fromMs: number, toMs: number): FixedBlackout => ({
  fromMs: Date.now() + fromMs,
  toMs: Date.now() + toMs,
});
const text = ({ fromMs, toMs }: FixedBlackout) => `${fromMs}-${toMs}`;
const EVERY_NIGHT: BlackoutRule = { cron: '0 22 * * *', timeZone: 'UTC', durationMs: 8 * HOUR };
const gate = () => test.redis.hgetall(key('gate'));

beforeEach(() => open());

afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  for (const other of others.splice(0)) await other.close();
  await test.close();
  await server?.stop();
  server = undefined;
});

describe('in the gate, blackouts', () => {
  it('are windows in their order, and the list as it was set', async () => {
    const [first, second] = [range(HOUR, 2 * HOUR), range(3 * HOUR, 4 * HOUR)];
    const rules = [second, first, range(-2 * DAY, -DAY)];
    await test.management.setBlackouts(rules);
    expect(await gate()).toEqual({
      blackouts: `${text(first)} ${text(second)}`,
      blackoutRules: JSON.stringify(rules),
    });
  });

  it('are gone with an empty list, and whatever else it holds stays', async () => {
    await test.management.setBlackouts([range(0, HOUR), EVERY_NIGHT]);
    await test.redis.hset(key('gate'), 'pausedUntil', 'inf');
    await test.management.setBlackouts([]);
    expect(await gate()).toEqual({ pausedUntil: 'inf' });
  });

  it('are known for a month where they come each night, and the queue is shut behind it', async () => {
    await test.management.setBlackouts([EVERY_NIGHT]);
    const { blackouts, blackoutsTendAt } = await gate();
    const windows = blackouts!.split(' ');
    expect(windows.length).toBeGreaterThanOrEqual(33);
    const last = windows.at(-1)!;
    expect(last).toMatch(/^\d+-inf$/);
    expect(Number.parseInt(last, 10) - Date.now()).toBeGreaterThan(31 * DAY);
    expect(Number(blackoutsTendAt) - Date.now()).toBeGreaterThan(15.5 * DAY);
  });

  it('are a hundred ahead at most, and take a few kilobytes, where they come every few seconds', async () => {
    await test.management.setBlackouts([{ cron: '*/10 * * * * *', timeZone: 'UTC', durationMs: 1_000 }]);
    const { blackouts } = await gate();
    expect(blackouts!.split(' ')).toHaveLength(50 + 100 + 1);
    expect(blackouts!.length).toBeLessThan(5_000);
  });

  it('may hold a thousand rules, which are told as they were set', async () => {
    const rules = Array.from({ length: 1_000 }, (_, i) => ({
      cron: `${i % 60} ${i % 24} * * *`,
      timeZone: 'Europe/Paris',
      durationMs: 1_000 + i,
    }));
    await test.management.setBlackouts(rules);
    expect((await test.view.blackouts()).rules).toEqual(rules);
  });

  it('shut the queue in the right window, however many are over', async () => {
    const HALF_MINUTE = 30_000;
    for (let over = 0; over <= 150; over += 3) {
      for (const isOn of [true, false]) {
        const firstFromMs = Date.now() - over * HOUR + (isOn ? -1_000 : HALF_MINUTE);
        const windows = Array.from({ length: 150 }, (_, i) => firstFromMs + i * HOUR);
        const texts = windows.map((fromMs) => text({ fromMs, toMs: fromMs + HALF_MINUTE }));
        await test.redis.hset(key('gate'), 'blackouts', texts.join(' '));
        const until = isOn && over < 150 ? windows[over]! + HALF_MINUTE : undefined;
        expect([over, isOn, (await test.view.blackouts()).untilMs]).toEqual([over, isOn, until]);
      }
    }
  });

  it.each([
    ['neither two times', 'some text'],
    ['a time and a word', '5-ever'],
    ['nothing', ''],
  ])('shut nothing where somebody has made the windows %s', async (_, damage) => {
    await test.management.setBlackouts([range(0, HOUR)]);
    await test.redis.hset(key('gate'), 'blackouts', damage);
    await test.schedule();
    expect(await test.worker('w').claim()).toHaveLength(1);
    expect((await test.view.blackouts()).untilMs).toBeUndefined();
  });

  it('say so where somebody has damaged the list', async () => {
    await test.management.setBlackouts([EVERY_NIGHT]);
    await test.redis.hset(key('gate'), 'blackoutRules', '{');
    await expect(test.view.blackouts()).rejects.toThrow(/blackouts of queue 'default' is damaged.*setBlackouts/);
    await test.management.setBlackouts([]);
    expect((await test.view.blackouts()).rules).toEqual([]);
  });
});

describe('a turn', () => {
  /** How many commands a turn is, those inside its script included. */
  async function commandsOf(worker: TestWorker): Promise<number> {
    await worker.turn({ limit: 1 });
    await test.redis.config('RESETSTAT');
    await worker.turn({ limit: 1 });
    const info = await test.redis.info('commandstats');
    const calls = [...info.matchAll(/^cmdstat_(\S+?):calls=(\d+)/gm)].filter(([, name]) => !name!.startsWith('config'));
    return calls.reduce((sum, [, , count]) => sum + Number(count), 0);
  }

  it('asks Redis nothing more where blackouts are ahead than without them, and no more than in a pause where one is on', async () => {
    server = await startOwnServer();
    await test.close();
    open({ leaseMs: HOUR }, server.url);
    const worker = test.worker('w');
    const relay = new TestWorker(
      test.sessions.relay('r', undefined, { type: 'list', key: relayKey(QUEUE, test.prefix), maxLength: 0 }),
    );
    const count = async () => [await commandsOf(worker), await commandsOf(relay)];
    // With a gate, so that both are whole turns: blackouts are a use that an ordinary turn does not know.
    await test.redis.hset(key('gate'), 'other', '1');
    const without = await count();
    expect(Math.min(...without)).toBeGreaterThan(3);
    await test.management.setBlackouts([range(HOUR, 2 * HOUR), EVERY_NIGHT]);
    // Unless the night has come.
    if ((await test.view.blackouts()).untilMs === undefined) expect(await count()).toEqual(without);
    await test.management.setBlackouts([]);
    await test.management.pause();
    const paused = await count();
    await test.management.resume();
    await test.management.setBlackouts([range(-HOUR, HOUR)]);
    expect(await count()).toEqual(paused);
  });
});

describe('a relay', () => {
  it('moves nothing in a blackout, and everything after it', async () => {
    const target = relayKey(QUEUE, test.prefix);
    const relay = new TestWorker(test.sessions.relay('r', undefined, { type: 'list', key: target, maxLength: 0 }));
    await test.scheduleAll([]);
    await test.schedule();
    await test.schedule();
    await test.management.setBlackouts([range(-1, 300)]);
    expect((await relay.turn({ limit: 5 })).sleepMs).toBeLessThanOrEqual(300);
    expect(await test.redis.exists(target)).toBe(0);
    await until('it is over', async () => {
      await relay.turn({ limit: 5 });
      return (await test.redis.llen(target)) === 2;
    });
    await test.redis.del(target);
  });
});

describe('whoever a job prefers is told of the end', () => {
  it.each([
    [
      'a blackout',
      () => test.management.setBlackouts([range(-1, HOUR)]),
      () => test.management.setBlackouts([range(-1, 400)]),
    ],
    ['a pause', () => test.management.pause(HOUR), () => test.management.pause(400)],
  ])('of %s that is made shorter', async (_, shut, shorten) => {
    await test.close();
    open({ leaseMs: HOUR, maxSleepMs: 20_000, stealAfterMs: HOUR });
    await shut();
    const ids = ['a', 'b', 'c', 'd'];
    for (const worker of ids) await test.schedule({ worker, due: { delayMs: worker === 'd' ? 200 : 0 } });
    const workers = ids.map((id) => test.worker(id));
    const told = await Promise.all(workers.map((worker) => worker.listens()));
    for (const worker of workers) expect((await worker.turn({ limit: 1 })).sleepMs).toBeGreaterThan(10_000);
    for (const each of told) each.length = 0;
    await shorten();
    await until('each is told', () => told.every((each) => each.some((inMs) => inMs <= 1_000)));
  });
});

describe('where nobody has computed how a blackout goes on', () => {
  /** As it is when nobody has tended the queue for a month. */
  async function forget(): Promise<void> {
    const since = Date.now() - DAY;
    await test.redis.hset(key('gate'), {
      blackouts: `${since - HOUR}-${since} ${since}-inf`,
      blackoutsTendAt: since - DAY,
    });
  }
  /** It is on for a moment in half a year. */
  const distant = (): BlackoutRule => ({
    cron: `0 0 1 ${((new Date().getUTCMonth() + 6) % 12) + 1} *`,
    timeZone: 'UTC',
    durationMs: 1_000,
  });

  it('the queue is shut, until somebody computes it, which tells who sleeps', async () => {
    await test.close();
    open({ leaseMs: HOUR, maxSleepMs: 10_000 });
    await test.management.setBlackouts([distant()]);
    await forget();
    await test.schedule();
    const worker = test.worker('w');
    const told = await worker.listens();
    told.length = 0;
    const { claimed, sleepMs } = await worker.turn({ limit: 5 });
    expect(claimed).toEqual([]);
    expect(sleepMs).toBeGreaterThan(5_000);
    expect((await test.view.blackouts()).untilMs).toBe(Number.POSITIVE_INFINITY);
    expect(await test.management.tendBlackouts()).toBeGreaterThan(DAY);
    await until('it is told', () => told.length > 0);
    expect(await worker.claim()).toHaveLength(1);
    expect((await test.view.blackouts()).untilMs).toBeUndefined();
  });

  it('every turn that claims tells when to tend the queue, and whoever tends its recurrences computes it', async () => {
    const { recurrences } = test.store.queue(QUEUE);
    const worker = test.worker('w');
    expect((await worker.turn({ limit: 1 })).tendInMs).toBeUndefined();
    await test.management.setBlackouts([EVERY_NIGHT]);
    expect((await worker.turn({ limit: 1 })).tendInMs).toBeGreaterThan(15 * DAY);
    expect(await recurrences.tend()).toBeGreaterThan(15 * DAY);
    // Turns run no code of recurrences for it.
    expect(await test.redis.hexists(key('gate'), 'tendAt')).toBe(0);
    await forget();
    expect((await worker.turn({ limit: 1 })).tendInMs).toBe(0);
    expect(await recurrences.tend()).toBeGreaterThan(15 * DAY);
    expect((await worker.turn({ limit: 1 })).tendInMs).toBeGreaterThan(15 * DAY);
    await test.redis.hset(key('gate'), 'tendAt', Date.now() + 5_000);
    expect((await worker.turn({ limit: 1 })).tendInMs).toBeLessThanOrEqual(5_000);
    await test.redis.hdel(key('gate'), 'tendAt');
    await test.management.setBlackouts([]);
    expect((await worker.turn({ limit: 1 })).tendInMs).toBeUndefined();
    expect(await recurrences.tend()).toBeUndefined();
  });

  it('turns have it computed anew once the clock of Redis was set back', async () => {
    const always: BlackoutRule = { cron: '* * * * *', timeZone: 'UTC', durationMs: 59_999 };
    await test.management.setBlackouts([always]);
    expect((await test.worker('w').turn({ limit: 1 })).tendInMs).toBeGreaterThan(10 * 60_000);
    const known = windowsAt(Date.now() + 2 * HOUR, [always]);
    await test.redis.hset(key('gate'), { blackouts: formatWindows(known), blackoutsTendAt: known.moreAtMs! });
    expect((await test.worker('w').turn({ limit: 1 })).tendInMs).toBe(0);
    const tendInMs = await test.recurrences.tend();
    expect(tendInMs).toBeGreaterThan(10 * 60_000);
    expect(tendInMs).toBeLessThan(HOUR);
    expect((await test.worker('w').turn({ limit: 1 })).tendInMs).toBeGreaterThan(10 * 60_000);
  });

  it('several processes may compute it at once', async () => {
    await test.management.setBlackouts([EVERY_NIGHT]);
    const { blackouts, blackoutRules } = await gate();
    await forget();
    const tendings = [test, another(), another()].map(({ management }) => management.tendBlackouts());
    for (const inMs of await Promise.all(tendings)) expect(inMs).toBeGreaterThan(15 * DAY);
    expect(await gate()).toMatchObject({ blackouts, blackoutRules });
  });

  it('nobody puts an old list in the place of one that is set meanwhile', async () => {
    const other = another();
    await other.view.counts();
    const set: BlackoutRule = { cron: '0 3 * * *', timeZone: 'UTC', durationMs: HOUR };
    for (let i = 0; i < 20; i++) {
      await test.management.setBlackouts([EVERY_NIGHT]);
      await forget();
      const setting = other.management.setBlackouts([set]);
      const tending = test.management.tendBlackouts();
      await setting;
      await tending;
      expect((await test.view.blackouts()).rules).toEqual([set]);
    }
  });
});

it('a process whose clock is an hour off computes the same as others', async () => {
  const every: BlackoutRule = { cron: '0 * * * *', timeZone: 'UTC', durationMs: 60_000 };
  await test.management.setBlackouts([every]);
  const { blackouts } = await gate();
  const clock = jest.spyOn(Date, 'now');
  try {
    for (const offMs of [-HOUR, HOUR]) {
      const now = performance.timeOrigin + performance.now() + offMs;
      clock.mockReturnValue(now);
      await another().management.setBlackouts([every]);
      clock.mockReset();
      expect(await gate()).toMatchObject({ blackouts });
    }
  } finally {
    clock.mockRestore();
  }
});
