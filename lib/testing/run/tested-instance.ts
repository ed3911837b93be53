import type { ScheduledQueueEvents } from '../../api/scheduled-queue.events.js';
import type { Codecs } from '../../core/payload/codecs.js';
import type { MemoryJobStore } from '../../store/memory/memory-job-store.js';
import { Ends } from '../look/ends.js';
import type { JobKind } from '../look/job-kind.js';
import { type WaitingJob, waitingJobs } from '../look/waiting-jobs.js';
import type { Conductor } from './conductor.js';
import type { TestFleet } from './test-fleet.js';

/** One instance of the module under test, as the tester sees it. */
export class TestedInstance {
  readonly ends: Ends;

  constructor(
    private readonly store: MemoryJobStore,
    private readonly codecs: Codecs,
    readonly fleet: TestFleet,
    events: ScheduledQueueEvents,
    conductor: Conductor,
  ) {
    this.ends = new Ends(store);
    conductor.afterCall.push(() => this.ends.lookAgain());
    events.events$.subscribe({ next: (event) => this.ends.hear(event), complete: () => this.ends.close() });
  }

  waiting(kind: JobKind | undefined): WaitingJob[] {
    return waitingJobs(this.store, this.codecs, kind);
  }
}
