import type { MemoryQueue } from '../../store/memory/memory-queue.js';
import { HELD_MS } from '../../store/memory/recur/judge.js';

const NEVER = Number.POSITIVE_INFINITY;

/**
 * When time alone may change something of a queue, later than now: a job becomes due or may be stolen, a lease ends, a gate opens.
 * For whoever moves the clock and must take a turn at each such instant. `renewed`: how many of the running jobs that one renews in time;
 * the leases of the others run out, and a turn is to be taken every third of a lease until then, so that the queue counts as served.
 */
export function nextInstant(queue: MemoryQueue, renewed: number): number {
  const nowMs = queue.nowMs();
  const { ledger, gates, settings, served } = queue;
  const later = (ms: number | undefined) => (ms !== undefined && ms > nowMs ? ms : NEVER);
  let next = Math.min(
    nextDue(queue, nowMs),
    later(gates.pausedUntil(nowMs)),
    later(gates.blackoutUntil(nowMs)),
    ...gates.offers.map(({ untilMs }) => later(untilMs)),
    ...[...queue.reservations.values()].map(later),
  );
  if (settings.rateLimit) next = Math.min(next, later(gates.rate(nowMs).opensAtMs));
  if (ledger.active.size > renewed)
    next = Math.min(
      next,
      Math.floor(nowMs + settings.leaseMs / 3),
      later(ledger.active.first!.held!.leaseUntilMs),
      later(served?.recoverFromMs),
    );
  if (ledger.somePrefer)
    for (const { jobs } of ledger.waiting())
      for (const { envelope, dueAtMs } of jobs) {
        if (dueAtMs > nowMs) break;
        if (envelope.worker !== undefined) next = Math.min(next, later(dueAtMs + settings.stealAfterMs));
      }
  return next;
}

/**
 * When the next job becomes due. The store looks again and again at an occurrence that waits for the end of the previous one; here that
 * end is an instant itself, and hours of sleep would be thousands of looks.
 */
function nextDue({ ledger, timetable }: MemoryQueue, nowMs: number): number {
  const dueMs = ledger.nextDue(nowMs);
  return dueMs > nowMs + HELD_MS ? dueMs : ledger.nextDue(nowMs, (job) => !timetable.waitsForEnd(job));
}
