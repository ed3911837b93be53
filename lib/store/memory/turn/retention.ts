import type { KeepRule } from '../../../core/options/queue-options.js';
import type { TurnAnswer } from '../../job-store.js';
import type { Stage } from './stage.js';

/** Drops what is kept beyond its number or age: in turns that add to it, and in turns that find nothing to run. */
export function trim(stage: Stage, isIdle: boolean): TurnAnswer['dropped'] {
  const { queue, nowMs, left, died, remembers } = stage;
  const { ledger, settings } = queue;
  const { keepCompleted, keepDead } = settings;
  const dropped: { id: string; name: string }[] = [];
  if (isIdle || died > 0) {
    const over = beyond(ledger.dead, keepDead, ({ diedAtMs }) => diedAtMs! <= nowMs - keepDead.ageMs);
    for (const job of over) {
      ledger.revive(job);
      ledger.leave(job);
      ledger.count('deadDropped');
      // While it lay there its id was taken all the same.
      if (job.envelope.idWasChosen) ledger.remember(job.id, nowMs);
      dropped.push({ id: job.id, name: job.envelope.name });
    }
  }
  if (isIdle || (left.size > 0 && keepCompleted.count > 0)) {
    const over = beyond(
      ledger.completed,
      keepCompleted,
      ({ completedAtMs }) => completedAtMs <= nowMs - keepCompleted.ageMs,
    );
    for (const { id } of over) ledger.forgetCompleted(id);
  }
  if (isIdle || remembers) for (const [id, untilMs] of ledger.usedIds) if (untilMs <= nowMs) ledger.usedIds.delete(id);
  return dropped;
}

/** The oldest that are too many or, where there are not too many, too old. */
function beyond<T>(kept: Iterable<T> & { size: number }, { count, ageMs }: KeepRule, isOld: (item: T) => boolean): T[] {
  const tooMany = kept.size - count;
  const over: T[] = [];
  if (tooMany <= 0 && ageMs === 0) return over;
  for (const item of kept) {
    if (tooMany > 0 ? over.length === tooMany : !isOld(item)) break;
    over.push(item);
  }
  return over;
}
