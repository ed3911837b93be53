import type { Clock } from '../../core/clock.js';
import { withinJob } from '../../core/job/current-job.js';
import { titleOf } from '../../core/job/reported-job.js';
import type { Log } from '../../core/log.js';
import { span } from '../../core/read/duration.js';
import type { RunningJob } from '../run/running-job.js';
import type { StuckListener } from '../run/running-jobs.js';

/** A handler may take so long to return once its run is over, before it counts as stuck in the log. */
const GRACE_MS = 1_000;
const EVERY_MS = 60_000;

/** Tells in the log, once a minute for all queues of a process, how many handlers are stuck. */
export class StuckLog implements StuckListener {
  /** Since when each is, by this process's wall clock, and whether a warning has counted it; the first one for longest. */
  private readonly runs = new Map<RunningJob, { sinceMs: number; isTold: boolean }>();
  private isWaiting = false;
  /** A time of `clock.now()`. */
  private toldAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly log: Log,
    private readonly clock: Clock,
    private readonly trackCurrentJob: boolean,
  ) {}

  add(run: RunningJob): void {
    this.runs.set(run, { sinceMs: this.clock.wallNow(), isTold: false });
    this.wait(GRACE_MS);
  }

  remove(run: RunningJob, hasReturned: boolean): void {
    const stuck = this.runs.get(run);
    this.runs.delete(run);
    if (!hasReturned || !stuck?.isTold) return;
    const forMs = this.clock.wallNow() - stuck.sinceMs;
    this.about(run, () =>
      this.log.log(`The handler of ${titleOf(run)} has returned, ${span(forMs)} after its run had ended.`),
    );
  }

  private wait(ms: number): void {
    if (this.isWaiting) return;
    this.isWaiting = true;
    const restMs = this.toldAt + EVERY_MS - this.clock.now();
    // Does not keep a process alive that has nothing else to do.
    this.clock.after(Math.max(ms, restMs), () => this.tell(), { keepsAlive: false });
  }

  private tell(): void {
    this.isWaiting = false;
    const [longest] = this.runs;
    if (!longest) return;
    this.toldAt = this.clock.now();
    for (const stuck of this.runs.values()) stuck.isTold = true;
    const [run, { sinceMs }] = longest;
    this.about(run, () => this.warn(run, sinceMs));
    this.wait(EVERY_MS);
  }

  private about(run: RunningJob, write: () => void): void {
    if (this.trackCurrentJob) withinJob(run, write);
    else write();
  }

  private warn(run: RunningJob, sinceMs: number): void {
    const { size } = this.runs;
    const handlers = size === 1 ? '1 handler is' : `${size} handlers are`;
    this.log.warn(
      `${handlers} stuck: the run has ended (timed out, cancelled or lease lost), but the handler has not returned. The longest is that of ${titleOf(run)}, since ${new Date(sinceMs).toISOString()}. A place is free only once its handler returns: let handlers end when job.signal aborts.`,
    );
  }
}
