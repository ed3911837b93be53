import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { ClaimedJob, NewJob } from '../../lib/store/job-store.js';
import { queueKeys } from '../../lib/store/redis/keys.js';
import { seededRandom } from '../support/random.js';
import { newJob, payloadOf, QUEUE, settlement, TestStore, TestWorker } from '../support/store.js';

/** A store, and a worker whose first turn, which lists it, is over. */
class Way {
  readonly test = new TestStore({ leaseMs: 60_000 });
  readonly keys = queueKeys(this.test.prefix, QUEUE);
  private readonly worker: TestWorker;
  private held: ClaimedJob[] = [];

  constructor(private readonly isLong: boolean) {
    const versions = new Map([['a', { first: 1, last: 2 }]]);
    this.worker = new TestWorker(this.test.sessions.worker('w', { names: ['a', 'b'], versions, limited: isLong }));
  }

  /** The payloads of the jobs that a turn claims; it settles what the turn before has claimed, every third one by giving it back. */
  async claim(limit: number): Promise<string[]> {
    const { claimed } = await this.worker.turn({
      settlements: this.held.map((job, i) => (i % 3 === 2 ? settlement.release(job) : settlement.complete(job))),
      limit,
      // Handlers with limits of their own are not for the short way.
      handlers: this.isLong ? ['a', 'b'].map((name) => ({ name, weight: 1, free: 1_000, size: 1 })) : [],
    });
    this.held = [...claimed];
    return claimed.map((job) => `${payloadOf(job)} ${job.attempt}`);
  }

  /** Two jobs of one call are not for the short way. */
  async schedule(jobs: readonly NewJob[]): Promise<void> {
    if (this.isLong) await this.test.scheduleAll(jobs);
    else for (const job of jobs) await this.test.schedule(job);
  }

  /** The sorted sets of waiting and running jobs, with payloads in the place of ids. */
  async indexes(): Promise<Record<string, string[]>> {
    const { redis } = this.test;
    const { base } = this.keys;
    const payloads = Object.entries(await redis.hgetall(this.keys.jobs)).map(
      ([id, envelope]) => [id, envelope.split('\n')[3]!] as const,
    );
    const named = (text: string) => payloads.reduce((so, [id, payload]) => so.replace(id, payload), text);
    const names = (await redis.keys(`${base}*`))
      .filter((key) => /:(heads:.*|levels|lane:.*|versioned)$/.test(key))
      .sort();
    const read = async (key: string) =>
      [key.slice(base.length), (await redis.zrange(key, '0', '-1', 'WITHSCORES')).map(named)] as const;
    return Object.fromEntries(await Promise.all(names.map(read)));
  }
}

let short: Way;
let long: Way;
beforeEach(async () => {
  [short, long] = [new Way(false), new Way(true)];
  for (const way of [short, long]) await way.claim(1);
});
afterEach(async () => {
  for (const { test } of [short, long]) {
    expect(await test.audit()).toEqual([]);
    await test.close();
  }
});

it.each([1, 2, 3, 4, 5, 6])(
  'the short ways of schedule and turn end where the long ones do (seed %i)',
  async (seed) => {
    const random = seededRandom(seed);
    const below = (count: number) => Math.floor(random() * count);
    const startMs = Date.now() - 60_000;
    for (let step = 0; step < 60; step++) {
      const jobs = Array.from({ length: 2 }, (_, i) => {
        const atMs = startMs + (below(4) === 0 ? 3_600_000 : 0) + below(6);
        const name = below(8) === 0 ? 'b' : 'a';
        return newJob({
          name,
          priority: below(8) === 0 ? 3 : 5,
          due: { at: atMs },
          payload: `"${seed}-${step}-${i}"`,
          ...(below(8) === 0 && { version: 2 }),
        });
      });
      for (const way of [short, long]) await way.schedule(jobs);
      expect(await short.indexes()).toEqual(await long.indexes());
      const limit = [1, 2, 3, 20][below(4)]!;
      if (below(2) === 0) expect(await short.claim(limit)).toEqual(await long.claim(limit));
      expect(await short.indexes()).toEqual(await long.indexes());
    }
  },
);

it('a job whose envelope is empty is handed out to die, and holds up nobody', async () => {
  for (const { test, keys } of [short, long]) {
    const { id } = await test.schedule({ name: 'a' });
    await test.schedule({ name: 'a', payload: '"next"' });
    await test.redis.hset(keys.jobs, id, '');
  }
  const [first, ...rest] = await Promise.all(
    [short, long].map((way) => way.claim(1).catch((error: Error) => error.message)),
  );
  expect(rest).toEqual([first]);
  expect(await short.claim(1)).toEqual(['"next" 1']);
});

it('a job that is written again, as its receipt was evicted, stays in the index of its lane', async () => {
  const { test, keys } = short;
  const monitor = await test.redis.monitor();
  const calls: string[][] = [];
  monitor.on('monitor', (_time: string, args: string[], source: string) => {
    if (source !== 'lua' && args[0]!.toLowerCase() === 'evalsha' && args[3]!.includes(keys.base.slice(0, -1)))
      calls.push(args);
  });
  await test.schedule({ name: 'a', due: { at: Date.now() - 1_000 } });
  await test.redis.ping();
  monitor.disconnect();
  const [command, ...call] = calls.at(-1)!;
  await test.redis.del(call[2]!);
  expect((await test.redis.call(command!, ...call)) as string[]).toContain('done');
  expect(await test.redis.zcard(`${keys.base}heads:5`)).toBe(1);
  // It was counted twice, which the audit would find.
  await test.redis.hincrby(keys.stats, 'scheduled', -1);
});
