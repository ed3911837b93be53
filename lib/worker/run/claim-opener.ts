import type { Clock } from '../../core/clock.js';
import type { EventSink } from '../../core/job/events.js';
import type { Codecs } from '../../core/payload/codecs.js';
import { isThenable } from '../../core/thenable.js';
import { isReadable } from '../../store/envelope.js';
import type { ClaimedJob } from '../../store/job-store.js';
import { limitsOf } from './processor.js';
import { type RunContext, RunningJob } from './running-job.js';
import type { EndedRun, SettingsByName, Settler } from './settler.js';

/** Makes claimed jobs fit to be handed out. What has no handler has no payload class: its payload need only be readable. */
export class ClaimOpener {
  private readonly context: RunContext;

  constructor(
    queue: string,
    private readonly byName: SettingsByName,
    private readonly codecs: Codecs,
    leaseMs: number,
    private readonly settler: Settler,
    events: EventSink,
    clock: Clock,
  ) {
    // Nobody renews their leases.
    const leases = { renewal: () => undefined, heldUntil: (askedAt: number) => askedAt + leaseMs };
    this.context = { queue, leases, events, clock };
  }

  /**
   * A job that was asked for at `askedAt`, or how it ends where nobody can have it. Its payload may be the promise of a codec.
   * Never throws.
   */
  open(claim: ClaimedJob, askedAt: number): RunningJob | EndedRun {
    const { envelope } = claim;
    if (!isReadable(envelope)) return this.settler.unreadable(claim, envelope.unreadable);
    const limits = limitsOf(envelope, this.byName.get(envelope.name)!);
    if (claim.attempt > limits.maxAttempts) return this.settler.spent(claim, envelope, limits);
    const run = new RunningJob(this.context, claim, askedAt, envelope, limits);
    try {
      const payload = this.codecs.decode(envelope, run);
      run.payload = envelope.codec !== undefined && isThenable(payload) ? watched(payload) : payload;
    } catch (error) {
      return this.settler.unfit(run, error);
    }
    return run;
  }
}

/** A promise whose rejection may stay unheard: the job may go back before anybody waits for its payload. */
function watched(payload: PromiseLike<unknown>): Promise<unknown> {
  const promise = Promise.resolve(payload);
  promise.catch(() => {});
  return promise;
}
