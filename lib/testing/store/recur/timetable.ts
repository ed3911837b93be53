import { canonicalJson, fingerprintOf } from '../../../core/calendar/fingerprint.js';
import type { Rule } from '../../../core/calendar/rule.js';
import { ENDED_LISTED_MS } from '../../../core/constants.js';
import { occurrenceId } from '../../../core/job/occurrence-id.js';
import type { NewRecurrence, OccurrenceTemplate } from '../../../store/job-store.js';
import type { Job } from '../job.js';
import type { Ledger } from '../ledger.js';
import { advanceOverKnown, dueOf, instantAfter, isMissed } from './instants.js';
import { isAtLimit, isLongEnded, NO_JOB, NO_RULE, type Recurrence, readOccurrence, templateOf } from './recurrence.js';

/**
 * The recurrences of a queue. Of each that is active one occurrence is armed: it waits for its time. When it begins, is left out or is
 * cancelled, the next one is armed in the same step.
 */
export class Timetable {
  private readonly recurrences = new Map<string, Recurrence>();

  constructor(
    private readonly ledger: Ledger,
    private readonly nowMs: () => number,
    /** Tells sleepers that a job waits. */
    private readonly tellOf: (job: Job) => void,
  ) {}

  /**
   * Also one that is switched off, and of those that have ended long ago a declared one and one that ended by its limit: they would begin anew
   * at the next declaration or upsert.
   */
  find(id: string): Recurrence | undefined {
    const found = this.recurrences.get(id);
    if (!found || found.owner || isAtLimit(found) || !isLongEnded(found, this.nowMs())) return found;
    this.recurrences.delete(id);
    return undefined;
  }

  findListed(id: string): Recurrence | undefined {
    const found = this.find(id);
    return found && found.state !== 'off' && !isLongEnded(found, this.nowMs()) ? found : undefined;
  }

  /** When to look after the recurrences; `undefined` where there are none. Nothing depends on it but that old ones are forgotten. */
  get tendInMs(): number | undefined {
    return this.recurrences.size > 0 ? ENDED_LISTED_MS : undefined;
  }

  forgetOld(): void {
    for (const id of this.recurrences.keys()) this.find(id);
  }

  ids(): string[] {
    return [...this.recurrences.keys()].sort();
  }

  /** The recurrence whose armed occurrence this job is. */
  ofArmed(job: Job): Recurrence | undefined {
    const occurrence = readOccurrence(job);
    const recurrence = occurrence && this.recurrences.get(occurrence.recurrenceId);
    return recurrence && recurrence.armedAtMs === occurrence.atMs ? recurrence : undefined;
  }

  /** Whether the previous occurrence, the last of the rule's own that began, waits or runs; a dead one has ended. */
  previousRuns({ id, beganAtMs }: Recurrence): boolean {
    const previous = beganAtMs === undefined ? undefined : this.ledger.jobs.get(occurrenceId(id, beganAtMs));
    return previous !== undefined && previous.diedAtMs === undefined;
  }

  /** Whether this is an occurrence that waits for the end of the previous one. */
  waitsForEnd(job: Job): boolean {
    const recurrence = this.ofArmed(job);
    return recurrence?.blockedDueAtMs !== undefined && this.previousRuns(recurrence);
  }

  /** Takes a recurrence in, and arms its first occurrence after now. */
  create({ id, rule, job }: NewRecurrence): Recurrence {
    const recurrence = this.enterNew(id, rule, job);
    this.armAfterNow(recurrence);
    return recurrence;
  }

  /** Makes up for nothing before a change of the timing; otherwise the armed occurrence stays, with the new job. A pause stays. */
  change(recurrence: Recurrence, { rule, job }: Omit<NewRecurrence, 'id'>): void {
    const keepsTiming = canonicalJson(rule.timing) === canonicalJson(recurrence.rule.timing);
    Object.assign(recurrence, {
      rule: structuredClone(rule),
      template: templateOf(job, this.nowMs()),
      fingerprint: fingerprintOf(rule, job),
      changedAtMs: this.nowMs(),
    });
    if (recurrence.state === 'paused') return;
    const { id, armedAtMs, reachedAtMs } = recurrence;
    const nextAtMs = keepsTiming
      ? armedAtMs
      : advanceOverKnown(recurrence, Math.max(this.nowMs(), reachedAtMs), this.isKnown);
    if (armedAtMs !== undefined && armedAtMs === nextAtMs && !isAtLimit(recurrence))
      this.remake(recurrence, keepsTiming ? undefined : dueOf(id, rule, armedAtMs));
    else {
      this.disarm(recurrence);
      this.armAfterNow(recurrence);
    }
  }

  /** What it was stays known, so that nothing begins twice when it is switched on again. */
  switchOff(id: string): Recurrence {
    const recurrence = this.recurrences.get(id) ?? this.enterNew(id, NO_RULE, NO_JOB);
    this.disarm(recurrence);
    Object.assign(recurrence, { state: 'off', reason: undefined });
    return recurrence;
  }

  delete(recurrence: Recurrence): void {
    this.disarm(recurrence);
    this.recurrences.delete(recurrence.id);
  }

  /** Takes the armed occurrence away. */
  disarm(recurrence: Recurrence): void {
    if (recurrence.armedAtMs === undefined) return;
    this.ledger.cancel([this.armedJob(recurrence)], 'recurrence', this.nowMs());
    recurrence.armedAtMs = undefined;
  }

  armAfterNow(recurrence: Recurrence): void {
    this.arm(recurrence, this.nowMs());
  }

  /** The armed occurrence was cancelled: the one after it is armed. */
  skip(job: Job): void {
    const recurrence = this.ofArmed(job);
    if (recurrence) this.advanceTo(recurrence, recurrence.armedAtMs!);
  }

  /** This instant and all before it are decided: the first one later is armed, and answered. `left`: ids of jobs that were there until just now. */
  advanceTo(recurrence: Recurrence, atMs: number, left?: ReadonlySet<string>): Job | undefined {
    recurrence.reachedAtMs = atMs;
    return this.arm(recurrence, atMs, left);
  }

  /** The armed occurrence begins. Answers the one that is armed now. */
  begin(recurrence: Recurrence, left: ReadonlySet<string>): Job | undefined {
    recurrence.beganAtMs = recurrence.armedAtMs!;
    recurrence.count++;
    return this.advanceTo(recurrence, recurrence.armedAtMs!, left);
  }

  /** Adds an occurrence beside the rule, due now. */
  add(recurrence: Recurrence, atMs: number): Job {
    return this.enter(recurrence, atMs, this.nowMs());
  }

  /**
   * Detaches the armed occurrence of this instant from the rule and runs it now; `armBehind` is to follow. False where it is not
   * armed.
   */
  runArmedNow(recurrence: Recurrence, atMs: number): boolean {
    if (recurrence.armedAtMs !== atMs || atMs > this.nowMs()) return false;
    const job = this.armedJob(recurrence);
    this.ledger.move(job, this.nowMs());
    this.tellOf(job);
    return true;
  }

  /** Arms the first instant behind the armed one that is not among the named ones. */
  armBehind(recurrence: Recurrence, named: ReadonlySet<number>): void {
    let atMs = recurrence.armedAtMs!;
    for (;;) {
      const nextMs = instantAfter(recurrence.rule.timing, atMs);
      if (nextMs === undefined || !named.has(nextMs)) break;
      atMs = nextMs;
    }
    this.advanceTo(recurrence, atMs);
  }

  private enterNew(id: string, rule: Rule, job: OccurrenceTemplate): Recurrence {
    const recurrence: Recurrence = {
      id,
      rule: structuredClone(rule),
      template: templateOf(job, this.nowMs()),
      fingerprint: fingerprintOf(rule, job),
      changedAtMs: this.nowMs(),
      state: 'active',
      reachedAtMs: 0,
      count: 0,
    };
    this.recurrences.set(id, recurrence);
    return recurrence;
  }

  /** Whether there is a job of this id, or one has ended and is remembered. */
  private readonly isKnown = (jobId: string) =>
    this.ledger.jobs.has(jobId) || this.ledger.isRemembered(jobId, this.nowMs());

  /** Passes over instants whose jobs are known. Without a next one, or at its limit, the recurrence ends. */
  private arm(recurrence: Recurrence, afterMs: number, left?: ReadonlySet<string>): Job | undefined {
    const { id, rule, reachedAtMs } = recurrence;
    const atMs = isAtLimit(recurrence)
      ? undefined
      : advanceOverKnown(recurrence, Math.max(afterMs, reachedAtMs), this.isKnown, left);
    recurrence.armedAtMs = atMs;
    recurrence.blockedDueAtMs = undefined;
    recurrence.state = atMs === undefined ? 'ended' : 'active';
    recurrence.endedAtMs = atMs === undefined ? this.nowMs() : undefined;
    if (atMs === undefined) return undefined;
    const dueAtMs = dueOf(id, rule, atMs);
    return this.enter(recurrence, atMs, isMissed(id, rule, atMs, dueAtMs, this.nowMs()) ? atMs : dueAtMs);
  }

  private enter({ id, template }: Recurrence, atMs: number, dueAtMs: number): Job {
    const job: Job = {
      id: occurrenceId(id, atMs),
      envelope: { ...template, createdAtMs: this.nowMs() },
      dueAtMs,
      attempts: 0,
      crashes: 0,
      failures: [],
    };
    this.ledger.enter(job);
    this.tellOf(job);
    return job;
  }

  /** The armed occurrence keeps its instant and gets the new job, and another due time where one is said. */
  private remake(recurrence: Recurrence, dueAtMs?: number): void {
    const { ledger } = this;
    const job = this.armedJob(recurrence);
    ledger.takeOut(job);
    if (dueAtMs !== undefined) {
      job.dueAtMs = dueAtMs;
      recurrence.blockedDueAtMs = undefined;
    }
    ledger.tags.change(job.id, job.envelope.tags, recurrence.template.tags);
    job.envelope = { ...recurrence.template, createdAtMs: this.nowMs() };
    ledger.wait(job);
    this.tellOf(job);
  }

  private armedJob({ id, armedAtMs }: Recurrence): Job {
    return this.ledger.jobs.get(occurrenceId(id, armedAtMs!))!;
  }
}
