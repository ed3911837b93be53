import type { KeepRule } from '../../../core/options/queue-options.js';
import type { StoredJob } from '../../../store/queue-view.js';
import { byId } from '../job.js';
import { SortedList } from './sorted-list.js';

/** Jobs that have ended in one way, as they are told, by id and by when they ended. */
export class Kept {
  private readonly jobs = new Map<string, StoredJob>();
  private readonly byEnd = new SortedList<StoredJob>((a, b) => a.endedAtMs! - b.endedAtMs! || byId(a, b));

  constructor(private readonly rule: KeepRule) {}

  get size(): number {
    return this.byEnd.size;
  }

  /** Whether any are to be kept. */
  get keepsSome(): boolean {
    return this.rule.count > 0;
  }

  get(id: string): StoredJob | undefined {
    return this.jobs.get(id);
  }

  latestFirst(): Iterable<StoredJob> {
    return this.byEnd.reversed();
  }

  add(job: StoredJob): void {
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
    for (const { id } of beyond(this.byEnd, this.rule, ({ endedAtMs }) => endedAtMs! <= nowMs - this.rule.ageMs))
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
