import type { Clock } from '../../core/clock.js';
import { UnorderedSet } from '../../core/unordered-set.js';
import type { ClaimedJob } from '../../store/job-store.js';
import { Alarm } from '../session/alarm.js';
import { Signal } from '../session/signal.js';
import type { RunningJob } from './running-job.js';

/** Whoever ends runs whose time is over. */
export interface TimeoutHolder {
  timeOut(run: RunningJob): void;
}

/** Hears which handlers are stuck. */
export interface StuckListener {
  add(run: RunningJob): void;
  /** It is stuck no more: its handler has returned, or, at the end of the process, nobody waits for that. */
  remove(run: RunningJob, hasReturned: boolean): void;
}

/**
 * The runs of one queue in this process whose handlers have not returned; each takes a place until it does. One timer for
 * all tells of those whose time is over: it is set for the earliest, and a run that ends leaves it alone.
 */
export class RunningJobs {
  /** Not by id: a job may be claimed anew here while the handler of its last run has yet to return. */
  private readonly runs = new UnorderedSet<RunningJob>();
  /** Those that are abandoned, in that order, and since when: times of `clock.now()`. */
  private readonly stuck = new Map<RunningJob, number>();
  private readonly timeouts: Alarm;
  private readonly emptied = new Signal();
  private holder?: TimeoutHolder;

  constructor(
    private readonly clock: Clock,
    timerName: string,
    private readonly stuckListener: StuckListener,
  ) {
    this.timeouts = new Alarm(clock, timerName, () => this.checkTimeouts());
  }

  /** Tells this holder from now on of runs whose time is over. */
  tell(holder: TimeoutHolder): void {
    this.holder = holder;
  }

  /** How many places are taken. */
  get size(): number {
    return this.runs.size;
  }

  all(): Iterable<RunningJob> {
    return this.runs;
  }

  /** Whether there is one whose outcome still counts. */
  holdsAny(): boolean {
    for (const run of this.runs) if (!run.abandoned) return true;
    return false;
  }

  add(run: RunningJob): void {
    this.runs.add(run);
    this.watch(run);
  }

  /** Does nothing if the run has been removed already: at shutdown `clear` removes all. */
  remove(run: RunningJob): void {
    if (this.runs.delete(run) && run.call && !run.abandoned) run.call.held--;
    if (this.runs.size === 0) this.emptied.fire();
    if (this.stuck.delete(run)) this.stuckListener.remove(run, true);
  }

  /** Resolves once all handlers have returned, stuck ones too, or when `deadline` aborts. */
  async allReturned(deadline: AbortSignal): Promise<void> {
    if (this.runs.size > 0) await this.emptied.wait(deadline);
  }

  /**
   * Its outcome no longer counts. Its handler is stuck: it takes its place until it returns. A call that it shares goes on for the others,
   * and is stuck with the last of them.
   */
  abandon(run: RunningJob, reason: Error): void {
    run.abandon(reason);
    if (run.call && --run.call.held > 0) {
      this.runs.delete(run);
      return;
    }
    this.stuck.set(run, this.clock.now());
    this.stuckListener.add(run);
  }

  /** Runs whose handlers go on although nobody waits for their outcome any more, the one that does so for longest first; how long, in ms. */
  *stuckFor(): Iterable<[run: RunningJob, ms: number]> {
    const now = this.clock.now();
    for (const [run, since] of this.stuck) yield [run, now - since];
  }

  get anyStuck(): boolean {
    return this.stuck.size > 0;
  }

  /** The run of this id whose outcome still counts. */
  find(id: string): RunningJob | undefined {
    for (const run of this.runs) if (run.id === id && !run.abandoned) return run;
    return undefined;
  }

  /** Those whose outcome still counts. */
  held(): RunningJob[] {
    return [...this.runs].filter((run) => !run.abandoned);
  }

  claims(): ClaimedJob[] {
    return this.held().map(({ claim }) => claim);
  }

  clear(): void {
    for (const run of this.stuck.keys()) this.stuckListener.remove(run, false);
    this.stuck.clear();
    this.runs.clear();
    this.timeouts.clear();
  }

  private watch(run: RunningJob): void {
    if (run.timeoutAt !== Number.POSITIVE_INFINITY) this.timeouts.setFor(run.timeoutAt);
  }

  private checkTimeouts(): void {
    const now = this.clock.now();
    for (const run of this.held()) {
      if (run.timeoutAt <= now) this.holder?.timeOut(run);
      else this.watch(run);
    }
  }
}
