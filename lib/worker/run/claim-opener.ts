import type { EventSink } from '../../core/job/events.js';
import { deserialisePayload } from '../../core/payload/payload.js';
import { isReadable } from '../../store/envelope.js';
import type { ClaimedJob } from '../../store/job-store.js';
import { limitsOf } from './processor.js';
import { RunningJob } from './running-job.js';
import type { EndedRun, SettingsByName, Settler } from './settler.js';

/** Makes claimed jobs fit to be handed out. What has no handler has no payload class: its payload need only be readable. */
export class ClaimOpener {
  constructor(
    private readonly queue: string,
    private readonly byName: SettingsByName,
    private readonly leaseMs: number,
    private readonly settler: Settler,
    private readonly events: EventSink,
  ) {}

  /** A job that was asked for at `askedAt`, or how it ends where nobody can have it. Never throws. */
  open(claim: ClaimedJob, askedAt: number): RunningJob | EndedRun {
    const { envelope } = claim;
    if (!isReadable(envelope)) return this.settler.unreadable(claim, envelope.unreadable);
    const limits = limitsOf(envelope, this.byName.get(envelope.name)!);
    if (claim.attempt > limits.maxAttempts) return this.settler.spent(claim, envelope, limits);
    // Nobody renews its lease.
    const keeper = { renewal: () => undefined, heldUntil: (from: number) => from + this.leaseMs };
    const run = new RunningJob(this.queue, claim, askedAt, envelope, limits, keeper, this.events);
    try {
      run.payload = deserialisePayload(envelope.payload);
    } catch (error) {
      return this.settler.dead(claim, envelope, 'invalid-payload', error, run);
    }
    return run;
  }
}
