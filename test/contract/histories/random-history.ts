import { expect } from '@jest/globals';
import type { BlackoutRule } from '../../../lib/core/blackouts/blackout.js';
import type { VersionRange } from '../../../lib/core/job/job-versions.js';
import type { QueueOptions } from '../../../lib/core/options/queue-options.js';
import type { Due } from '../../../lib/core/read/due.js';
import type {
  ClaimedJob,
  NewJob,
  ProgressReport,
  Settlement,
  SuspectWish,
  Turn,
  TurnAnswer,
} from '../../../lib/store/job-store.js';
import { relayKey } from '../../../lib/store/redis/relay-key.js';
import { newJob, settlement, TestSession, type World } from '../world.js';
import { GroupSteps, randomGroupsOptions } from './group-steps.js';
import type { TwoStores } from './two-stores.js';

const NAMES = ['work', 'other', 'third'];
const TAGS = ['red', 'two words', 'c'];
const WORKERS = ['a', 'b', 'c', 'd'];
/** Workers that are of other builds. */
const VERSIONS: Record<string, Record<string, VersionRange>> = {
  b: { work: { first: 1, last: 3 }, other: { first: 2, last: 3 }, third: { first: 1, last: 1 } },
  c: { work: { first: 1, last: 2 }, other: { first: 1, last: 1 }, third: { first: 3, last: 3 } },
};
/** Above it a claim has to be confirmed. One id alone has so much, so that no claim is cut to fit into one answer. */
const LARGE = 'x'.repeat(300_000);

interface Party {
  readonly sessions: readonly [TestSession, TestSession];
  readonly kind: 'worker' | 'pull' | 'relay';
  readonly id: string;
  readonly names: readonly string[];
  /** What it holds, as far as it knows. */
  readonly held: Map<string, ClaimedJob>;
}

/** Options of all kinds, by chance. Where nobody listens the store says exactly when each session is to look again. */
export function randomOptions(random: () => number): QueueOptions {
  const maybe = <T>(value: T) => (random() < 0.5 ? value : undefined);
  const said: QueueOptions = {
    leaseMs: 6_000,
    maxSleepMs: 1_000 + Math.floor(random() * 4_000),
    stealAfterMs: maybe(Math.floor(random() * 3_000)),
    ordering: maybe({ mode: 'aging' as const, msPerLevel: 1 + Math.floor(random() * 500) }),
    globalConcurrency: maybe(1 + Math.floor(random() * 8)),
    rateLimit:
      random() < 0.3 ? { max: 1 + Math.floor(random() * 8), perMs: 1 + Math.floor(random() * 3_000) } : undefined,
    keepCompleted: maybe(random() < 0.5 ? 4 : { count: 6, ageMs: 2_000 }),
    keepDead: maybe(random() < 0.5 ? 4 : { count: 6, ageMs: 2_000 }),
    keepEnded: maybe(random() < 0.5 ? 4 : { count: 6, ageMs: 2_000 }),
    keepIdsMs: maybe(Math.floor(random() * 4_000)),
    maxCrashes: 1 + Math.floor(random() * 4),
    groups: randomGroupsOptions(random),
  };
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
}

/** Steps by chance, each taken by both stores and compared. */
export class RandomHistory {
  private readonly parties: Party[] = [];
  private readonly ids: string[] = [];
  private readonly groups: GroupSteps;
  /** Claims that have ended: whatever is said of them again must not count. */
  private readonly over: ClaimedJob[] = [];

  constructor(
    private readonly stores: TwoStores,
    private readonly random: () => number,
    /** Whether sessions hear messages, so that places are left to others, and sleepers woken. */
    private readonly listens = false,
  ) {
    this.groups = new GroupSteps(stores, random);
    for (const id of WORKERS) this.parties.push(this.openWorker(id));
    this.parties.push(this.openPull('a'), this.openPull('p', 'work', 'other'));
    if (listens) this.parties.push(this.openRelay('b', 'third'), this.openRelay('a'));
  }

  /** Each party claims once, in vain: from then on both stores know which names it handles. */
  async begin(): Promise<void> {
    for (const { sessions } of this.parties)
      await this.stores.both(undefined, async (_, __, index) => {
        if (this.listens) await sessions[index].listens();
        return sessions[index].turn({ limit: 1 });
      });
  }

  async step(): Promise<void> {
    const die = this.random();
    if (die < 0.4) await this.turn(this.pick(this.parties));
    else if (die < 0.6) await this.schedule();
    else if (die < 0.75) this.pass();
    else if (die < 0.92) await this.control();
    else if (die < 0.94) await this.groups.manage();
    else if (die < 0.96) await this.manage();
    else await this.view();
  }

  private async schedule(): Promise<void> {
    const jobs = Array.from({ length: 1 + Math.floor(this.random() * 5) }, () =>
      this.newJob(this.random() < 0.4 ? this.chosenId() : undefined),
    );
    const answers = await this.stores.both(jobs, ({ jobs: store }, given) =>
      Promise.all(given.map((job) => store.schedule(job))),
    );
    for (const { id } of answers) this.ids.push(id);
    if (this.ids.length > 200) this.ids.splice(0, 100);
  }

  private async control(): Promise<void> {
    const id = this.anyId();
    const die = this.random();
    if (die < 0.3) {
      const job = { ...this.newJob(undefined), id: this.chosenId(), ...this.spacing() };
      await this.stores.both(job, ({ jobs }, given) => jobs.replace(given));
    } else if (die < 0.5) await this.stores.both(id, ({ jobs }, given) => jobs.cancel(given));
    else if (die < 0.65) await this.stores.both(this.heldId() ?? id, ({ jobs }, given) => jobs.cancelRunning(given));
    else if (die < 0.8) await this.stores.both(id, ({ jobs }, given) => jobs.remove(given));
    else await this.stores.both({ id, due: this.due() }, ({ jobs }, given) => jobs.reschedule(given.id, given.due));
  }

  private async manage(): Promise<void> {
    const die = this.random();
    const tag = this.pick(TAGS);
    const which = {
      ...(this.random() < 0.4 && { names: [this.pick(NAMES)] }),
      ...(this.random() < 0.3 && { reason: this.pick(['crashed', 'late', 'attempts-exhausted'] as const) }),
      ...(this.random() < 0.3 && { limit: 1 + Math.floor(this.random() * 3) }),
      ...(this.random() < 0.3 && { diedBeforeMs: this.stores.now() - Math.floor(this.random() * 2_000) }),
    };
    const perSecond = this.random() < 0.3 ? 0.5 + this.random() * 20 : undefined;
    if (die < 0.05) await this.stores.both(undefined, ({ management }) => management.clear());
    else if (die < 0.15)
      await this.stores.both(tag, async ({ management }, given) => {
        const told: string[] = [];
        const count = await management.cancelTagged(given, (ids) => told.push(...ids));
        return { count, told };
      });
    else if (die < 0.4) {
      const byMs = Math.floor(this.random() * 4_000) - 2_000;
      await this.stores.both({ tag, byMs }, ({ management }, given) => management.shiftTagged(given.tag, given.byMs));
    } else if (die < 0.6) {
      const replayed = { due: this.due(), which: this.random() < 0.3 ? this.anyId() : which, perSecond };
      await this.stores.both(replayed, ({ management }, given) =>
        management.replayDead(given.which, given.due, given.perSecond),
      );
    } else if (die < 0.7) await this.stores.both(which, ({ management }, given) => management.purgeDead(given));
    else if (die < 0.85) {
      const forMs = this.random() < 0.8 ? Math.floor(this.random() * 2_000) : undefined;
      await this.stores.both(forMs, ({ management }, given) => management.pause(given));
    } else if (die < 0.95) await this.stores.both(undefined, ({ management }) => management.resume());
    else await this.stores.both(this.blackouts(), ({ management }, given) => management.setBlackouts(given));
  }

  /** None, or some that are on, come once, or again and again, and may overlap. */
  private blackouts(): BlackoutRule[] {
    const ms = (most: number) => Math.floor(this.random() * most);
    return Array.from({ length: ms(4) }, () => {
      const fromMs = this.stores.now() - 1_000 + ms(20_000);
      if (this.random() < 0.7) return { fromMs, toMs: fromMs + 1 + ms(4_000) };
      return { cron: '*/30 * * * * *', timeZone: 'UTC', durationMs: 1 + ms(8_000) };
    });
  }

  private async view(): Promise<void> {
    if (this.random() < 0.3) return this.groups.view();
    const die = this.random();
    const [offset, limit] = [Math.floor(this.random() * 5), 1 + Math.floor(this.random() * 20)];
    const state = this.pick(['due', 'scheduled', 'active', 'completed', 'dead'] as const);
    if (die < 0.3) await this.stores.both(this.anyId(), ({ view }, given) => view.job(given));
    else if (die < 0.6)
      await this.stores.both([state, offset, limit] as const, ({ view }, given) => view.list(...given));
    else if (die < 0.8) await this.stores.both(limit, ({ view }, given) => view.peek(given, (job) => job));
    else if (die < 0.88) await this.stores.both(this.pick(NAMES), ({ view }, given) => view.versions(given));
    else if (die < 0.92) await this.stores.both(this.pick(NAMES), ({ view }, given) => view.versionsHandled(given));
    else
      await this.stores.both(
        [this.pick(NAMES), 1 + Math.floor(this.random() * 3)] as const,
        ({ view }, given) => view.handledBy(...given),
        (small, redis) => {
          expect(small.count).toBe(redis.count);
          expect([...small.workers].sort()).toEqual([...redis.workers].sort());
        },
      );
  }

  private pass(): void {
    const die = this.random();
    const mostMs = die < 0.5 ? 20 : die < 0.9 ? 1_500 : die < 0.98 ? 4_000 : 20_000;
    this.stores.pass(Math.floor(this.random() * mostMs));
  }

  private async turn(party: Party): Promise<void> {
    if (party.kind === 'relay') return this.relay(party);
    const { held, sessions } = party;
    const ending = [...held.values()].filter(() => this.random() < 0.5);
    const staying = [...held.values()].filter((job) => this.random() < (ending.includes(job) ? 0.05 : 0.8));
    const settlements = ending.map((job) => this.withProgress(this.settlement(job)));
    if (this.over.length > 0 && this.random() < 0.3) settlements.push(this.settlement(this.pick(this.over)));
    const isLast = this.random() < 0.01;
    const turn: Partial<Turn> = {
      settlements,
      renewals: staying,
      reports: this.reports([...held.values()].filter((job) => !ending.includes(job))),
      limit: this.random() < 0.2 ? 0 : Math.floor(this.random() * (this.random() < 0.1 ? 40 : 7)),
      handlers: this.handlers(),
      suspects: party.kind === 'pull' ? this.pick(['', 'take']) : this.pick(WISHES),
      standing: party.kind === 'worker' ? 'stays' : this.pick(['until-claimed', 'goes']),
      isLast,
    };
    const answer = await this.stores.both(turn, (_, given, index) => sessions[index].turn(given));
    this.take(party, ending, answer, settlements);
    if (!isLast) return;
    const next = this.reopen(party);
    this.parties[this.parties.indexOf(party)] = next;
    if (this.listens)
      await this.stores.both(undefined, (_, __, index) => next.sessions[index].listens().then(() => {}));
  }

  private async relay({ sessions }: Party): Promise<void> {
    const turn: Partial<Turn> =
      this.random() < 0.3
        ? { standing: 'goes' }
        : { limit: this.random() < 0.5 ? 0 : 1 + Math.floor(this.random() * 4) };
    await this.stores.both(turn, (_, given, index) => sessions[index].turn(given));
  }

  private take({ held }: Party, ending: readonly ClaimedJob[], answer: TurnAnswer, said: readonly Settlement[]): void {
    for (const [i, job] of ending.entries()) {
      if (said[i]!.transition === 'extend' && answer.settled[i] === 'counted') continue;
      held.delete(job.id);
      this.over.push(job);
    }
    for (const id of answer.lost) held.delete(id);
    for (const job of answer.claimed) held.set(job.id, job);
    if (this.over.length > 50) this.over.splice(0, 25);
    // Sometimes it forgets what it holds, as if its process had died.
    if (this.random() < 0.03) held.clear();
  }

  private settlement(job: ClaimedJob): Settlement {
    const die = this.random();
    const idWasChosen = job.id.startsWith('id-');
    const { id, fence } = job;
    if (die < 0.35) return { id, fence, transition: 'complete', idWasChosen, result: '{"a":1}' };
    if (die < 0.55) return settlement.retry(job, Math.floor(this.random() * 1_000));
    if (die < 0.65) return settlement.dead(job, { idWasChosen });
    if (die < 0.7) return settlement.dead(job, { idWasChosen, ran: false, failed: false });
    if (die < 0.8) return { id, fence, transition: 'snooze', due: this.due() };
    if (die < 0.85) return settlement.discard(job, idWasChosen, 'no "use"\n');
    if (die < 0.92) return settlement.release(job);
    if (die < 0.95) return settlement.cancel(job);
    return settlement.extend(job, Math.floor(this.random() * 8_000));
  }

  /** Of some of these jobs, and sometimes of one that is not held any more. */
  private reports(held: readonly ClaimedJob[]): ProgressReport[] {
    const reporting = held.filter(() => this.random() < 0.1);
    if (this.over.length > 0 && this.random() < 0.1) reporting.push(this.pick(this.over));
    return reporting.map(({ id, fence }) => ({ id, fence, value: JSON.stringify({ at: this.random() }) }));
  }

  /** Of a run that has reported something just before. */
  private withProgress(settlement: Settlement): Settlement {
    const reports = ['complete', 'retry', 'dead', 'snooze'].includes(settlement.transition) && this.random() < 0.2;
    return reports ? ({ ...settlement, progress: '"last"' } as Settlement) : settlement;
  }

  private newJob(id: string | undefined): NewJob {
    const some = this.random();
    const isLarge = id === 'id-0' && this.random() < 0.3;
    const prefers = this.random() < 0.25;
    return newJob({
      name: this.pick(NAMES),
      ...(this.random() < 0.3 && { version: this.pick([2, 3]) }),
      priority: this.pick([1, 5, 10]),
      due: this.due(),
      ...(id !== undefined && { id }),
      ...(prefers ? { worker: this.pick([...WORKERS, 'never-was']) } : this.groups.ofJob()),
      ...(this.random() < 0.4 && { tags: TAGS.filter(() => this.random() < 0.4) }),
      ...(some < 0.1 && {
        lateness: {
          maxLatenessMs: Math.floor(this.random() * 2_000),
          onLate: this.pick(['run', 'discard', 'dead-letter'] as const),
        },
      }),
      ...(some > 0.8 && { settings: { maxAttempts: 3, headers: { a: 'b' } } }),
      payload: isLarge ? LARGE : `{"n":${Math.floor(some * 100)}}`,
    });
  }

  /** Of a replacement. */
  private spacing(): Pick<NewJob, 'maxWaitMs' | 'throttleMs'> {
    const ms = Math.floor(this.random() * 5_000);
    return this.pick([{}, { maxWaitMs: ms }, { throttleMs: ms }]);
  }

  private due(): Due {
    const die = this.random();
    if (die < 0.5) return { delayMs: 0 };
    if (die < 0.8) return { delayMs: Math.floor(this.random() * 3_000) };
    return { at: this.stores.now() + Math.floor(this.random() * 4_000) - 2_000 };
  }

  private handlers(): Turn['handlers'] {
    if (this.random() < 0.6) return [];
    return NAMES.filter(() => this.random() < 0.5).map((name) => ({
      name,
      weight: 1 + Math.floor(this.random() * 3),
      free: Math.floor(this.random() * 8),
      size: this.random() < 0.6 ? 1 : 2 + Math.floor(this.random() * 3),
    }));
  }

  private openWorker(id: string): Party {
    // One of them handles less than the others.
    const names = id === 'd' ? NAMES.slice(0, 1) : NAMES;
    const versions = VERSIONS[id];
    const [small, redis] = this.stores.worlds;
    const open = (world: World) => (versions ? world.workerOf(id, versions) : world.worker(id, ...names));
    const sessions = [open(small), open(redis)] as const;
    return { sessions, kind: 'worker', id, names, held: new Map() };
  }

  private openPull(id: string, ...names: string[]): Party {
    const [small, redis] = this.stores.worlds;
    const sessions = [small.puller(id, ...names), redis.puller(id, ...names)] as const;
    return { sessions, kind: 'pull', id, names, held: new Map() };
  }

  private openRelay(id: string, ...names: string[]): Party {
    const type = this.pick(['list', 'stream'] as const);
    const target = { type, key: relayKey('default', `${id}-${Math.floor(this.random() * 1e9)}`) };
    const [session] = this.stores.worlds.map(
      (world) =>
        new TestSession(world.whole.queue('default').sessions.relay(id, names.length > 0 ? names : undefined, target)),
    );
    return { sessions: [session!, session!], kind: 'relay', id, names, held: new Map() };
  }

  private reopen({ kind, id, names }: Party): Party {
    return kind === 'worker' ? this.openWorker(id) : this.openPull(id, ...names);
  }

  private chosenId(): string {
    return `id-${Math.floor(this.random() * 25)}`;
  }

  private heldId(): string | undefined {
    const held = this.parties.flatMap((party) => [...party.held.keys()]);
    return held.length > 0 ? this.pick(held) : undefined;
  }

  private anyId(): string {
    return this.random() < 0.4 || this.ids.length === 0 ? this.chosenId() : this.pick(this.ids);
  }

  private pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.random() * items.length)]!;
  }
}

const WISHES: readonly SuspectWish[] = ['', 'take', 'take', 'reserve', 'keep', 'claim', 'leave'];
