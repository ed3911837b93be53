import type { KeepRule } from '../../../core/options/queue-options.js';
import { byId } from '../job.js';
import { SortedList } from './sorted-list.js';

/** What is kept of jobs that have ended in one way, by id and by when they ended. */
export class Kept<T extends { readonly id: string }> {
  private readonly jobs = new Map<string, T>();
  private readonly byEnd: SortedList<T>;

  constructor(
    private readonly rule: KeepRule,
    private readonly endedAtMs: (job: T) => number,
  ) {
    this.byEnd = new SortedList<T>((a, b) => endedAtMs(a) - endedAtMs(b) || byId(a, b));
  }

  get size(): number {
    return this.byEnd.size;
  }

  /** Whether any are to be kept. */
  get keepsSome(): boolean {
    return this.rule.count > 0;
  }

  get(id: string): T | undefined {
    return this.jobs.get(id);
  }

  latestFirst(): Iterable<T> {
    return this.byEnd.reversed();
  }

  add(job: T): void {
    this.jobs.set(job.id, job);
    this.byEnd.add(job);
  }

  forget(id: string): boolean {
    const job = this.jobs.get(id);
    if (!job) return false;
    this.jobs.delete(id);
    this.byEnd.delete(job);
    return true;
  }

  /** Drops what is beyond the number or the age that is kept. */
  trim(nowMs: number): void {
    for (const { id } of beyond(this.byEnd, this.rule, (job) => this.endedAtMs(job) <= nowMs - this.rule.ageMs))
      this.forget(id);
  }
}

/** The oldest that are too many or, where there are not too many, too old. */
export function beyond<T>(
  kept: Iterable<T> & { size: number },
  { count, ageMs }: KeepRule,
  isOld: (item: T) => boolean,
): T[] {
  const tooMany = kept.size - count;
  const over: T[] = [];
  if (tooMany <= 0 && ageMs === 0) return over;
  for (const item of kept) {
    if (tooMany > 0 ? over.length === tooMany : !isOld(item)) break;
    over.push(item);
  }
  return over;
}
