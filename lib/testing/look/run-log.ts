import type { TestedRun } from './tested-run.js';

/** All runs of an application under test, in the order in which they began. */
export class RunLog {
  private readonly runs: TestedRun[] = [];

  add(run: TestedRun): void {
    this.runs.push(run);
  }

  /** As they are now: a run that goes on changes nothing of what was answered. */
  of(name?: string): TestedRun[] {
    const told = name === undefined ? this.runs : this.runs.filter((run) => run.name === name);
    return told.map((run) => ({ ...run }));
  }

  last(count: number): TestedRun[] {
    return this.runs.slice(-count);
  }
}
