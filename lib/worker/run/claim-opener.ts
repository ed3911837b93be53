import type { EventSink } from '../../core/job/events.js';
import type { Codecs } from '../../core/payload/codecs.js';
import { isThenable } from '../../core/thenable.js';
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
    private readonly codecs: Codecs,
    private readonly leaseMs: number,
    private readonly settler: Settler,
    private readonly events: EventSink,
  ) {}

  /**
   * A job that was asked for at `askedAt`, or how it ends where nobody can have it. Its payload may be the promise of a codec.
   * Never throws.
   */
  open(claim: ClaimedJob, askedAt: number): RunningJob | EndedRun {
    const { envelope } = claim;
    if (!isReadable(envelope)) return this.settler.unreadable(claim, envelope.unreadable);
    const limits = limitsOf(envelope, this.byName.get(envelope.name)!);
    if (claim.attempt > limits.maxAttempts) return this.settler.spent(claim, envelope, limits);
    // Nobody renews its lease.
    const keeper = { renewal: () => undefined, heldUntil: (from: number) => from + this.leaseMs };
    const run = new RunningJob(this.queue, claim, askedAt, envelope, limits, keeper, this.events);
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
