import { BLOCKED_LOOK_MS } from '../../core/constants.js';
import type { Job } from '../store/job.js';
import type { MemoryQueue } from '../store/memory-queue.js';
import type { Instant } from '../time/virtual-clock.js';

/**
 * How many leases before a lease ends the queue is looked at again. If the only look came at its end, the store would take the time before it
 * for an outage, and recover nothing.
 */
const LEASES_AHEAD = 4 / 3;

/**
 * When time alone may change something of a queue, later than now: a job becomes due or may be stolen, a lease ends; and where a job is due,
 * a gate opens. For whoever moves the clock and must take a turn at each such instant. `renewed`: the ids of the running jobs that one renews
 * in time; the leases of the others run out, and a turn is to be taken every third of a lease before that, so that the queue counts as served.
 */
export function nextInstant(queue: MemoryQueue, renewed: ReadonlySet<string>): Instant {
  const nowMs = queue.nowMs();
  const { name, ledger } = queue;
  const dueMs = nextDue(queue, nowMs);
  const candidates: [atMs: number | undefined, what: string][] = [
    ...(ledger.nextDue() <= nowMs ? forDueJobs(queue, nowMs) : []),
    ...forLeases(queue, nowMs, renewed),
  ];
  const due = jobDueAt(queue, dueMs);
  let next: Instant = {
    atMs: dueMs,
    because: () => `job '${due?.envelope.name}' (${due?.id}) of queue '${name}' became due`,
  };
  for (const [atMs, what] of candidates)
    if (atMs !== undefined && atMs > nowMs && atMs < next.atMs)
      next = { atMs, because: () => `${what} of queue '${name}'` };
  return next;
}

/** A gate that opens, or a place that is left no longer, changes nothing for a queue in which nothing is due. */
function* forDueJobs(queue: MemoryQueue, nowMs: number): Generator<[atMs: number | undefined, what: string]> {
  const { ledger, gates, groups, settings } = queue;
  yield [gates.pausedUntil(nowMs), 'the end of the pause'];
  yield [gates.blackoutUntil(nowMs), 'the end of a blackout'];
  for (const untilMs of gates.yields.values()) yield [untilMs, 'the end of a place left under globalConcurrency'];
  if (settings.rateLimit) {
    const { started, opensAtMs } = gates.rate(nowMs);
    if (started >= settings.rateLimit.max) yield [opensAtMs, 'the rateLimit'];
  }
  for (const group of groups.due(nowMs)) {
    const { heldBy, opensAtMs } = groups.stateOf(group, nowMs);
    if (heldBy) yield [opensAtMs, `what holds group '${group}' (${heldBy})`];
  }
  if (!ledger.somePrefer) return;
  for (const { jobs } of ledger.waiting())
    for (const { envelope, dueAtMs } of jobs) {
      if (dueAtMs > nowMs) break;
      if (envelope.worker !== undefined) yield [dueAtMs + settings.stealAfterMs, 'stealAfterMs'];
    }
}

function* forLeases(
  { ledger, settings: { leaseMs }, served }: MemoryQueue,
  nowMs: number,
  renewed: ReadonlySet<string>,
): Generator<[atMs: number | undefined, what: string]> {
  for (const { id, held } of ledger.active) {
    if (renewed.has(id)) continue;
    const what = `the lease of job '${id}'`;
    // Only a lease that was extended by hours ends so far ahead.
    const aheadMs = Math.floor(held!.leaseUntilMs - leaseMs * LEASES_AHEAD);
    yield [aheadMs > nowMs ? aheadMs : Math.floor(nowMs + leaseMs / 3), what];
    yield [held!.leaseUntilMs, what];
    yield [served?.recoverFromMs, what];
    return;
  }
}

/**
 * When the next job becomes due. The store looks again and again at an occurrence that waits for the end of the previous one; here that
 * end is an instant itself, and hours of sleep would be thousands of looks.
 */
function nextDue({ ledger, timetable }: MemoryQueue, nowMs: number): number {
  const dueMs = ledger.nextDue(nowMs);
  return dueMs > nowMs + BLOCKED_LOOK_MS ? dueMs : ledger.nextDue(nowMs, (job) => !timetable.waitsForEnd(job));
}

/** Looked up now: at that instant the job may already have left the queue. */
function jobDueAt({ ledger }: MemoryQueue, dueMs: number): Job | undefined {
  for (const { jobs } of ledger.waiting()) {
    const job = jobs.firstNot(({ dueAtMs }) => dueAtMs < dueMs);
    if (job?.dueAtMs === dueMs) return job;
  }
  return undefined;
}
