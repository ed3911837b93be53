import type { EventSink } from '../../core/job/events.js';
import type { ClaimedJob } from '../../store/job-store.js';
import type { ClaimOpener } from '../run/claim-opener.js';
import { RunningJob } from '../run/running-job.js';
import type { Settler } from '../run/settler.js';
import type { PendingSettlements } from '../session/pending-settlements.js';
import { HeldJob } from './held-job.js';
import type { HeldJobs } from './held-jobs.js';
import type { WaitingPops } from './waiting-pops.js';

/** Hands claimed jobs to the pops that wait, and releases the rest. */
export class PopCounter {
  constructor(
    private readonly opener: ClaimOpener,
    private readonly settler: Settler,
    private readonly pending: PendingSettlements,
    private readonly held: HeldJobs,
    private readonly pops: WaitingPops,
    private readonly leaseMs: number,
    private readonly events: EventSink,
  ) {}

  /** For jobs that were asked for at `askedAt`. */
  handOut(claimed: readonly ClaimedJob[], askedAt: number): void {
    const jobs: HeldJob[] = [];
    for (const claim of claimed) {
      const run = this.opener.open(claim, askedAt);
      const unfit = run instanceof RunningJob ? this.opener.readPayload(run) : run;
      if (unfit) this.pending.addEnded(unfit);
      // The process stood still, or Redis was away, for so long that others may have the job by now.
      else if ((run as RunningJob).leaseIsOver()) this.pending.release(claim);
      else jobs.push(new HeldJob(run as RunningJob, askedAt + this.leaseMs, this.settler, this.held));
    }
    const left = this.pops.deliver(jobs);
    for (const job of left) this.pending.release(HeldJob.runOf(job).claim);
    for (const job of jobs.slice(0, jobs.length - left.length)) {
      this.held.add(job);
      const { queue, id, name, attempt, latenessMs } = job;
      if (!this.events.wants(queue)) continue;
      this.events.tell({ type: 'started', queue, id, name, attempt, latenessMs });
    }
  }
}
