import type { CallOff, Clock } from '../../core/clock.js';
import { QueueClosedError, QueueUnavailableError } from '../../core/errors.js';
import type { Settled } from '../../store/job-store.js';
import type { Holdings } from '../capacity/occupancy.js';
import type { RunningJob } from '../run/running-job.js';
import type { EndedRun } from '../run/settler.js';
import type { PendingSettlements } from '../session/pending-settlements.js';
import type { SessionLoop } from '../session/session-loop.js';
import type { SentTurn } from '../session/turns-in-flight.js';
import { HeldJob, type SettlementPort } from './held-job.js';

/** The unsettled popped jobs of one puller, and the callers that wait for the result of a settlement. */
export class HeldJobs implements SettlementPort, Holdings {
  private readonly held = new Set<HeldJob>();
  private readonly said = new Map<EndedRun, { resolve(settled: Settled): void; reject(error: Error): void }>();
  private givenBack = false;
  private closed = false;

  constructor(
    private readonly queue: string,
    private readonly pending: PendingSettlements,
    private readonly loop: SessionLoop,
    private readonly commandTimeoutMs: number,
    readonly clock: Clock,
  ) {}

  /** Also of one that has gone back while its extension was in flight: it is held no more. */
  add(job: HeldJob): void {
    if (!this.givenBack) this.held.add(job);
  }

  letGo(job: HeldJob): void {
    this.held.delete(job);
  }

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

  get areGivenBack(): boolean {
    return this.givenBack;
  }

  get isRunning(): boolean {
    return this.holdsAny();
  }

  send(ended: EndedRun): Promise<Settled> {
    return new Promise((resolve, reject) => {
      if (this.closed) {
        reject(this.closedError());
        return;
      }
      this.said.set(ended, { resolve, reject });
      this.pending.addEnded(ended);
      this.loop.saySoon();
    });
  }

  async inTime<T>(answer: Promise<T>, { id, name }: RunningJob): Promise<T> {
    let callOff: CallOff | undefined;
    const late = new Promise<never>((_, reject) => {
      callOff = this.clock.after(this.commandTimeoutMs, () => reject(this.noAnswer(id, name)));
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      callOff?.();
    }
  }

  answered({ ended }: SentTurn, settled: readonly Settled[]): void {
    for (const [i, run] of ended.entries()) {
      this.said.get(run)?.resolve(settled[i]!);
      this.said.delete(run);
    }
  }

  /** All that are held go back as if nothing had been. */
  giveBack(): void {
    this.givenBack = true;
    for (const job of this.held) this.pending.release(HeldJob.runOf(job).claim);
    this.held.clear();
  }

  close(): void {
    this.closed = true;
    for (const { reject } of this.said.values()) reject(this.closedError());
    this.said.clear();
  }

  private closedError(): QueueClosedError {
    const { queue } = this;
    return new QueueClosedError(
      `The application has closed; jobs of queue '${queue}' that nobody had settled have gone back.`,
      { queue },
    );
  }

  private noAnswer(jobId: string, jobName: string): QueueUnavailableError {
    const cause = this.loop.trouble;
    const why = cause instanceof Error ? `: ${cause.message.replace(/\.$/, '')}` : '';
    return new QueueUnavailableError(
      `Job '${jobName}' (${jobId}): Redis has not answered within commandTimeoutMs (${this.commandTimeoutMs} ms)${why}. What was said of it is sent again until it is answered; the same call again tells what came of it.`,
      'unknown',
      { queue: this.queue, jobName, jobId, ...(cause !== undefined && { cause }) },
    );
  }
}
