import { isOfKind, type JobKind } from '../look/job-kind.js';

/** What befalls a run. */
export type Fault = { kind: 'fail'; error: unknown } | { kind: 'crash' } | { kind: 'lose-lease' };

const CALLS: Record<Fault['kind'], string> = { fail: 'failNext', crash: 'crashNext', 'lose-lease': 'loseLeaseNext' };

/** The faults that a test has ordered: each is for one run of its jobs, in their order. */
export class Faults {
  private readonly ordered: { jobs: JobKind; fault: Fault }[] = [];
  /** Whether a job that has completed is handed out once more. */
  deliversTwice = false;

  order(jobs: JobKind, fault: Fault): void {
    this.ordered.push({ jobs, fault });
  }

  /** Those that no run has taken, by what ordered them. */
  unused(): string[] {
    return this.ordered.map(({ jobs: { name }, fault: { kind } }) => `${CALLS[kind]}('${name}')`);
  }

  take(job: { name: string; queue: string }): Fault | undefined {
    const at = this.ordered.findIndex(({ jobs }) => isOfKind(job, jobs));
    return at < 0 ? undefined : this.ordered.splice(at, 1)[0]!.fault;
  }
}
