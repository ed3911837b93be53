import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { ClaimedJob, NewJob } from '../../lib/store/job-store.js';
import { Caller } from '../../lib/store/redis/calls/caller.js';
import { queueKeys } from '../../lib/store/redis/keys.js';
import { seededRandom } from '../support/random.js';
import { newJob, payloadOf, QUEUE, settlement, TestStore, TestWorker } from '../support/store.js';

const HOUR_MS = 3_600_000;

/** What becomes of the jobs that a way has claimed, first to last; those that are left out run on. */
type Ends = readonly ('complete' | 'release' | 'retry' | undefined)[];

/** A store whose groups run in order, and workers that take its turns. */
class Way {
  readonly test = new TestStore({ leaseMs: 60_000, groups: { order: 'fifo' } });
  readonly keys = queueKeys(this.test.prefix, QUEUE);
  private worker!: TestWorker;
  private workers = 0;
  held: ClaimedJob[] = [];
  /** How many turns that claimed were no whole ones. */
  notWhole = 0;

  constructor(private readonly isLong: boolean) {}

  /** Its first turn lists it, and tells it what the queue uses. */
  async nextWorker(): Promise<void> {
    this.worker = new TestWorker(
      this.test.sessions.worker(`w${++this.workers}`, { names: ['a', 'b'], limited: this.isLong }),
    );
    await this.worker.turn();
  }

  /** The payloads of the jobs that a turn claims, and when the worker looks again. */
  async claim(limit: number, ends: Ends): Promise<readonly [string[], string]> {
    const settle = { complete: settlement.complete, release: settlement.release, retry: inAnHour };
    const { claimed, sleepMs, isWhole } = await this.worker.turn({
      settlements: this.held.flatMap((job, i) => (ends[i] ? [settle[ends[i]](job)] : [])),
      limit,
      // Handlers with limits of their own are for whole turns.
      handlers: this.isLong ? ['a', 'b'].map((name) => ({ name, weight: 1, free: 1_000, size: 1 })) : [],
    });
    this.held = [...this.held.filter((_, i) => !ends[i]), ...claimed];
    if (!isWhole) this.notWhole++;
    return [claimed.map((job) => `${payloadOf(job)} ${job.attempt}`), whenOf(sleepMs)];
  }

  /** All that Redis knows of waiting and running jobs and their groups, with payloads in the place of ids. */
  async indexes(): Promise<Record<string, string[]>> {
    const { redis } = this.test;
    const { base, jobs } = this.keys;
    const envelopes = await redis.hgetall(jobs);
    const named = (text: string) =>
      text.replace(/^[^\t]+|[^\t]+$/g, (id) => (envelopes[id] === undefined ? id : envelopes[id].split('\n')[3]!));
    // Retries are due an hour after their turns, which is not the same millisecond in both ways.
    const inAnHour = (text: string) =>
      Math.abs(Number(text) - Date.now() - HOUR_MS) < HOUR_MS / 2 ? 'in an hour' : text;
    const names = (await redis.keys(`${base}*`)).filter((key) => INDEXES.test(key.slice(base.length))).sort();
    const read = async (key: string) => {
      const isHash = /holders|turning:\d+$/.test(key);
      const found = isHash ? await redis.hgetall(key) : await redis.zrange(key, '0', '-1', 'WITHSCORES');
      const entries = isHash ? Object.entries(found).sort().flat() : (found as string[]);
      return [key.slice(base.length), entries.map((text) => inAnHour(named(text)))] as const;
    };
    return Object.fromEntries(await Promise.all(names.map(read)));
  }
}

const INDEXES = /^(heads:.*|levels.*|lane:.*|groups|runningOfGroups|held|holders|turns:.*|turning:.*|left:.*)$/;
/** The longest sleep differs from session to session, by chance. */
const whenOf = (sleepMs: number | undefined) =>
  sleepMs === undefined ? 'with capacity' : sleepMs === 0 ? 'at once' : sleepMs <= 500 ? 'soon' : 'later';
const inAnHour = (job: ClaimedJob) => settlement.retry(job, HOUR_MS);

let short: Way;
let long: Way;
beforeEach(() => {
  [short, long] = [new Way(false), new Way(true)];
});
afterEach(async () => {
  jest.restoreAllMocks();
  for (const { test } of [short, long]) {
    expect(await test.audit()).toEqual([]);
    await test.close();
  }
});

/** What each turn of groups in order was answered. */
function answersInOrder(): string[] {
  const answers: string[] = [];
  const send = Caller.prototype.send as (this: Caller, ...call: unknown[]) => Promise<string[]>;
  jest.spyOn(Caller.prototype, 'send').mockImplementation(async function (this: Caller, ...call: unknown[]) {
    const reply = await send.apply(this, call);
    if ((call[0] as { name: string }).name === 'in-order') answers.push(reply[0]!);
    return reply as never;
  });
  return answers;
}

it.each([
  { seed: 1, groups: 3 },
  { seed: 2, groups: 8 },
  { seed: 3, groups: 30 },
  { seed: 4, groups: 60 },
  { seed: 5, groups: 8, others: true },
  { seed: 6, groups: 30, others: true },
])(
  'turns of groups in order end where whole turns do (seed $seed, $groups groups)',
  async ({ seed, groups, others = false }) => {
    const answers = answersInOrder();
    const random = seededRandom(seed);
    const below = (count: number) => Math.floor(random() * count);
    const oneIn = (count: number) => below(count) === 0;
    const startMs = Date.now() - 60_000;
    let turns = 0;
    for (let step = 0; step < 40; step++) {
      const isOther = others && oneIn(20);
      const jobs = Array.from({ length: below(groups * 0.7) }, (_, i): NewJob => {
        const group = isOther && oneIn(3) ? undefined : `g${below(groups)}`;
        const name = isOther && oneIn(3) ? 'b' : 'a';
        const priority = isOther && oneIn(3) ? 3 : 5;
        const due = { at: startMs + (oneIn(6) ? HOUR_MS * 10 : 0) + below(6) };
        return newJob({ name, priority, due, payload: `"${step}-${i}"`, ...(group && { group }) });
      });
      for (const way of [short, long]) {
        await way.test.scheduleAll(jobs);
        if (step % 4 === 0) await way.nextWorker();
      }
      expect(await short.indexes()).toEqual(await long.indexes());
      for (let turn = 0; turn < 1 + below(3); turn++) {
        const limit = [1, 2, 5, 12, 60][below(5)]!;
        const ends = short.held.map(() => {
          if (others && oneIn(20)) return oneIn(2) ? 'release' : 'retry';
          return oneIn(4) ? undefined : 'complete';
        });
        expect(await short.claim(limit, ends)).toEqual(await long.claim(limit, ends));
        expect(await short.indexes()).toEqual(await long.indexes());
        turns++;
      }
    }
    const taken = answers.filter((answer) => answer === 'done');
    expect(taken.length).toBeGreaterThan(others ? turns / 10 : turns / 2);
    expect(short.notWhole).toBeGreaterThanOrEqual(taken.length);
  },
);
