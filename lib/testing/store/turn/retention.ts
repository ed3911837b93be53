import type { TurnAnswer } from '../../../store/job-store.js';
import { beyond } from '../lists/kept.js';
import type { Stage } from './stage.js';

/** Drops what is kept beyond its number or age: in turns that add to it, and in turns that find nothing to run. */
export function trim(stage: Stage, isIdle: boolean): TurnAnswer['deadDropped'] {
  const { queue, nowMs, left, died, remembers, someDiscardedOrCancelled } = stage;
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
  if (isIdle || (left.size > 0 && keepCompleted.count > 0)) ledger.completed.trim(nowMs);
  if (isIdle || (someDiscardedOrCancelled && ledger.ended.keepsSome)) ledger.ended.trim(nowMs);
  if (isIdle || remembers) for (const [id, untilMs] of ledger.usedIds) if (untilMs <= nowMs) ledger.usedIds.delete(id);
  return dropped;
}
