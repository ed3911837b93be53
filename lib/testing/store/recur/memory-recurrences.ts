import { fingerprintOf } from '../../../core/calendar/fingerprint.js';
import { occurrenceId } from '../../../core/job/occurrence-id.js';
import type { NewRecurrence, QueueRecurrences, StoredRecurrence, UpsertAnswer } from '../../../store/job-store.js';
import type { MemoryQueue } from '../memory-queue.js';
import type { Steps } from '../steps.js';
import type { Recurrence } from './recurrence.js';

/** The recurrences of a queue in memory: nothing is lost, and every instant is known, so tending only forgets what has ended long ago. */
export class MemoryRecurrences implements Steps<QueueRecurrences> {
  constructor(private readonly queue: MemoryQueue) {}

  upsert(given: NewRecurrence): UpsertAnswer {
    this.queue.noteUse();
    const { timetable } = this.queue;
    const found = timetable.find(given.id);
    if (!found) return { status: 'created', nextAtMs: nextOf(timetable.create(given)) };
    if (found.owner) return { status: 'declared', nextAtMs: nextOf(found) };
    const isEqual =
      isSame(given.job.payload, found.template.payload) && fingerprintOf(given.rule, given.job) === found.fingerprint;
    if (!isEqual) timetable.change(found, given);
    return { status: isEqual ? 'unchanged' : 'changed', nextAtMs: nextOf(found) };
  }

  remove(id: string): 'removed' | 'unknown' | 'declared' {
    const found = this.queue.timetable.find(id);
    if (!found) return 'unknown';
    if (found.owner) return 'declared';
    this.queue.timetable.delete(found);
    return 'removed';
  }

  pause(id: string, reason?: string): boolean {
    const found = this.queue.timetable.find(id);
    if (found?.state !== 'active') return false;
    this.queue.timetable.disarm(found);
    Object.assign(found, { state: 'paused', reason });
    return true;
  }

  resume(id: string): boolean {
    const found = this.queue.timetable.find(id);
    if (found?.state !== 'paused') return false;
    found.reason = undefined;
    this.queue.timetable.armAfterNow(found);
    return true;
  }

  runNow(id: string): { id: string; name: string; dueAtMs: number } | undefined {
    const found = this.queue.timetable.findListed(id);
    if (!found) return undefined;
    let atMs = this.queue.nowMs();
    while (this.isKnown(id, atMs)) atMs++;
    const job = this.queue.timetable.add(found, atMs);
    return { id: job.id, name: job.envelope.name, dueAtMs: job.dueAtMs };
  }

  backfill(id: string, instants: readonly number[]): number | undefined {
    const found = this.queue.timetable.findListed(id);
    if (!found) return undefined;
    const { timetable } = this.queue;
    let added = 0;
    let ranArmed = false;
    for (const atMs of instants) {
      const isArmed: boolean = !ranArmed && timetable.runArmedNow(found, atMs);
      ranArmed ||= isArmed;
      if (!isArmed && this.isKnown(id, atMs)) continue;
      if (!isArmed) timetable.add(found, atMs);
      added++;
    }
    if (ranArmed) timetable.armBehind(found, new Set(instants));
    return added;
  }

  get(id: string): StoredRecurrence | undefined {
    const found = this.queue.timetable.findListed(id);
    return found && describe(found);
  }

  list(offset: number, limit: number): StoredRecurrence[] {
    const { timetable } = this.queue;
    const listed = timetable.ids().flatMap((id) => timetable.findListed(id) ?? []);
    return listed.slice(offset, offset + limit).map(describe);
  }

  tend(): number | undefined {
    this.queue.timetable.forgetOld();
    return this.queue.timetable.tendInMs;
  }

  /** A job of this id has not ended, or has lately. */
  private isKnown(id: string, atMs: number): boolean {
    const { ledger } = this.queue;
    const jobId = occurrenceId(id, atMs);
    return ledger.jobs.has(jobId) || ledger.isRemembered(jobId, this.queue.nowMs());
  }
}

const nextOf = ({ armedAtMs }: Recurrence) => armedAtMs ?? null;

function describe(recurrence: Recurrence): StoredRecurrence {
  const { id, rule, template, changedAtMs, state, reason, beganAtMs, count, owner } = recurrence;
  return {
    id,
    rule: structuredClone(rule),
    template: { ...template, createdAtMs: changedAtMs },
    // One that is switched off is told to nobody.
    state: state === 'off' ? 'ended' : state,
    ...(reason !== undefined && { reason }),
    nextAtMs: nextOf(recurrence),
    lastAtMs: beganAtMs ?? null,
    count,
    ...(owner && { declaredBy: { ...owner } }),
  };
}

/** An upsert compares payloads as they are stored: with its fields in another order a payload is another one. */
const isSame = (one: string | Uint8Array, other: string | Uint8Array) =>
  Buffer.from(one as string).equals(Buffer.from(other as string));
