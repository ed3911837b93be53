import type { Declarer, NewRecurrence } from './recurrences.js';

/** What this process declares in one queue. `job` and `rule` absent: the recurrence of this id is switched off. */
export type Declaration = NewRecurrence | { readonly id: string; readonly isOff: true };

/**
 * What became of a declaration:
 * - `wins`: it is the rule of the recurrence now, or was before;
 * - `loses`: a live process declares another one with a higher revision, or started later with the same;
 * - `upserted`: the recurrence was made by `upsert`; nothing has changed.
 */
export type DeclareStatus = 'wins' | 'loses' | 'upserted';

/** The recurrences that applications declare in a queue. */
export interface QueueDeclarations {
  /**
   * Declares these, and notes that this process lives. To be called again every few seconds: what was lost is then armed again, and
   * a declaration takes over once no live process has declared the winning one for `orphanAfterMs`. Equal ones write nothing but that note.
   * `removesOrphans`: the caller deletes orphans, so it is also told those that were told before.
   */
  declare(
    declarations: readonly Declaration[],
    by: Declarer,
    orphanAfterMs: number,
    removesOrphans?: boolean,
  ): Promise<DeclareAnswer>;
  /** Deletes a recurrence that is an orphan of this app still; false where it is none any more. */
  removeOrphan(id: string, app: string, orphanAfterMs: number): Promise<boolean>;
}

export interface DeclareAnswer {
  /** In the order of the declarations. */
  readonly statuses: readonly DeclareStatus[];
  /**
   * Ids that a process of this app declared once and no live one has for `orphanAfterMs`. Each is told once, to one process that has
   * lived for so long; to those that remove them again and again.
   */
  readonly orphans: readonly string[];
  /** For the next calls: see `Declarer`. */
  readonly startedAtMs: number;
}
