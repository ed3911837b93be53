import type { QueueSettings } from '../../core/options/queue-options.js';
import { rateWindowMs } from '../../core/options/rate-limit.js';
import type { StoredJob } from '../../store/job-store.js';
import { decodeClaim } from '../../store/redis/codec/claim-text.js';
import type { QueueKeys } from '../../store/redis/keys.js';
import type { BoundScript } from '../../store/redis/scripts/bound-script.js';
import { blackoutsScript, limitsScript } from '../../store/redis/scripts/gate/contract.js';
import { jobScript } from '../../store/redis/scripts/look/contract.js';
import { jobFromBytes, type KnownJob, readJob } from '../../store/redis/view/stored-job.js';
import type { Outage } from './outage.js';
import type { ProcessLink } from './process-link.js';

/** How an instant that never comes is stored. */
const ENDLESS = 'inf';

/** A job that waits, as its lane has it. */
export interface LaneEntry {
  readonly id: string;
  readonly lane: string;
  readonly dueAtMs: number;
}

/** A sorted set's members with their scores. */
type Scores = [member: string, score: number][];

/**
 * What the kit sees of a queue at once, also while Redis is away for everybody else; and the two things that it does to a job, which no
 * process could do to a queue of production.
 */
export class QueueInside {
  constructor(
    readonly name: string,
    readonly settings: QueueSettings,
    readonly outage: Outage,
    private readonly keys: QueueKeys,
    private readonly link: ProcessLink,
    private readonly wallNow: () => number,
  ) {}

  /** In whole milliseconds. */
  nowMs(): number {
    return Math.floor(this.wallNow());
  }

  /** Another text wherever a turn may be answered otherwise than the one before: something has run, or time has passed. */
  get stamp(): string {
    return `${this.link.steps} ${this.wallNow()} ${this.outage.isOn}`;
  }

  /** How many jobs were claimed so far. */
  get started(): number {
    return Number(this.command('HGET', this.keys.stats, 'started') ?? 0);
  }

  /** Whether a job of this id waits, runs or is dead. */
  holds(id: string): boolean {
    return this.command('HEXISTS', this.keys.jobs, id) === 1;
  }

  job(id: string): StoredJob | undefined {
    const reply = this.run(jobScript(this.keys), { base: this.keys.base, id }, jobFromBytes);
    return readJob(id, reply as unknown as KnownJob);
  }

  /** Those that wait, lane by lane; the earliest of a lane first. */
  *waiting(): Generator<LaneEntry> {
    const begin = `${this.keys.base}lane:`;
    for (const key of this.link.keysWith(begin)) {
      const lane = key.slice(begin.length);
      for (const [id, dueAtMs] of this.scores(key)) yield { id, lane, dueAtMs };
    }
  }

  /** For each lane the first one that is due later than that, or the first of all. */
  *heads(afterMs = Number.NEGATIVE_INFINITY): Generator<LaneEntry> {
    const begin = `${this.keys.base}lane:`;
    const from = Number.isFinite(afterMs) ? `(${afterMs}` : '-inf';
    for (const key of this.link.keysWith(begin)) {
      const [id, due] = this.command('ZRANGE', key, from, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES') as string[];
      if (id !== undefined) yield { id, lane: key.slice(begin.length), dueAtMs: Number(due) };
    }
  }

  /** The ids of running jobs, with the ends of their leases, the earliest first. */
  leases(): Scores {
    return this.scores(this.keys.active);
  }

  /** Before this time no lease is recovered. */
  get recoverFromMs(): number | undefined {
    const [, from] = ((this.command('GET', this.keys.served) as string | null) ?? '').split(' ');
    return from === undefined ? undefined : Number(from);
  }

  /** What keeps the whole queue shut, and until when. */
  *gates(): Generator<[untilMs: number, what: string]> {
    const { gate, base } = this.keys;
    const paused = this.command('HGET', gate, 'pausedUntil') as string | null;
    if (paused !== null && paused !== ENDLESS) yield [Number(paused), 'the end of the pause'];
    const [, ends] = this.run(blackoutsScript(this.keys), {});
    if (ends !== '' && ends !== ENDLESS) yield [Number(ends), 'the end of a blackout'];
    // The worker of a suspect waits for its place anew with each turn: behind a tab stands that it waits.
    for (const [who, untilMs] of this.scores(`${base}yields`))
      if (!who.startsWith('\t')) yield [untilMs, 'the end of a place left under globalConcurrency'];
    const { rateLimit } = this.settings;
    if (!rateLimit) return;
    const [, , started, opensAt] = this.run(limitsScript(this.keys), { rateWindowMs: rateWindowMs(rateLimit) });
    if (started >= rateLimit.max) yield [Number(opensAt), 'the rateLimit'];
  }

  /** The groups of which nothing may start, and until when, as the last turns have found. */
  heldGroups(): Scores {
    return [...this.scores(`${this.keys.base}held`), ...this.scores(`${this.keys.base}groupPauses`)];
  }

  /** The state of the recurrence, as it is stored. */
  recurrenceState(id: string): string | null {
    return this.command('HGET', this.keys.timetable, id) as string | null;
  }

  /**
   * Hands a running job out once more, as a queue does that has taken its holder for dead: the new fence is answered, and the old one is
   * nobody's any more. The attempt and the lease stay. `undefined` where the job does not run under this fence.
   */
  handOutAgain({ id, fence }: { id: string; fence: string }): string | undefined {
    const text = this.command('HGET', this.keys.claims, id) as string | null;
    if (text === null || decodeClaim(text).fence !== fence) return undefined;
    const last = Number(this.command('GET', this.keys.fence) ?? 0);
    const next = String(Math.max(last, this.nowMs() * 1_000) + 1);
    this.command('SET', this.keys.fence, next);
    // Its second line is what the first run has reported.
    this.command('HSET', this.keys.claims, id, next + text.slice(fence.length).split('\n', 1)[0]);
    return next;
  }

  /** A waiting job that was never claimed is from now on one of which so many attempts were made. */
  setAttempts(id: string, attempts: number, lastFence: number): void {
    const entry = [...this.waiting()].find((one) => one.id === id)!;
    this.command('HSET', this.keys.claims, id, `0r ${attempts} 0 ${entry.dueAtMs} - ${entry.lane}`);
    this.command('SET', this.keys.fence, lastFence);
  }

  private scores(key: string): Scores {
    const flat = this.command('ZRANGE', key, 0, -1, 'WITHSCORES') as string[];
    const scores: Scores = [];
    for (let i = 0; i < flat.length; i += 2) scores.push([flat[i]!, Number(flat[i + 1])]);
    return scores;
  }

  private run<A, R>(script: BoundScript<A, R>, args: A, fromBytes?: (reply: unknown) => unknown): R {
    return this.link.runNow(script.name, script.keys, script.encode(args), fromBytes) as R;
  }

  private command(name: string, ...args: (string | number)[]): unknown {
    return this.link.commandNow(name, args);
  }
}
