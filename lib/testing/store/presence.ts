import { includesVersion, type VersionRange } from '../../core/job/job-versions.js';
import type { CallSize } from '../../store/call-size.js';
import type { StuckSince } from '../../store/job-store.js';

/** The names that a session takes, and in which versions; `undefined` for all of these. */
export type HandledNames = ReadonlyMap<string, VersionRange | undefined>;

export function handlesVersion(handled: HandledNames | undefined, name: string, version: number): boolean {
  if (!handled?.has(name)) return !handled;
  const versions = handled.get(name);
  return !versions || includesVersion(versions, version);
}

/** A session that was there lately. */
export interface Present {
  readonly worker: string;
  /** `undefined` for every name. */
  readonly handled: HandledNames | undefined;
  /** The key of its session. */
  readonly session: string;
  /** What weight it runs at once by handlers. */
  readonly concurrency: number;
  readonly calls: ReadonlyMap<string, CallSize>;
  readonly stuck?: StuckSince;
  readonly seenAtMs: number;
}

/** Who was at a queue lately. A worker that was not there for a lease counts as gone. */
export class Presence {
  private readonly present = new Map<string, Present>();

  constructor(private readonly leaseMs: number) {}

  note(session: string, present: Present): void {
    // Anew, so that the latest stands last.
    this.present.delete(session);
    this.present.set(session, present);
  }

  leave(session: string): void {
    this.present.delete(session);
  }

  isHere(worker: string, nowMs: number): boolean {
    return this.workersHere(nowMs).has(worker);
  }

  /** The processes that are there. */
  workersHere(nowMs: number): Set<string> {
    const here = [...this.present.values()].filter(({ seenAtMs }) => seenAtMs > nowMs - this.leaseMs);
    return new Set(here.map(({ worker }) => worker));
  }

  /** The sessions that are there, the one that was there last first. */
  sessionsHere(nowMs: number): Present[] {
    return [...this.present.values()]
      .reverse()
      .filter(({ seenAtMs }) => seenAtMs >= nowMs - this.leaseMs)
      .sort((a, b) => b.seenAtMs - a.seenAtMs);
  }
}
