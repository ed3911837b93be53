/** What befalls a run. */
export type Fault = { kind: 'fail'; error: unknown } | { kind: 'crash' } | { kind: 'lose-lease' };

/** The faults that a test has ordered, by job name: each is for one run, in their order. */
export class Faults {
  private readonly ordered = new Map<string, Fault[]>();
  /** Whether a job that has completed is handed out once more. */
  deliversTwice = false;

  order(name: string, fault: Fault): void {
    this.ordered.set(name, [...(this.ordered.get(name) ?? []), fault]);
  }

  take(name: string): Fault | undefined {
    return this.ordered.get(name)?.shift();
  }
}
