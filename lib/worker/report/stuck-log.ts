import type { Clock } from '../../core/clock.js';
import { withinJob } from '../../core/job/current-job.js';
import type { Log } from '../../core/log.js';
import type { RunningJob } from '../run/running-job.js';
import type { StuckListener } from '../run/running-jobs.js';
import { titleOf } from './job-title.js';

/** A handler may take so long to return once its run is over, before it counts as stuck in the log. */
const GRACE_MS = 1_000;
const EVERY_MS = 60_000;

/** Tells in the log, once a minute for all queues of a process, how many handlers are stuck. */
export class StuckLog implements StuckListener {
  /** Since when each is, by this process's wall clock; the first one for longest. */
  private readonly runs = new Map<RunningJob, number>();
  private isWaiting = false;
  /** A time of `clock.now()`. */
  private toldAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly log: Log,
    private readonly clock: Clock,
    private readonly trackCurrentJob: boolean,
  ) {}

  add(run: RunningJob): void {
    this.runs.set(run, this.clock.wallNow());
    this.wait(GRACE_MS);
  }

  remove(run: RunningJob): void {
    this.runs.delete(run);
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
    const [run, sinceMs] = longest;
    if (this.trackCurrentJob) withinJob(run, () => this.warn(run, sinceMs));
    else this.warn(run, sinceMs);
    this.wait(EVERY_MS);
  }

  private warn(run: RunningJob, sinceMs: number): void {
    const { size } = this.runs;
    const handlers = size === 1 ? '1 handler is' : `${size} handlers are`;
    this.log.warn(
      `${handlers} stuck: the run has ended (timed out, cancelled or lease lost), but the handler has not returned. The longest is that of ${titleOf(run)}, since ${new Date(sinceMs).toISOString()}. A place is free only once its handler returns: let handlers end when job.signal aborts.`,
    );
  }
}
