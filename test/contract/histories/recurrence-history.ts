import type { Rule } from '../../../lib/core/calendar/rule.js';
import type { QueueOptions } from '../../../lib/core/options/queue-options.js';
import type { ClaimedJob, NewRecurrence, Settlement, StoredRecurrence, Turn } from '../../../lib/store/job-store.js';
import { cron, every, recurrence } from '../recurring.js';
import { settlement, type TestSession } from '../world.js';
import type { TwoStores } from './two-stores.js';

const NAMES = ['work', 'other'];
const IDS = ['r', 'r@1', 'two words', 's', 't'];
const CRONS = ['* * * * * *', '*/2 * * * * *', '*/5 * * * * *', '0 * * * * *'];
const INTERVALS_MS = [100, 250, 700, 1_000, 3_000, 61_000];
const WORKERS = ['a', 'b', 'c'];

interface Party {
  readonly sessions: readonly [TestSession, TestSession];
  readonly held: Map<string, ClaimedJob>;
}

/** Options that leave enough room for what the recurrences bring. */
export function recurrenceOptions(random: () => number): QueueOptions {
  return {
    leaseMs: 6_000,
    maxSleepMs: 3_000,
    ...(random() < 0.3 && { globalConcurrency: 2 + Math.floor(random() * 6) }),
    ...(random() < 0.3 && { ordering: { mode: 'aging', msPerLevel: 200 } }),
    ...(random() < 0.5 && { keepEnded: random() < 0.5 ? 4 : { count: 6, ageMs: 2_000 } }),
    ...(random() < 0.5 && { keepIdsMs: Math.floor(random() * 4_000) }),
    maxCrashes: 1 + Math.floor(random() * 3),
  };
}

/** Recurrences of all kinds, what is done to them and to their jobs, and time, by chance; each step is taken by both stores and compared. */
export class RecurrenceHistory {
  private readonly parties: Party[];
  /** The latest occurrences that were claimed. */
  private readonly begun: string[] = [];
  /** Whether there are rules whose instants Redis cannot reckon by itself. */
  private readonly usesCron: boolean;

  constructor(
    private readonly stores: TwoStores,
    private readonly random: () => number,
  ) {
    this.usesCron = random() < 0.5;
    const [small, redis] = stores.worlds;
    this.parties = WORKERS.map((id) => ({
      sessions: [small.worker(id, ...NAMES), redis.worker(id, ...NAMES)],
      held: new Map(),
    }));
  }

  async begin(): Promise<void> {
    for (const { sessions } of this.parties)
      await this.stores.both(undefined, (_, __, index) => sessions[index].turn({ limit: 1 }));
    await this.upsert();
  }

  async step(): Promise<void> {
    const die = this.random();
    if (die < 0.45) await this.turn(this.pick(this.parties));
    else if (die < 0.65) await this.pass();
    else if (die < 0.75) await this.upsert();
    else if (die < 0.87) await this.control();
    else if (die < 0.95) await this.interfere();
    else await this.view();
    if (process.env.HISTORY_STRICT) await this.stores.both(undefined, ({ view }) => view.stats());
  }

  private async upsert(): Promise<void> {
    await this.stores.both(this.newRecurrence(), ({ recurrences }, given) => recurrences.upsert(given));
  }

  private async control(): Promise<void> {
    const id = this.pick(IDS);
    const die = this.random();
    if (die < 0.1) await this.stores.both(id, ({ recurrences }, given) => recurrences.remove(given));
    else if (die < 0.3) await this.stores.both(id, ({ recurrences }, given) => recurrences.pause(given, 'why not'));
    else if (die < 0.6) await this.stores.both(id, ({ recurrences }, given) => recurrences.resume(given));
    else if (die < 0.8) await this.stores.both(id, ({ recurrences }, given) => recurrences.runNow(given));
    else {
      const firstMs = this.stores.now() - (this.stores.now() % 1_000) + 1_000 * Math.floor(this.random() * 5 - 4);
      const instants = Array.from({ length: 1 + Math.floor(this.random() * 3) }, (_, i) => firstMs + i * 1_000);
      await this.stores.both({ id, instants }, ({ recurrences }, given) =>
        recurrences.backfill(given.id, given.instants),
      );
    }
  }

  /** What is done to the jobs behind the back of their recurrences. */
  private async interfere(): Promise<void> {
    const die = this.random();
    const id = await this.anOccurrence();
    const byMs = Math.floor(this.random() * 4_000) - 2_000;
    const atMs = this.stores.now() + byMs;
    if (die < 0.3) await this.stores.both(id, ({ jobs }, given) => jobs.cancel(given));
    else if (die < 0.5) await this.stores.both(id, ({ jobs }, given) => jobs.remove(given));
    else if (die < 0.65)
      await this.stores.both({ id, atMs }, ({ jobs }, given) => jobs.reschedule(given.id, { at: given.atMs }));
    else if (die < 0.75) await this.stores.both(id, ({ jobs }, given) => jobs.cancelRunning(given));
    else if (die < 0.8) await this.stores.both(undefined, ({ management }) => management.clear());
    else if (die < 0.88) {
      await this.stores.both('red', async ({ management }, given) => {
        const told: string[] = [];
        return { count: await management.cancelTagged(given, (ids) => told.push(...ids)), told: told.sort() };
      });
    } else if (die < 0.92)
      await this.stores.both(byMs, ({ management }, given) => management.shiftTagged('red', given));
    else if (die < 0.96)
      await this.stores.both(undefined, ({ management }) => management.replayDead({}, { delayMs: 0 }));
    else await this.stores.both(Math.abs(byMs), ({ management }, given) => management.pause(given));
  }

  private async view(): Promise<void> {
    const [offset, limit] = [Math.floor(this.random() * 3), 1 + Math.floor(this.random() * 5)];
    await this.compareRecurrences(offset, limit);
    const id = this.pick(IDS);
    await this.stores.both(id, async ({ recurrences }, given) => withoutTimes(await recurrences.get(given)));
  }

  /**
   * Of cron rules, and of those that exclude something, Redis knows the instants of some 20 s ahead. After a longer time it counts those that
   * are left out before it is known whether somebody cancels what comes before them.
   */
  private async pass(): Promise<void> {
    const die = this.random();
    const mostMs = die < 0.4 ? 200 : die < 0.85 ? 1_500 : die < 0.95 || this.usesCron ? 6_000 : 100_000;
    this.stores.pass(Math.floor(this.random() * mostMs));
    await this.tend(IDS);
  }

  /** Redis is given more instants, as by any process of the queue. */
  private async tend(ids: readonly string[]): Promise<void> {
    await this.stores.both(ids, ({ recurrences }, given) => recurrences.tend(given));
  }

  private async turn(party: Party): Promise<void> {
    const { held, sessions } = party;
    const ending = [...held.values()].filter(() => this.random() < 0.5);
    const turn: Partial<Turn> = {
      settlements: ending.map((job) => this.settlement(job)),
      renewals: [...held.values()].filter((job) => !ending.includes(job)),
      limit: this.random() < 0.1 ? 0 : 1 + Math.floor(this.random() * 6),
      handlers: this.random() < 0.7 ? [] : [{ name: 'work', weight: 1, free: Math.floor(this.random() * 3), size: 1 }],
      suspects: this.random() < 0.5 ? 'take' : '',
    };
    const answer = await this.stores.both(turn, (_, given, index) => sessions[index].turn(given));
    // At once, as a worker does: turns that come before the instants are known let the occurrences of the recurrence wait.
    if (answer.toTend.length > 0) await this.tend(answer.toTend);
    for (const { id } of ending) held.delete(id);
    for (const id of answer.lost) held.delete(id);
    for (const job of answer.claimed) {
      held.set(job.id, job);
      this.begun.push(job.id);
    }
    // Sometimes it forgets what it holds, as if its process had died.
    if (this.random() < 0.02) held.clear();
  }

  /** All recurrences, and the jobs that they have. */
  async compareRecurrences(offset = 0, limit = 100): Promise<void> {
    await this.stores.both([offset, limit] as const, async ({ recurrences }, given) =>
      (await recurrences.list(...given)).map(withoutTimes),
    );
  }

  private settlement(job: ClaimedJob): Settlement {
    const die = this.random();
    const { id, fence } = job;
    if (die < 0.6) return settlement.completeChosen(job);
    if (die < 0.75) return settlement.retry(job, Math.floor(this.random() * 1_000));
    if (die < 0.85) return settlement.dead(job, { idWasChosen: true });
    if (die < 0.92) return { id, fence, transition: 'snooze', due: { delayMs: Math.floor(this.random() * 2_000) } };
    if (die < 0.96) return settlement.release(job);
    return settlement.discard(job, true);
  }

  private newRecurrence(): NewRecurrence {
    const id = this.pick(IDS);
    const some = this.random();
    return recurrence(this.rule(), {
      id,
      name: this.pick(NAMES),
      priority: this.pick([1, 5]),
      payload: `{"n":${Math.floor(some * 3)}}`,
      ...(this.random() < 0.3 && { tags: this.pick([['red'], ['red', 'blue'], ['blue']]) }),
      ...(this.random() < 0.15 && { worker: this.pick(WORKERS) }),
      ...(this.random() < 0.2 && {
        lateness: {
          maxLatenessMs: Math.floor(this.random() * 1_000),
          onLate: this.pick(['run', 'discard', 'dead-letter'] as const),
        },
      }),
    });
  }

  private rule(): Rule {
    const nowMs = this.stores.now();
    const policy = {
      onMissed: this.pick(['skip', 'once', 'all'] as const),
      overlap: this.pick(['allow', 'allow', 'skip', 'queue'] as const),
      ...(this.random() < 0.3 && { jitterMs: Math.floor(this.random() * 2_000) }),
      ...(this.random() < 0.2 && { limit: 1 + Math.floor(this.random() * 8) }),
      ...(this.random() < 0.3 && { missedWithinMs: Math.floor(this.random() * 20_000) }),
      ...(this.random() < 0.15 && { startAtMs: nowMs + Math.floor(this.random() * 4_000) - 2_000 }),
      ...(this.random() < 0.15 && { endAtMs: nowMs + Math.floor(this.random() * 10_000) }),
    };
    if (this.usesCron && this.random() < 0.5) return cron(this.pick(CRONS), policy);
    const exclude = this.usesCron && this.random() < 0.2 ? [{ from: nowMs + 2_000, to: nowMs + 5_000 }] : [];
    return every(this.pick(INTERVALS_MS), { ...policy, exclude, offsetMs: this.random() < 0.2 ? 40 : 0 });
  }

  /** One that is armed, or one that has begun. */
  private async anOccurrence(): Promise<string> {
    const listed = await this.stores.worlds[0].whole.queue('default').recurrences.list(0, 100);
    const armed = listed.flatMap(({ id, nextAtMs }) => (nextAtMs === null ? [] : [`${id}@${nextAtMs}`]));
    const begun = this.begun.slice(-10);
    const some = this.random() < 0.7 || begun.length === 0 ? armed : begun;
    return some.length > 0 ? this.pick(some) : 'none@1';
  }

  private pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.random() * items.length)]!;
  }
}

/** Less when its jobs' template was made: a store need not keep that. */
function withoutTimes(found: StoredRecurrence | undefined) {
  if (!found || 'unreadable' in found.template) return found;
  const { createdAtMs: _, ...template } = found.template;
  return { ...found, template };
}
