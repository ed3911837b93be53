import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ClaimedJob } from '../../lib/store/job-store.js';
import { RedisConnection } from '../../lib/store/redis/link/connection.js';
import { seededRandom } from '../support/random.js';
import { newJob, settlement, TestStore, type TestWorker } from '../support/store.js';

const NAMES = ['work', 'other', 'third'];
const TAGS = ['red', 'two words', 'c'];
const STEPS = 400;

const runOnce = RedisConnection.prototype.run;
let test: TestStore;

beforeEach(() => {
  test = new TestStore({ leaseMs: 1_000, keepDead: 5 });
  // Every call arrives twice, as after a lost reply; the second answer is the one that counts.
  RedisConnection.prototype.run = async function (this: RedisConnection, ...call: Parameters<typeof runOnce>) {
    await runOnce.apply(this, call);
    return runOnce.apply(this, call);
  };
});

afterEach(async () => {
  RedisConnection.prototype.run = runOnce;
  await test.close();
});

describe('a random history in which every call arrives twice', () => {
  it.each([1, 2, 3, 4, 5, 6])('leaves every job in one state and every index true (seed %i)', async (seed) => {
    const history = new History(seededRandom(seed));
    for (let step = 1; step <= STEPS; step++) {
      await history.step();
      if (step % 10 === 0) expect(await test.audit()).toEqual([]);
    }
    await history.drain();
    expect(await test.audit()).toEqual([]);
    const stats = await test.view.stats();
    // A job that was queued behind a run counts once it takes the place of one that ended.
    expect(stats.scheduled).toBeGreaterThanOrEqual(history.created);
    expect(stats.scheduled).toBeLessThanOrEqual(history.created + history.queued);
    // A run whose queued job was cancelled counts as cancelled too where it would have been tried again; the audit adds up the rest.
    expect(stats.cancelled).toBeGreaterThanOrEqual(history.cancelled);
    expect(stats.cancelled).toBeLessThanOrEqual(history.cancelled + history.queued);
    expect(stats.completed).toBe(history.completed);
  });
});

class History {
  created = 0;
  queued = 0;
  cancelled = 0;
  completed = 0;
  private readonly workers: { worker: TestWorker; held: Map<string, ClaimedJob> }[];
  private readonly ids: string[] = [];
  /** Claims that have ended: whatever is said of them again must not count. */
  private readonly over: ClaimedJob[] = [];

  constructor(private readonly random: () => number) {
    this.workers = ['a', 'b'].map((id) => ({ worker: test.worker(id, ...NAMES), held: new Map() }));
  }

  async step(): Promise<void> {
    const die = this.random();
    if (die < 0.3) await this.schedule();
    else if (die < 0.38) await this.replace();
    else if (die < 0.48) await this.cancel();
    else if (die < 0.56) await test.jobs.reschedule(this.anyId(), this.due());
    else if (die < 0.6) await this.remove();
    else if (die < 0.61) this.cancelled += await test.management.clear();
    else if (die < 0.62) this.cancelled += await test.management.cancelTagged(this.pick(TAGS), () => {});
    else if (die < 0.65) await test.management.shiftTagged(this.pick(TAGS), Math.floor(this.random() * 60) - 30);
    else await this.turn(this.pick(this.workers));
  }

  async drain(): Promise<void> {
    const [{ worker }] = this.workers as [(typeof this.workers)[0]];
    for (const { id } of await test.view.list('scheduled', 0, 1_000)) await test.jobs.reschedule(id, { delayMs: 0 });
    for (const other of this.workers) await this.settleAll(other);
    for (let claimed = await worker.claim(50); claimed.length > 0; claimed = await worker.claim(50)) {
      for (const held of await worker.settle(...claimed.map(settlement.complete))) if (held) this.completed++;
    }
  }

  private async schedule(): Promise<void> {
    const jobs = Array.from({ length: 1 + Math.floor(this.random() * 6) }, () =>
      newJob({ ...this.job(), id: this.random() < 0.4 ? this.chosenId() : undefined }),
    );
    for (const answer of await test.scheduleAll(jobs)) {
      if (answer.status === 'created') this.created++;
      this.ids.push(answer.id);
    }
  }

  private async replace(): Promise<void> {
    const { status } = await test.replace({ ...this.job(), id: this.chosenId() });
    if (status === 'created') this.created++;
    if (status === 'queued') this.queued++;
  }

  private async cancel(): Promise<void> {
    if (await test.jobs.cancel(this.anyId())) this.cancelled++;
  }

  private async remove(): Promise<void> {
    const id = this.anyId();
    const state = (await test.view.job(id))?.state;
    const removed = await test.jobs.remove(id);
    expect(removed).toBe(state !== undefined && state !== 'active');
    if (state === 'scheduled' || state === 'due') this.cancelled++;
  }

  private async turn({ worker, held }: (typeof this.workers)[0]): Promise<void> {
    const ending = [...held.values()].filter(() => this.random() < 0.6);
    const staying = [...held.values()].filter((job) => !ending.includes(job) && this.random() < 0.8);
    const settlements = ending.map((job) => this.settlement(job));
    if (this.over.length > 0 && this.random() < 0.3) settlements.push(settlement.complete(this.pick(this.over)));
    const answer = await worker.turn({ settlements, renewals: staying, limit: Math.floor(this.random() * 6) });
    for (const [i, settled] of answer.settled.entries()) {
      // Nobody cancels what runs here.
      expect(settled).not.toBe('cancelled');
      if (i >= ending.length) expect(settled).toBe('lost');
      else if (settled !== 'lost' && settlements[i]!.transition === 'complete') this.completed++;
    }
    for (const { id } of ending) held.delete(id);
    this.over.push(...ending);
    for (const id of answer.lost) held.delete(id);
    for (const job of answer.claimed) held.set(job.id, job);
  }

  private async settleAll({ worker, held }: (typeof this.workers)[0]): Promise<void> {
    for (const settled of await worker.settle(...[...held.values()].map(settlement.complete)))
      if (settled) this.completed++;
    held.clear();
  }

  private settlement(job: ClaimedJob) {
    const die = this.random();
    if (die < 0.5) return settlement.complete(job);
    if (die < 0.75) return settlement.retry(job, Math.floor(this.random() * 20));
    if (die < 0.9) return settlement.release(job);
    return settlement.dead(job);
  }

  private job() {
    const tags = this.random() < 0.5 ? TAGS.filter(() => this.random() < 0.4) : undefined;
    return { name: this.pick(NAMES), priority: this.pick([1, 5, 10]), due: this.due(), tags };
  }

  private due() {
    return { delayMs: this.random() < 0.6 ? 0 : Math.floor(this.random() * 50) };
  }

  private chosenId(): string {
    return `id-${Math.floor(this.random() * 25)}`;
  }

  private anyId(): string {
    return this.random() < 0.5 || this.ids.length === 0 ? this.chosenId() : this.pick(this.ids);
  }

  private pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.random() * items.length)]!;
  }
}
