import { sharedOptions } from '../../core/options/shared-options.js';
import { VERSION } from '../../core/version.js';
import { type CallSize, weightOfJobs } from '../../store/call-size.js';
import type { LiveWorker } from '../../store/job-store.js';
import { byId } from './job.js';
import type { MemoryQueue } from './memory-queue.js';

/** What a session of all names stands for. */
const EVERY_NAME = '*';

/** By id. */
export function liveWorkers(queue: MemoryQueue, place: { host: string; pid: number }): LiveWorker[] {
  const running = [...queue.ledger.active].map(({ held, envelope: { name } }) => ({ ...held!, name }));
  const found = new Map<string, LiveWorker>();
  for (const { worker, session, handled, concurrency, calls, stuck, seenAtMs } of queue.presence.sessionsHere(
    queue.nowMs(),
  )) {
    const held = running.filter((job) => job.worker === worker);
    const ownRuns = concurrency > 0 ? held.filter((job) => job.session === session) : [];
    // Of several sessions of a process, the one that was there last comes first.
    const known = found.get(worker);
    const handles = [...new Set([...(known?.handles ?? []), ...(handled?.keys() ?? [EVERY_NAME])])].sort();
    found.set(worker, {
      id: worker,
      ...place,
      version: VERSION,
      running: held.length,
      concurrency: (known?.concurrency ?? 0) || concurrency,
      weight: (known?.weight ?? 0) + weightOf(ownRuns, calls),
      handles,
      options: sharedOptions(queue.settings, queue.codec),
      stuck: known?.stuck ?? stuck,
      lastSeenAtMs: known?.lastSeenAtMs ?? seenAtMs,
    });
  }
  return [...found.values()].sort(byId);
}

function weightOf(runs: readonly { name: string }[], calls: ReadonlyMap<string, CallSize>): number {
  const counts = new Map<string, number>();
  for (const { name } of runs) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].reduce((sum, [name, count]) => sum + weightOfJobs(count, calls.get(name)), 0);
}
