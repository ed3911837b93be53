import { DEPUTY_MS } from '../../../core/constants.js';
import { preferredBy } from '../job.js';
import type { Opening } from './opening.js';
import { stealableAt } from './order.js';
import type { Patience } from './recover.js';
import type { Stage } from './stage.js';

/**
 * How long a session that has a place left should sleep: until the next job is due that it may take, until a gate opens for those that are
 * due, or until a lease runs out; never longer than `maxSleepMs`, nor than a third of a lease: then leases that are taken meanwhile are
 * known before they run out, and the queue counts as served.
 */
export function nextLook(stage: Stage, opening: Opening, patience: Patience): number {
  const { nowMs, queue, session } = stage;
  const { maxSleepMs, leaseMs } = queue.settings;
  const isShut = opening.count <= stage.claimed.length;
  const leaseEnd =
    patience.firstLeaseEndMs === undefined
      ? Number.POSITIVE_INFINITY
      : Math.max(patience.firstLeaseEndMs, patience.recoverFromMs, nowMs + 1);
  return Math.min(
    isShut
      ? Math.max(opening.untilMs, Math.min(queue.ledger.nextDue(), nextFreed(stage)))
      : Math.min(nextDue(stage), nextFreed(stage)),
    nextOwn(stage, opening, isShut),
    leaseEnd,
    queue.trustsHints && queue.sleepers.hears(session)
      ? Number.POSITIVE_INFINITY
      : Math.floor(nowMs + Math.min(maxSleepMs, leaseMs / 3)),
    opening.yieldsUntilMs ?? Number.POSITIVE_INFINITY,
  );
}

/** When the first of the groups is free again that are paused, or are held although jobs of theirs are due. */
export function nextFreed({ queue: { groups }, nowMs }: Stage): number {
  const held = [...groups.due(nowMs)].map((group) => groups.stateOf(group, nowMs).opensAtMs);
  return Math.min(groups.nextPauseEnd(nowMs), ...held);
}

/** A session whose free capacity cannot fit the best job polls: it is not listed as a sleeper, so no message would reach it. */
export const lookForPlace = ({ nowMs }: Stage) => nowMs + DEPUTY_MS;

/** When the next job is due, or, where it prefers another worker, may be stolen. */
function nextDue(stage: Stage): number {
  const { nowMs, queue } = stage;
  const { ledger, settings } = queue;
  if (!ledger.somePrefer) return ledger.nextDue(nowMs);
  let earliest = Number.POSITIVE_INFINITY;
  for (const { jobs } of ledger.waiting())
    for (const job of jobs) {
      const preferred = preferredBy(job, settings.maxCrashes);
      const isOthers = preferred !== undefined && preferred !== stage.session.worker;
      const atMs = isOthers ? stealableAt(stage, job) : job.dueAtMs;
      if (atMs > nowMs && preferred !== stage.session.worker) earliest = Math.min(earliest, atMs);
    }
  return earliest;
}

/** When the first job is due that prefers this worker. Where a gate is shut until a known time, nobody looks before that. */
function nextOwn(stage: Stage, opening: Opening, isShut: boolean): number {
  const { nowMs, queue, session } = stage;
  const { ledger, settings } = queue;
  if (!ledger.somePrefer || (isShut && Number.isFinite(opening.untilMs))) return Number.POSITIVE_INFINITY;
  return ledger.nextDue(nowMs, (job) => preferredBy(job, settings.maxCrashes) === session.worker);
}
