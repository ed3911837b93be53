import type { CallOff } from '../../core/clock.js';
import { QueueClosedError } from '../../core/errors.js';
import { JobOutcome, type SnoozeUntil } from '../../core/job/outcome.js';
import { POPPED_JOB_FIELDS, type PoppedJob, type PoppedJobFields } from '../../core/job/popped-job.js';
import { readExtension } from '../../core/options/pop-options.js';
import type { Duration } from '../../core/read/duration.js';
import type { ClaimedJob, Settled } from '../../store/job-store.js';
import type { Holdings } from '../capacity/holder-in-process.js';
import type { InstanceParts } from '../instance-parts.js';
import { ClaimOpener } from '../run/claim-opener.js';
import type { KeptResults } from '../run/kept-json.js';
import type { NextSteps } from '../run/next-steps.js';
import { RunningJob } from '../run/running-job.js';
import { type EndedRun, type SettingsByName, SettlementBuilder } from '../run/settlement-builder.js';
import type { PendingSettlements } from '../session/pending-settlements.js';
import type { SessionLoop } from '../session/session-loop.js';
import type { SentTurn } from '../session/turns-in-flight.js';
import { noAnswer } from './waiting-pops.js';

type EndingCall = 'complete' | 'fail' | 'snooze';

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
  readonly #holder: HeldJobs;
  #heldUntil: number;
  /** The first call that ends it, and whether anybody has been told what came of that: the same call may be made again until then. */
  #ending?: { call?: EndingCall; settled: Promise<Settled>; isTold: boolean };

  constructor(run: RunningJob, heldUntil: number, holder: HeldJobs) {
    super(run);
    this.#run = run;
    this.#heldUntil = heldUntil;
    this.#holder = holder;
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
  static async decode(job: HeldJob): Promise<boolean> {
    if (!HeldJob.isDecoding(job)) return true;
    const holder = job.#holder;
    try {
      job.payload = await job.payload;
      job.#run.payload = job.payload;
    } catch (error) {
      job.#run.payload = undefined;
      if (!holder.areGivenBack) holder.endUnheard(job, holder.builder.undecodable(job.#run, error));
      return false;
    }
    if (holder.areGivenBack) return false;
    if (HeldJob.isHeld(job, holder.clock.now())) return true;
    holder.putBack(job);
    return false;
  }

  complete(result?: unknown): Promise<boolean> {
    return this.#end('complete', () => this.#holder.builder.completed(this.#run, result));
  }

  fail(error: unknown): Promise<boolean> {
    return this.#end('fail', () => this.#holder.builder.failed(this.#run, error));
  }

  async snooze(until: SnoozeUntil): Promise<boolean> {
    const outcome = JobOutcome.snoozeFor(until, 'snooze', this.#about());
    return await this.#end('snooze', () => this.#holder.builder.completed(this.#run, outcome));
  }

  async extend(duration: Duration): Promise<boolean> {
    const leaseMs = readExtension(duration, this.#about());
    if (this.#ending) return false;
    const askedAt = this.#holder.clock.now();
    const settled = this.#holder.send(this.#holder.builder.extended(this.#run, leaseMs)).then((answer) => {
      if (answer === 'counted') this.#holdUntil(askedAt + leaseMs);
      return answer;
    });
    if ((await this.#holder.inTime(settled, this.#run)) === 'counted') return true;
    this.#ending ??= { settled, isTold: true };
    this.#holder.letGo(this);
    return false;
  }

  /** Also where nobody waits for that answer any more, and where the lease had run out before it came. */
  #holdUntil(time: number): void {
    this.#heldUntil = time;
    if (!this.#ending) this.#holder.add(this);
  }

  #about() {
    return { queue: this.queue, jobName: this.name, jobId: this.id };
  }

  /** The first call decides. Whoever makes it again, because no answer came in time, gets the answer of the first. */
  async #end(call: EndingCall, write: () => EndedRun): Promise<boolean> {
    if (!this.#ending) {
      this.#ending = { call, settled: this.#holder.send(write()), isTold: false };
      this.#holder.letGo(this);
    }
    const ending = this.#ending;
    if (ending.call !== call) return false;
    const settled = await this.#holder.inTime(ending.settled, this.#run);
    // Of two calls, at once or one after the other, one has ended the job.
    if (ending.isTold) return false;
    ending.isTold = true;
    return settled === 'counted' || settled === 'replaced' || settled === 'final';
  }
}

/** What popped jobs need to know of their puller. */
export interface HeldJobsOptions extends Pick<InstanceParts, 'codecs' | 'commandTimeoutMs' | 'events' | 'clock'> {
  readonly queue: string;
  readonly byName: SettingsByName;
  readonly results: KeptResults | undefined;
  readonly steps: NextSteps;
  readonly leaseMs: number;
}

/** The unsettled popped jobs of one puller, and the callers that wait for the result of a settlement. */
export class HeldJobs implements Holdings {
  readonly clock = this.options.clock;
  readonly builder = new SettlementBuilder(this.options.byName, this.options.results, this.options.steps);
  private readonly opener: ClaimOpener;
  private readonly held = new Set<HeldJob>();
  private readonly said = new Map<EndedRun, { resolve(settled: Settled): void; reject(error: Error): void }>();
  /** True once the application closes and all jobs have gone back. */
  areGivenBack = false;
  private closed = false;

  constructor(
    private readonly options: HeldJobsOptions,
    private readonly pending: PendingSettlements,
    private readonly loop: SessionLoop,
  ) {
    const { leaseMs, byName, codecs } = options;
    // Nobody renews their leases.
    const leases = { renewal: () => undefined, heldUntil: (askedAt: number) => askedAt + leaseMs };
    this.opener = new ClaimOpener({ ...options, leases }, byName, codecs, this.builder);
  }

  /** Holds the jobs of claims that were asked for at `askedAt`, and answers them. Those that nobody can have end, or go back. */
  hold(claims: readonly ClaimedJob[], askedAt: number): HeldJob[] {
    const jobs: HeldJob[] = [];
    for (const claim of claims) {
      const run = this.opener.open(claim, askedAt);
      const unfit = run instanceof RunningJob ? this.opener.readPayload(run) : run;
      if (unfit) this.pending.addEnded(unfit);
      // The process stood still, or Redis was away, for so long that others may have the job by now.
      else if ((run as RunningJob).leaseIsOver()) this.pending.release(claim);
      else jobs.push(new HeldJob(run as RunningJob, askedAt + this.options.leaseMs, this));
    }
    for (const job of jobs) this.add(job);
    return jobs;
  }

  /** Also of one that has gone back while its extension was in flight: it is held no more. */
  add(job: HeldJob): void {
    if (!this.areGivenBack) this.held.add(job);
  }

  /** The job is settled, or was lost. */
  letGo(job: HeldJob): void {
    this.held.delete(job);
  }

  /** The job goes back as if nothing had been. */
  putBack(job: HeldJob): void {
    this.held.delete(job);
    this.pending.release(HeldJob.runOf(job).claim);
    this.loop.saySoon();
  }

  /** Those whose lease has run out are somebody else's by now, or soon. */
  holdsAny(): boolean {
    const now = this.clock.now();
    for (const job of this.held) if (!HeldJob.isHeld(job, now)) this.held.delete(job);
    return this.held.size > 0;
  }

  get isRunning(): boolean {
    return this.holdsAny();
  }

  /** For a job that nobody can have. */
  endUnheard(job: HeldJob, ended: EndedRun): void {
    this.letGo(job);
    this.pending.addEnded(ended);
    this.loop.saySoon();
  }

  /** Says it with the next turn, and again until that is answered. Rejects with `QueueClosedError`. */
  send(ended: EndedRun): Promise<Settled> {
    return new Promise((resolve, reject) => {
      // What was given back is somebody else's: said of it now, the same turn would both end the job and put it back.
      if (this.closed || this.areGivenBack) {
        reject(this.closedError());
        return;
      }
      this.said.set(ended, { resolve, reject });
      this.pending.addEnded(ended);
      this.loop.saySoon();
    });
  }

  /** As long as a call may take. Rejects with `QueueUnavailableError`. */
  async inTime<T>(answer: Promise<T>, { id, name }: RunningJob): Promise<T> {
    const { queue, commandTimeoutMs } = this.options;
    let callOff: CallOff | undefined;
    const late = new Promise<never>((_, reject) => {
      callOff = this.clock.after(commandTimeoutMs, () => {
        const again =
          'What was said of it is sent again until it is answered; the same call again tells what came of it.';
        const about = { queue, jobName: name, jobId: id };
        reject(noAnswer(`Job '${name}' (${id})`, commandTimeoutMs, again, this.loop.trouble, about));
      });
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      callOff?.();
    }
  }

  noteSettled({ ended }: SentTurn, settled: readonly Settled[]): void {
    for (const [i, run] of ended.entries()) {
      this.said.get(run)?.resolve(settled[i]!);
      this.said.delete(run);
    }
  }

  /** All that are held go back as if nothing had been. */
  giveBack(): void {
    this.areGivenBack = true;
    for (const job of this.held) this.pending.release(HeldJob.runOf(job).claim);
    this.held.clear();
  }

  close(): void {
    this.closed = true;
    for (const { reject } of this.said.values()) reject(this.closedError());
    this.said.clear();
  }

  private closedError(): QueueClosedError {
    const { queue } = this.options;
    return new QueueClosedError(
      `The application has closed; jobs of queue '${queue}' that nobody had settled have gone back.`,
      { queue },
    );
  }
}
