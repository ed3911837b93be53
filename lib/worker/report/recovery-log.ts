import type { Clock } from '../../core/clock.js';
import type { KnownOfJob } from '../../core/job/reported-job.js';
import type { Log } from '../../core/log.js';
import { firstFew } from '../../core/read/describe.js';
import type { RecoveredJob } from '../../store/job-store.js';

/** After a line, what comes back within this time goes into the next one: a dead worker may leave thousands of jobs. */
const PAUSE_MS = 1_000;
const NAMES_TOLD = 5;
const IDS_TOLD = 3;
const WORKERS_TOLD = 3;

/** Tells in the log that jobs of dead workers have come back: at once, and then at most once a second. */
export class RecoveryLog {
  private count = 0;
  private first?: RecoveredJob;
  /** How many jobs of each name have come back, and the first of their ids. */
  private readonly names = new Map<string, { count: number; ids: string[] }>();
  private readonly workers = new Set<string>();
  private isPausing = false;

  constructor(
    private readonly log: Log,
    private readonly clock: Clock,
    /** Writes a line about one job. */
    private readonly about: (job: KnownOfJob, write: () => void) => void,
  ) {}

  /** Jobs that are dead or cancelled are told by lines of their own. */
  note(queue: string, jobs: readonly RecoveredJob[]): void {
    for (const job of jobs) {
      const { id, name, worker, fate } = job;
      if (fate !== 'waiting') continue;
      if (++this.count === 1) this.first = job;
      const same = this.names.get(name) ?? { count: 0, ids: [] };
      same.count++;
      if (same.ids.length < IDS_TOLD) same.ids.push(id);
      this.names.set(name, same);
      if (worker !== undefined) this.workers.add(worker);
    }
    if (!this.isPausing) this.tell(queue);
  }

  private tell(queue: string): void {
    this.isPausing = false;
    if (this.count === 0) return;
    const jobs = this.count === 1 ? '1 job' : `${this.count} jobs`;
    const leases = this.count === 1 ? 'whose lease' : 'whose leases';
    const byCount = [...this.names]
      .sort(([, a], [, b]) => b.count - a.count)
      .map(([name, same]) => sameJobs(name, same));
    const workers = [...this.workers].map((worker) => `'${worker}'`);
    const line = `Recovered ${jobs} of queue '${queue}', ${leases} ran out because ${subject(workers)} died, was stopped without app.enableShutdownHooks(), was blocked or was cut off from Redis: ${firstFew(byCount, NAMES_TOLD)}.`;
    // The line alone, not what follows: the timer would keep the job as the current one, also for the next line.
    if (this.count === 1) this.about({ queue, ...this.first! }, () => this.log.warn(line));
    else this.log.warn(line);
    this.count = 0;
    this.names.clear();
    this.workers.clear();
    this.isPausing = true;
    // Does not keep a process alive that has nothing else to do.
    this.clock.after(PAUSE_MS, () => this.tell(queue), { keepsAlive: false });
  }
}

/** One is named as in other lines about it; of several the first few ids. */
function sameJobs(name: string, { count, ids }: { count: number; ids: readonly string[] }): string {
  if (count === 1) return `'${name}' (${ids[0]})`;
  return `'${name}' (${count}: ${ids.join(', ')}${count > ids.length ? ', …' : ''})`;
}

/** The workers' names go no further than the first few. */
function subject(workers: readonly string[]): string {
  if (workers.length === 0) return 'a worker';
  return workers.length === 1 ? `worker ${workers[0]}` : `each of the workers ${firstFew(workers, WORKERS_TOLD)}`;
}
