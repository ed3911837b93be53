import { FIRST_VERSION } from '../../core/job/job-versions.js';
import { isReadable } from '../../store/envelope.js';
import type { QueueRecurrences, QueueStore } from '../../store/job-store.js';

/** What there is of one version of a job name. */
export interface UsedVersion {
  /** 1 for jobs whose definition says none, and for those named by a string. */
  version: number;
  /** Waiting, due or not: occurrences that are armed, and jobs that are queued behind a running one, too. */
  waiting: number;
  /** Running or popped. */
  active: number;
  /** Dead letters, which keep their version when they are replayed. */
  dead: number;
  /** That have not ended: each goes on to make jobs of this version. */
  recurrences: number;
}

const RECURRENCES_A_CALL = 1_000;

/** By version, those of which there is something. */
export async function usedVersions({ view, recurrences }: QueueStore, name: string): Promise<UsedVersion[]> {
  const used = new Map<number, UsedVersion>();
  // Before the jobs: one that ends meanwhile has left its last job behind.
  for (const [version, count] of await recurrencesByVersion(recurrences, name))
    used.set(version, { version, waiting: 0, active: 0, dead: 0, recurrences: count });
  for (const { version, ...counts } of await view.versions(name))
    used.set(version, { version, ...counts, recurrences: used.get(version)?.recurrences ?? 0 });
  return [...used.values()].sort((a, b) => a.version - b.version);
}

async function recurrencesByVersion(recurrences: QueueRecurrences, name: string): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  for (let offset = 0; ; offset += RECURRENCES_A_CALL) {
    const listed = await recurrences.list(offset, RECURRENCES_A_CALL);
    for (const { template, state } of listed) {
      if (state === 'ended' || !isReadable(template) || template.name !== name) continue;
      const { version = FIRST_VERSION } = template;
      counts.set(version, (counts.get(version) ?? 0) + 1);
    }
    if (listed.length < RECURRENCES_A_CALL) return counts;
  }
}
