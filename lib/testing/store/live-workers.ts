import { sharedOptions } from '../../core/options/shared-options.js';
import { VERSION } from '../../core/version.js';
import type { LiveWorker } from '../../store/job-store.js';
import { byId } from './job.js';
import type { MemoryQueue } from './memory-queue.js';

/** What a session of all names stands for. */
const EVERY_NAME = '*';

/** By id. */
export function liveWorkers(queue: MemoryQueue, place: { host: string; pid: number }): LiveWorker[] {
  const running = [...queue.ledger.active].map(({ held, envelope: { name } }) => ({ ...held!, name }));
  const found = new Map<string, LiveWorker>();
  for (const { worker, session, names, concurrency, weights, stuck, seenAtMs } of queue.presence.sessionsHere(
    queue.nowMs(),
  )) {
    const held = running.filter((job) => job.worker === worker);
    const ownRuns = concurrency > 0 ? held.filter((job) => job.session === session) : [];
    // Of several sessions of a process, the one that was there last comes first.
    const known = found.get(worker);
    const handles = [...new Set([...(known?.handles ?? []), ...(names ?? [EVERY_NAME])])].sort();
    found.set(worker, {
      id: worker,
      ...place,
      version: VERSION,
      running: held.length,
      concurrency: (known?.concurrency ?? 0) || concurrency,
      weight: (known?.weight ?? 0) + ownRuns.reduce((sum, { name }) => sum + (weights.get(name) ?? 1), 0),
      handles,
      options: sharedOptions(queue.settings, queue.codec),
      stuck: known?.stuck ?? stuck,
      lastSeenAtMs: known?.lastSeenAtMs ?? seenAtMs,
    });
  }
  return [...found.values()].sort(byId);
}
