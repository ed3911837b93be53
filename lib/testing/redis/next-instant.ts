import { BLOCKED_LOOK_MS } from '../../core/constants.js';
import { readOccurrenceId } from '../../core/job/occurrence-id.js';
import { readVersionedName } from '../../store/redis/codec/versioned-name.js';
import type { Instant } from '../time/virtual-clock.js';
import type { LaneEntry, QueueInside } from './queue-inside.js';

/**
 * How many leases before a lease ends the queue is looked at again. If the only look came at its end, the queue would take the time before it
 * for an outage, and recover nothing.
 */
const LEASES_AHEAD = 4 / 3;

/**
 * When time alone may change something of a queue, later than now: a job becomes due or may be stolen, a lease ends; and where a job is due,
 * a gate opens. For whoever moves the clock and must take a turn at each such instant. `renewed`: the ids of the running jobs that one renews
 * in time; the leases of the others run out, and a turn is to be taken every third of a lease before that, so that the queue counts as served.
 */
export function nextInstant(queue: QueueInside, renewed: ReadonlySet<string>): Instant {
  const nowMs = queue.nowMs();
  const { name } = queue;
  const isSomeDue = [...queue.heads()].some(({ dueAtMs }) => dueAtMs <= nowMs);
  const candidates = [...(isSomeDue ? forDueJobs(queue, nowMs) : []), ...forLeases(queue, nowMs, renewed)];
  const due = nextDue(queue, nowMs);
  let next: Instant = {
    atMs: due?.dueAtMs ?? Number.POSITIVE_INFINITY,
    because: () => `job '${due && nameIn(due.lane)}' (${due?.id}) of queue '${name}' became due`,
  };
  for (const [atMs, what] of candidates)
    if (atMs > nowMs && atMs < next.atMs) next = { atMs, because: () => `${what} of queue '${name}'` };
  return next;
}

/** A gate that opens, or a place that is left no longer, changes nothing for a queue in which nothing is due. */
function* forDueJobs(queue: QueueInside, nowMs: number): Generator<[atMs: number, what: string]> {
  yield* queue.gates();
  for (const [group, opensAtMs] of queue.heldGroups()) yield [opensAtMs, `what holds group '${group}'`];
  for (const { lane, dueAtMs } of queue.waiting())
    if (dueAtMs <= nowMs && prefersWorker(lane)) yield [dueAtMs + queue.settings.stealAfterMs, 'stealAfterMs'];
}

function* forLeases(
  queue: QueueInside,
  nowMs: number,
  renewed: ReadonlySet<string>,
): Generator<[atMs: number, what: string]> {
  const { leaseMs } = queue.settings;
  const first = queue.leases().find(([id]) => !renewed.has(id));
  if (!first) return;
  const [id, untilMs] = first;
  const what = `the lease of job '${id}'`;
  // Only a lease that was extended by hours ends so far ahead.
  const aheadMs = Math.floor(untilMs - leaseMs * LEASES_AHEAD);
  yield [aheadMs > nowMs ? aheadMs : Math.floor(nowMs + leaseMs / 3), what];
  yield [untilMs, what];
  yield [queue.recoverFromMs ?? nowMs, what];
}

/**
 * The job that becomes due next. The queue looks again and again at an occurrence that waits for the end of the previous one; here that end is
 * an instant itself, and hours of sleep would be thousands of looks.
 */
function nextDue(queue: QueueInside, nowMs: number): LaneEntry | undefined {
  const next = earliest(queue.heads(nowMs));
  if (!next || next.dueAtMs > nowMs + BLOCKED_LOOK_MS || !isBlocked(queue, next)) return next;
  return earliest([...queue.waiting()].filter((entry) => entry.dueAtMs > nowMs && !isBlocked(queue, entry)));
}

function earliest(entries: Iterable<LaneEntry>): LaneEntry | undefined {
  let first: LaneEntry | undefined;
  for (const entry of entries) if (!first || entry.dueAtMs < first.dueAtMs) first = entry;
  return first;
}

/** True of an occurrence that is due and waits for the previous one to end. */
function isBlocked(queue: QueueInside, { id }: LaneEntry): boolean {
  const occurrence = readOccurrenceId(id);
  const state = occurrence && queue.recurrenceState(occurrence.recurrenceId);
  // See scripts/recur/record.lua.
  const [, armed, , , , blockedDue] = state?.split(' ') ?? [];
  return armed === String(occurrence?.atMs) && blockedDue !== '0';
}

/** "<priority>:<worker>:<name>", with '!' or '@' at the beginning of the worker for what is none. */
const prefersWorker = (lane: string): boolean => /^\d+:[^:!@]/.test(lane);

const nameIn = (lane: string): string => readVersionedName(lane.split(':').slice(2).join(':')).name;
