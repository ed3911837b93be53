import { isOfKind, type JobKind } from './job-kind.js';
import type { TestedRun } from './tested-run.js';

/** All runs of an application under test, in the order in which they began. */
export class RunLog {
  private readonly runs: TestedRun[] = [];

  add(run: TestedRun): void {
    this.runs.push(run);
  }

  /** As they are now: a run that goes on changes nothing of what was answered. */
  of(kind?: JobKind): TestedRun[] {
    const told = kind === undefined ? this.runs : this.runs.filter((run) => isOfKind(run, kind));
    return told.map((run) => ({ ...run }));
  }

  /** The last ones of these jobs; of all, where those have not run. */
  last(kind: JobKind, count: number): TestedRun[] {
    const ofKind = this.runs.filter((run) => isOfKind(run, kind));
    return (ofKind.length > 0 ? ofKind : this.runs).slice(-count);
  }

  hasRun(job: { id: string; queue: string }): boolean {
    return this.runs.some(({ id, queue }) => id === job.id && queue === job.queue);
  }
}
