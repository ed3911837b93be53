import type { Clock } from '../../core/clock.js';
import { JobOutcome, type SnoozeUntil } from '../../core/job/outcome.js';
import { POPPED_JOB_FIELDS, type PoppedJob, type PoppedJobFields } from '../../core/job/popped-job.js';
import { readExtension } from '../../core/options/pop-options.js';
import type { Duration } from '../../core/read/duration.js';
import type { Settled } from '../../store/job-store.js';
import type { RunningJob } from '../run/running-job.js';
import type { EndedRun, Settler } from '../run/settler.js';

type EndingCall = 'complete' | 'fail' | 'snooze';

/** Whoever speaks for held jobs to Redis. */
export interface SettlementPort {
  readonly clock: Clock;
  /** True once the application closes and all jobs have gone back. */
  readonly areGivenBack: boolean;
  /** Says it with the next turn, and again until that is answered. Rejects with `QueueClosedError`. */
  send(ended: EndedRun): Promise<Settled>;
  /** As long as a call may take. Rejects with `QueueUnavailableError`. */
  inTime<T>(answer: Promise<T>, run: RunningJob): Promise<T>;
  /** The job goes back when the application closes. */
  add(job: HeldJob): void;
  /** The job is settled, or was lost. */
  letGo(job: HeldJob): void;
  /** The job goes back as if nothing had been. */
  putBack(job: HeldJob): void;
}

/** Copies the fields of its run, so that they are a popped job's own: a job that is logged or serialised shows them. */
class FieldsOfRun {
  constructor(run: RunningJob) {
    const own = this as unknown as Record<string, unknown>;
    for (const field of POPPED_JOB_FIELDS) own[field] = run[field];
  }
}
const PoppedFields = FieldsOfRun as new (run: RunningJob) => PoppedJobFields;

/**
 * A popped job in somebody's hands. What the library needs of it is private, so that a job that is logged or serialised shows
 * what its owner knows.
 */
export class HeldJob extends PoppedFields implements PoppedJob {
  /** A promise while a codec decodes it: nobody outside has the job then. */
  declare payload: unknown;
  readonly #run: RunningJob;
  readonly #settler: Settler;
  readonly #port: SettlementPort;
  #heldUntil: number;
  /** The first call that ends it, and whether anybody has been told what came of that: the same call may be made again until then. */
  #ending?: { call?: EndingCall; settled: Promise<Settled>; isTold: boolean };

  constructor(run: RunningJob, heldUntil: number, settler: Settler, port: SettlementPort) {
    super(run);
    this.#run = run;
    this.#heldUntil = heldUntil;
    this.#settler = settler;
    this.#port = port;
  }

  /** @internal */
  static runOf(job: HeldJob): RunningJob {
    return job.#run;
  }

  /** @internal Whether its lease still holds for all that is known here, at a time of `clock.now()`. */
  static isHeld(job: HeldJob, now: number): boolean {
    return now < job.#heldUntil;
  }

  /** @internal Whether a codec is still at work on its payload. */
  static isDecoding(job: HeldJob): boolean {
    return job.payload instanceof Promise;
  }

  /** @internal Waits for its payload. Resolves to false where nobody can have the job; what becomes of it is said then. */
  static async decode(job: HeldJob, clock: Clock): Promise<boolean> {
    if (!HeldJob.isDecoding(job)) return true;
    try {
      job.payload = await job.payload;
      job.#run.payload = job.payload;
    } catch (error) {
      job.#run.payload = undefined;
      if (!job.#port.areGivenBack) job.#refuse(job.#settler.unfit(job.#run, error));
      return false;
    }
    if (job.#port.areGivenBack) return false;
    if (HeldJob.isHeld(job, clock.now())) return true;
    job.#port.putBack(job);
    return false;
  }

  #refuse(ended: EndedRun): void {
    const settled = this.#port.send(ended);
    // Nobody waits for the answer; it never comes where the application has closed.
    settled.catch(() => {});
    this.#ending ??= { settled, isTold: true };
    this.#port.letGo(this);
  }

  complete(result?: unknown): Promise<boolean> {
    return this.#end('complete', () => this.#settler.completed(this.#run, result));
  }

  fail(error: unknown): Promise<boolean> {
    return this.#end('fail', () => this.#settler.failed(this.#run, error));
  }

  async snooze(until: SnoozeUntil): Promise<boolean> {
    const outcome = JobOutcome.snoozeFor(until, 'snooze', this.#about());
    return await this.#end('snooze', () => this.#settler.completed(this.#run, outcome));
  }

  async extend(duration: Duration): Promise<boolean> {
    const leaseMs = readExtension(duration, this.#about());
    if (this.#ending) return false;
    const askedAt = this.#port.clock.now();
    const settled = this.#port.send(this.#settler.extended(this.#run, leaseMs)).then((answer) => {
      if (answer === 'counted') this.#holdUntil(askedAt + leaseMs);
      return answer;
    });
    if ((await this.#port.inTime(settled, this.#run)) === 'counted') return true;
    this.#ending ??= { settled, isTold: true };
    this.#port.letGo(this);
    return false;
  }

  /** Also where nobody waits for that answer any more, and where the lease had run out before it came. */
  #holdUntil(time: number): void {
    this.#heldUntil = time;
    if (!this.#ending) this.#port.add(this);
  }

  #about() {
    return { queue: this.queue, jobName: this.name, jobId: this.id };
  }

  /** The first call decides. Whoever makes it again, because no answer came in time, gets the answer of the first. */
  async #end(call: EndingCall, write: () => EndedRun): Promise<boolean> {
    if (!this.#ending) {
      this.#ending = { call, settled: this.#port.send(write()), isTold: false };
      this.#port.letGo(this);
    }
    const ending = this.#ending;
    if (ending.call !== call) return false;
    const settled = await this.#port.inTime(ending.settled, this.#run);
    // Of two calls, at once or one after the other, one has ended the job.
    if (ending.isTold) return false;
    ending.isTold = true;
    return settled === 'counted' || settled === 'replaced' || settled === 'final';
  }
}
