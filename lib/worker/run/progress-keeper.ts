import type { Clock } from '../../core/clock.js';
import type { KnownOfJob } from '../../core/job/reported-job.js';
import type { ClaimedJob, ProgressReport, QueueJobs } from '../../store/job-store.js';
import { Alarm } from '../session/alarm.js';
import { Soon } from '../session/soon.js';
import { toKeptJson } from './kept-json.js';

/** At most so often is a job's progress written. */
const WRITE_EVERY_MS = 1_000;
/** The most that is kept of one report. It stands in the job's claim, which every renewal and settlement of the job reads. */
const MOST_BYTES = 1_024;
const LIMIT = `at most ${MOST_BYTES} of a report are kept`;
/** How many reports go in one call, so that no script is long. */
const REPORTS_A_CALL = 100;

/** Whoever is told of a report that cannot be kept. */
export interface ProgressReporter {
  progressNotKept(job: KnownOfJob, problem: string): void;
}

/** Keeps what the runs of one queue report with their jobs, those of one moment in one call. A run that reports nothing costs nothing here. */
export class ProgressKeeper {
  /** Runs with something to write, now or when their second is over. */
  private readonly waiting = new Set<RunProgress>();
  private readonly alarm: Alarm;
  private readonly soon: Soon;
  private isStopped = false;

  constructor(
    private readonly queue: string,
    private readonly jobs: Pick<QueueJobs, 'keepProgress'>,
    private readonly reporter: ProgressReporter,
    private readonly clock: Clock,
    timerName: string,
  ) {
    this.alarm = new Alarm(clock, timerName, () => this.write());
    this.soon = new Soon(clock, () => this.write());
  }

  /** What a run reports from now on, until `end`. */
  open(claim: ClaimedJob, name: string): RunProgress {
    return new RunProgress(this, claim, name);
  }

  /** Writes no more. */
  stop(): void {
    this.isStopped = true;
    this.waiting.clear();
    this.alarm.clear();
  }

  /** There is something to write. */
  wait(progress: RunProgress): void {
    if (this.isStopped || this.waiting.has(progress)) return;
    this.waiting.add(progress);
    this.watch(progress);
  }

  leave(progress: RunProgress): void {
    this.waiting.delete(progress);
    if (this.waiting.size === 0) this.alarm.clear();
  }

  read(value: unknown, job: Omit<KnownOfJob, 'queue'>): string | undefined {
    const { text, problem } = toKeptJson(value, MOST_BYTES, LIMIT);
    if (problem !== undefined) this.reporter.progressNotKept({ queue: this.queue, ...job }, problem);
    return text;
  }

  private watch({ writtenAt }: RunProgress): void {
    const dueAt = writtenAt + WRITE_EVERY_MS;
    if (dueAt <= this.clock.now()) this.soon.ask();
    else this.alarm.setFor(dueAt);
  }

  private write(): void {
    const now = this.clock.now();
    const due = [...this.waiting].filter(({ writtenAt }) => writtenAt + WRITE_EVERY_MS <= now);
    for (let i = 0; i < due.length; i += REPORTS_A_CALL) void this.send(due.slice(i, i + REPORTS_A_CALL), now);
    for (const progress of this.waiting) this.watch(progress);
  }

  private async send(due: readonly RunProgress[], now: number): Promise<void> {
    const sent: { progress: RunProgress; report: ProgressReport }[] = [];
    for (const progress of due) {
      this.waiting.delete(progress);
      const report = progress.next(now);
      if (report) sent.push({ progress, report });
    }
    if (sent.length === 0) return;
    try {
      await this.jobs.keepProgress(sent.map(({ report }) => report));
      for (const { progress, report } of sent) progress.written(report.number);
    } catch {
      // The turns of the worker meet the same trouble and tell of it. Where a run still goes on, its report is written later.
      for (const { progress } of sent) progress.again();
    }
  }
}

/** What one run has reported. Only the last value counts; it is made JSON when it is written. */
export class RunProgress {
  /** A time of `clock.now()`. */
  writtenAt = Number.NEGATIVE_INFINITY;
  private value: unknown;
  /** How often the handler has reported; the same of the last report that was sent, and of the last that the store has answered for. */
  private reported = 0;
  private sent = 0;
  private kept = 0;
  private isOver = false;

  constructor(
    private readonly keeper: ProgressKeeper,
    private readonly claim: ClaimedJob,
    private readonly name: string,
  ) {}

  report(value: unknown): void {
    if (this.isOver) return;
    this.value = value;
    this.reported++;
    this.keeper.wait(this);
  }

  /** What comes later is not kept. Answers, where that is asked for, the last value as JSON unless the store has it. */
  end(isAsked: boolean): string | undefined {
    this.isOver = true;
    this.keeper.leave(this);
    return isAsked && this.kept < this.reported ? this.read() : undefined;
  }

  /** What is to be written now. */
  next(now: number): ProgressReport | undefined {
    this.sent = this.reported;
    const value = this.read();
    if (value === undefined) return undefined;
    this.writtenAt = now;
    const { id, fence } = this.claim;
    return { id, fence, number: this.sent, value };
  }

  /** The store has answered for all up to this number. */
  written(number: number): void {
    this.kept = Math.max(this.kept, number);
  }

  /** The store could not be told. */
  again(): void {
    if (!this.isOver) this.keeper.wait(this);
  }

  private read(): string | undefined {
    const { id, attempt } = this.claim;
    return this.keeper.read(this.value, { id, name: this.name, attempt });
  }
}
