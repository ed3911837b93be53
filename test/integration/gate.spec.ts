import { afterEach, describe, expect, it } from '@jest/globals';
import type { QueueOptions } from '../../lib/core/options/queue-options.js';
import { newJob, QUEUE, settlement, TestStore } from '../support/store.js';
import { until } from '../support/wait.js';

let test: TestStore;

afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

async function scheduled(count: number, options: QueueOptions): Promise<void> {
  test = new TestStore(options);
  await test.scheduleAll(Array.from({ length: count }, () => newJob()));
}

const key = (name: string) => `${test.prefix}:{${QUEUE}}:${name}`;

describe('a limit over all processes', () => {
  it('lets so many run at once, whoever claims them', async () => {
    await scheduled(20, { globalConcurrency: 7 });
    const [first, second] = [test.worker('w1'), test.worker('w2')];
    const held = await first.claim(5);
    expect(held).toHaveLength(5);
    expect(await second.claim(5)).toHaveLength(2);
    expect(await first.claim(5)).toHaveLength(0);
    expect(await second.claim(5)).toHaveLength(0);
    const { claimed } = await second.turn({ limit: 5 });
    expect(claimed).toHaveLength(0);
    // What ends in a turn makes room in that turn.
    const answer = await first.turn({ settlements: held.slice(0, 3).map((job) => settlement.complete(job)), limit: 5 });
    expect(answer.claimed).toHaveLength(3);
  });

  it('does not make a worker look again and again while all places are taken', async () => {
    await scheduled(3, { globalConcurrency: 1, maxSleepMs: 3_000 });
    await test.worker('w1').claim();
    const { claimed, sleepMs } = await test.worker('w2').turn({ limit: 10 });
    expect(claimed).toEqual([]);
    expect(sleepMs).toBeGreaterThan(2_000);
  });

  it('counts what failed, was discarded or went back as ended', async () => {
    await scheduled(6, { globalConcurrency: 4 });
    const worker = test.worker('w1');
    const held = await worker.claim(4);
    await worker.settle(
      settlement.complete(held[0]!),
      settlement.retry(held[1]!, 60_000),
      { id: held[2]!.id, fence: held[2]!.fence, transition: 'discard', idWasChosen: false },
      { id: held[3]!.id, fence: held[3]!.fence, transition: 'release' },
    );
    expect(await worker.claim(9)).toHaveLength(3);
  });

  it('what a turn puts back makes room in that turn', async () => {
    await scheduled(4, { globalConcurrency: 2 });
    const worker = test.worker('w1');
    const settlements = (await worker.claim(2)).map((job) => settlement.retry(job, 60_000));
    expect((await worker.turn({ settlements, limit: 9 })).claimed).toHaveLength(2);
  });

  it('has the places of a dead worker back when its leases have run out', async () => {
    await scheduled(10, { globalConcurrency: 3, leaseMs: 1_000 });
    expect(await test.worker('dies').claim(3)).toHaveLength(3);
    const worker = test.worker('lives');
    const claimed: unknown[] = [];
    await until('the places are back', async () => {
      claimed.push(...(await worker.claim(10)));
      return claimed.length > 0;
    });
    expect(claimed).toHaveLength(3);
    expect(await test.view.stats()).toMatchObject({ recovered: 3 });
  });
});

describe('a rate', () => {
  it('lets so many begin within a window, whoever claims them, and drops none', async () => {
    await scheduled(30, { rateLimit: { max: 10, perMs: 400 } });
    const workers = [test.worker('w1'), test.worker('w2')];
    const starts: number[] = [];
    await until('all have begun', async () => {
      for (const worker of workers) {
        const claimed = await worker.claim(4);
        starts.push(...claimed.map(({ claimedAtMs }) => claimedAtMs));
        await worker.settle(...claimed.map((job) => settlement.complete(job)));
      }
      return starts.length === 30;
    });
    starts.sort((a, b) => a - b);
    const tooSoon = starts.slice(10).filter((at, i) => at - starts[i]! < 400);
    expect(tooSoon).toEqual([]);
    expect(await test.view.counts()).toMatchObject({ due: 0, active: 0, dead: 0 });
  });

  it('tells a worker when the next may begin', async () => {
    await scheduled(5, { rateLimit: { max: 2, perMs: 1_000 } });
    const worker = test.worker('w1');
    const { claimed, sleepMs } = await worker.turn({ limit: 10 });
    expect(claimed).toHaveLength(2);
    expect(sleepMs).toBeGreaterThan(900);
    expect(sleepMs).toBeLessThanOrEqual(1_020);
    const [begun] = claimed;
    await until('some of the window is over', () => Date.now() > begun!.claimedAtMs + 300);
    const later = await test.worker('w2').turn({ limit: 10 });
    expect(later.claimed).toEqual([]);
    expect(later.sleepMs).toBeLessThanOrEqual(720);
  });

  it('counts a start for a window and no millisecond less', async () => {
    const MAX = 600;
    // What is asked for, and 2 % more.
    const WINDOW_MS = 500 + 10;
    await scheduled(400, { rateLimit: { max: MAX, perMs: 500 } });
    // One job has started in each of the last thousand milliseconds.
    const { nowMs } = await test.view.nextDue();
    const starts = Array.from({ length: 1_000 }, (_, i) => nowMs - 999 + i);
    await test.redis.zadd(key('rate'), ...starts.flatMap((at, i) => [at, String(i + 1)]));
    const startedIn = (endMs: number) => starts.filter((at) => at > endMs - WINDOW_MS).length;

    const limits = await test.view.limits();
    expect(limits.started).toBe(startedIn(limits.nowMs));
    const claimed = await test.worker('w1').claim(400);
    expect(claimed.length).toBe(MAX - startedIn(claimed[0]!.claimedAtMs));
  });

  it('keeps no more of the past than it needs', async () => {
    await scheduled(40, { rateLimit: { max: 1_000, perMs: 1_000 } });
    const worker = test.worker('w1');
    for (let i = 0; i < 40; i++) {
      const [claimed] = await worker.claim(1);
      await worker.settle(settlement.complete(claimed!));
    }
    const last = Number(await test.redis.zscore(key('rate'), '40'));
    await until('a window has passed', () => Date.now() > last + 1_020);
    await test.schedule();
    expect(await worker.claim(1)).toHaveLength(1);
    // The last one before the window, which the others are counted from, and this one.
    expect(await test.redis.zcard(key('rate'))).toBeLessThanOrEqual(2);
    expect(await test.redis.pttl(key('rate'))).toBeGreaterThan(0);
    await worker.settle();
  });

  it('is not shut for longer than a window where the clock of Redis went back', async () => {
    await scheduled(4, { rateLimit: { max: 2, perMs: 300 } });
    // As if two had begun in an hour's time, one after the other.
    await test.redis.zadd(key('rate'), Date.now() + 3_500_000, '1');
    await test.redis.zadd(key('rate'), Date.now() + 3_600_000, '2');
    const worker = test.worker('w1');
    expect(await worker.claim(4)).toHaveLength(0);
    await until('the window is over', async () => (await worker.claim(4)).length === 2);
  });
});

describe('a pause', () => {
  it('lets nothing be claimed, and settles what runs', async () => {
    await scheduled(3, {});
    const worker = test.worker('w1');
    const [running] = await worker.claim(1);
    await test.redis.hset(key('gate'), 'pausedUntil', 'inf');
    const { claimed, settled, sleepMs } = await worker.turn({ settlements: [settlement.complete(running!)], limit: 5 });
    expect({ claimed, settled }).toEqual({ claimed: [], settled: ['counted'] });
    expect(sleepMs).toBeGreaterThan(1_000);
    await test.redis.hdel(key('gate'), 'pausedUntil');
    expect(await worker.claim(5)).toHaveLength(2);
  });

  it('ends by itself at its time', async () => {
    await scheduled(1, {});
    const until_ = Date.now() + 300;
    await test.redis.hset(key('gate'), 'pausedUntil', until_);
    const worker = test.worker('w1');
    const { claimed, sleepMs } = await worker.turn({ limit: 5 });
    expect(claimed).toEqual([]);
    expect(sleepMs).toBeLessThanOrEqual(300);
    let taken: readonly { claimedAtMs: number }[] = [];
    await until('it is over', async () => {
      taken = await worker.claim();
      return taken.length > 0;
    });
    expect(taken[0]!.claimedAtMs).toBeGreaterThanOrEqual(until_);
  });
});

describe('who makes room in a queue that was full', () => {
  it('tells a sleeper of each group, its own among them if it does not look itself', async () => {
    await scheduled(3, { globalConcurrency: 1 });
    const worker = test.worker('w1');
    const [first] = await worker.claim(1);
    const sleepers = [await test.asleep('w2', 'other'), await test.asleep('w3', 'work')];
    const [second] = (await worker.turn({ settlements: [settlement.complete(first!)], limit: 1 })).claimed;
    expect(sleepers.map(({ told }) => told.length)).toEqual([0, 0]);
    await worker.turn({ settlements: [settlement.complete(second!)], limit: 0 });
    await until('both are told', () => sleepers.every(({ told }) => told.length === 1));
  });
});
