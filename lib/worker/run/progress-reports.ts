import type { Clock } from '../../core/clock.js';
import type { KnownOfJob } from '../../core/job/reported-job.js';
import type { ClaimedJob, ProgressReport } from '../../store/job-store.js';
import { Alarm } from '../session/alarm.js';
import { toKeptJson } from './kept-json.js';

/** At most so often does a worker tell the store how far its runs are. */
const TELL_EVERY_MS = 1_000;
/** The most that is kept of one report. It stands in the job's claim, which every renewal and settlement of the job reads. */
const MOST_BYTES = 1_024;
const LIMIT = `at most ${MOST_BYTES} of a report are kept`;
/** So that no turn is long: half a MiB at the worst. The others go a second later. */
const REPORTS_A_TURN = 500;

/** Whoever is told of a report that cannot be kept. */
export interface ProgressReporter {
  progressNotKept(job: KnownOfJob, problem: string): void;
}

/** A run whose handler reports how far it is. Only its last report counts; it is made JSON when it is told. */
export interface ReportingRun {
  readonly claim: ClaimedJob;
  readonly name: string;
  readonly reported: unknown;
}

/** What the runs of one worker report: it goes with the worker's turns, at most once a second. A run that reports nothing costs nothing here. */
export class ProgressReports {
  /** Runs whose last report has gone with no turn yet. */
  private readonly waiting = new Set<ReportingRun>();
  private readonly alarm: Alarm;
  /** A time of `clock.now()`. */
  private nextAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly queue: string,
    private readonly loop: { saySoon(): void },
    private readonly reporter: ProgressReporter,
    private readonly clock: Clock,
    timerName: string,
  ) {
    this.alarm = new Alarm(clock, timerName, () => this.watch());
  }

  /** Some are to be told now. */
  get areDue(): boolean {
    return this.waiting.size > 0 && this.clock.now() >= this.nextAt;
  }

  note(run: ReportingRun): void {
    if (this.waiting.has(run)) return;
    this.waiting.add(run);
    this.watch();
  }

  /** Its outcome is decided: a last report goes with its settlement. */
  leave(run: ReportingRun): void {
    if (this.waiting.delete(run) && this.waiting.size === 0) this.alarm.clear();
  }

  /** Takes those out that go with a turn now. */
  take(): ProgressReport[] {
    if (!this.areDue) return [];
    this.nextAt = this.clock.now() + TELL_EVERY_MS;
    const reports: ProgressReport[] = [];
    for (const run of [...this.waiting].slice(0, REPORTS_A_TURN)) {
      this.waiting.delete(run);
      const value = this.read(run);
      if (value !== undefined) reports.push({ id: run.claim.id, fence: run.claim.fence, value });
    }
    this.watch();
    return reports;
  }

  /** The last report as JSON; `undefined` where that cannot be kept. */
  read({ claim: { id, attempt }, name, reported }: ReportingRun): string | undefined {
    const { text, problem } = toKeptJson(reported, MOST_BYTES, LIMIT);
    if (problem !== undefined) this.reporter.progressNotKept({ queue: this.queue, id, name, attempt }, problem);
    return text;
  }

  private watch(): void {
    if (this.areDue) this.loop.saySoon();
    else if (this.waiting.size > 0) this.alarm.setFor(this.nextAt);
  }
}
