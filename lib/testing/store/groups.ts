import type { GroupSettings, GroupsRule } from '../../core/options/group-options.js';
import { type RateRule, rateWindowMs } from '../../core/options/rate-limit.js';
import type { HeldBy, KnownGroup } from '../../store/job-store.js';
import type { Job } from './job.js';
import type { Ledger } from './ledger.js';
import type { SortedList } from './lists/sorted-list.js';

/** What a group may start now. */
export interface GroupState {
  heldBy: HeldBy | undefined;
  /** When time ends what `heldBy` names; another limit may hold it then. Infinity where a job has to end first. */
  opensAtMs: number;
  /** How many of its jobs may start. */
  free: number;
  /** Under 'fifo', the job that has begun and has not ended: no other one may start. */
  holder: Job | undefined;
}

/** What was set for each group, and what holds it: a pause, the rate of its starts, the job that has begun, and how many of its jobs run. */
export class Groups {
  private readonly settings = new Map<string, GroupSettings>();
  private readonly pauses = new Map<string, number>();
  /** When jobs of groups with a rate have started, the earliest first. */
  private readonly starts = new Map<string, number[]>();

  constructor(
    private readonly rule: GroupsRule,
    private readonly ledger: Ledger,
  ) {}

  set(group: string, settings: GroupSettings): void {
    const said = Object.entries(settings).filter(([, value]) => value !== undefined);
    if (said.length > 0) this.settings.set(group, structuredClone(Object.fromEntries(said)));
    else this.settings.delete(group);
  }

  pause(group: string, untilMs: number): void {
    this.pauses.set(group, untilMs);
  }

  /** False where it was not paused. */
  resume(group: string, nowMs: number): boolean {
    const wasPaused = this.pausedUntil(group, nowMs) !== undefined;
    this.pauses.delete(group);
    return wasPaused;
  }

  pausedUntil(group: string, nowMs: number): number | undefined {
    const untilMs = this.pauses.get(group) ?? 0;
    return untilMs > nowMs ? untilMs : undefined;
  }

  nextPauseEnd(nowMs: number): number {
    return Math.min(...[...this.pauses.values()].filter((untilMs) => untilMs > nowMs));
  }

  weightOf(group: string): number {
    return this.settings.get(group)?.weight ?? 1;
  }

  /** Whether the end of one of its jobs may let another one start. */
  isFreedByEnds(group: string): boolean {
    return this.rule.order === 'fifo' || Number.isFinite(this.concurrencyOf(group));
  }

  noteStart(job: Job, nowMs: number): void {
    const { group } = job.envelope;
    if (group === undefined) return;
    if (this.rule.order === 'fifo') this.ledger.holders.set(group, job);
    const rate = this.rateOf(group);
    if (rate) this.starts.set(group, [...this.started(group, rate, nowMs), nowMs]);
  }

  /** `heldBy` is the first of these that is true: a pause, the rate, the order, the places. */
  stateOf(group: string, nowMs: number): GroupState {
    const pausedUntilMs = this.pausedUntil(group, nowMs);
    const rate = this.rateOf(group);
    const started = rate ? this.started(group, rate, nowMs) : [];
    const startsLeft = rate ? rate.max - started.length : Number.POSITIVE_INFINITY;
    const holder = this.rule.order === 'fifo' ? this.ledger.holders.get(group) : undefined;
    const holderDueAtMs = holder && (holder.held ? Number.POSITIVE_INFINITY : holder.dueAtMs);
    const places = this.concurrencyOf(group) - (this.ledger.running.get(group) ?? 0);
    const holding: [HeldBy, untilMs: number][] = [];
    if (pausedUntilMs !== undefined) holding.push(['paused', pausedUntilMs]);
    if (startsLeft <= 0) holding.push(['rate', started[0]! + rateWindowMs(rate!)]);
    if (holderDueAtMs !== undefined && holderDueAtMs > nowMs) holding.push(['order', holderDueAtMs]);
    if (places <= 0) holding.push(['concurrency', Number.POSITIVE_INFINITY]);
    const [heldBy, opensAtMs = Number.POSITIVE_INFINITY] = holding[0] ?? [];
    return {
      heldBy,
      opensAtMs,
      free: heldBy ? 0 : Math.min(startsLeft, places),
      holder,
    };
  }

  /** Its waiting jobs, a list for each priority. */
  waiting(group: string): SortedList<Job>[] {
    return this.ledger.waiting().flatMap(({ units }) => units.get(group) ?? []);
  }

  countDue(group: string, nowMs: number): number {
    return this.waiting(group).reduce((sum, jobs) => sum + jobs.countBefore(({ dueAtMs }) => dueAtMs <= nowMs), 0);
  }

  /** The groups of which jobs are due, whether they are held or not. */
  due(nowMs: number): Set<string> {
    const found = new Set<string>();
    for (const { units } of this.ledger.waiting())
      for (const [group, { first }] of units) if (group !== '' && first!.dueAtMs <= nowMs) found.add(group);
    return found;
  }

  describe(group: string, nowMs: number): KnownGroup {
    const { heldBy, opensAtMs } = this.stateOf(group, nowMs);
    return {
      group,
      waiting: this.waiting(group).reduce((sum, { size }) => sum + size, 0),
      due: this.countDue(group, nowMs),
      active: this.ledger.running.get(group) ?? 0,
      settings: structuredClone(this.settings.get(group) ?? {}),
      pausedUntilMs: this.pausedUntil(group, nowMs),
      heldBy,
      opensAtMs: Number.isFinite(opensAtMs) ? opensAtMs : undefined,
    };
  }

  /** Those that have waiting or running jobs, a pause or a setting: those with the most waiting jobs first, then by name. */
  list(nowMs: number): KnownGroup[] {
    const paused = [...this.pauses.keys()].filter((group) => this.pausedUntil(group, nowMs) !== undefined);
    const named = new Set([...this.ledger.running.keys(), ...paused, ...this.settings.keys()]);
    for (const { units } of this.ledger.waiting()) for (const group of units.keys()) if (group !== '') named.add(group);
    return [...named]
      .map((group) => this.describe(group, nowMs))
      .sort((a, b) => b.waiting - a.waiting || (a.group < b.group ? -1 : 1));
  }

  private concurrencyOf(group: string): number {
    const set = this.rule.order === 'fifo' ? 1 : (this.settings.get(group)?.concurrency ?? this.rule.concurrency);
    return set === 'unlimited' ? Number.POSITIVE_INFINITY : set;
  }

  private rateOf(group: string): RateRule | undefined {
    const set = this.settings.get(group)?.rateLimit ?? this.rule.rateLimit;
    return set === 'unlimited' ? undefined : set;
  }

  private started(group: string, rate: RateRule, nowMs: number): number[] {
    return (this.starts.get(group) ?? []).filter((atMs) => atMs > nowMs - rateWindowMs(rate));
  }
}
