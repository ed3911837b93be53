import type { TestedRun } from './tested-run.js';

/** All runs of an application under test, in the order in which they began. */
export class RunLog {
  private readonly runs: TestedRun[] = [];

  add(run: TestedRun): void {
    this.runs.push(run);
  }

  of(name?: string): TestedRun[] {
    return name === undefined ? [...this.runs] : this.runs.filter((run) => run.name === name);
  }

  last(count: number): TestedRun[] {
    return this.runs.slice(-count);
  }
}
