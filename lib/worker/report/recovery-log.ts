import type { Clock } from '../../core/clock.js';
import type { Log } from '../../core/log.js';
import { firstFew } from '../../core/read/describe.js';
import type { RecoveredJob } from '../../store/job-store.js';

/** After a line, what comes back within this time goes into the next one: a dead worker may leave thousands of jobs. */
const PAUSE_MS = 1_000;
const NAMES_TOLD = 5;
const WORKERS_TOLD = 3;

/** Tells in the log that jobs of dead workers have come back: at once, and then at most once a second. */
export class RecoveryLog {
  private count = 0;
  private readonly names = new Map<string, number>();
  private readonly workers = new Set<string>();
  private isPausing = false;

  constructor(
    private readonly log: Log,
    private readonly clock: Clock,
  ) {}

  /** Jobs that are dead or cancelled are told by lines of their own. */
  note(queue: string, jobs: readonly RecoveredJob[]): void {
    for (const { name, worker, fate } of jobs) {
      if (fate !== 'waiting') continue;
      this.count++;
      this.names.set(name, (this.names.get(name) ?? 0) + 1);
      if (worker !== undefined) this.workers.add(worker);
    }
    if (!this.isPausing) this.tell(queue);
  }

  private tell(queue: string): void {
    this.isPausing = false;
    if (this.count === 0) return;
    const jobs = this.count === 1 ? '1 job' : `${this.count} jobs`;
    const leases = this.count === 1 ? 'whose lease' : 'whose leases';
    const byCount = [...this.names].sort(([, a], [, b]) => b - a).map(([name, count]) => `${name} (${count})`);
    const workers = [...this.workers].map((worker) => `'${worker}'`);
    this.log.warn(
      `Recovered ${jobs} of queue '${queue}', ${leases} ran out because ${subject(workers)} died, was stopped without app.enableShutdownHooks(), was blocked or was cut off from Redis: ${firstFew(byCount, NAMES_TOLD)}.`,
    );
    this.count = 0;
    this.names.clear();
    this.workers.clear();
    this.isPausing = true;
    // Does not keep a process alive that has nothing else to do.
    this.clock.after(PAUSE_MS, () => this.tell(queue), { keepsAlive: false });
  }
}

/** The workers' names go no further than the first few. */
function subject(workers: readonly string[]): string {
  if (workers.length === 0) return 'a worker';
  return workers.length === 1 ? `worker ${workers[0]}` : `each of the workers ${firstFew(workers, WORKERS_TOLD)}`;
}
