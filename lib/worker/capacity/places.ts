import type { HandlerCapacity, StuckHandlers } from '../../store/job-store.js';
import type { Collections } from '../batch/collections.js';
import type { JobHandler } from '../run/job-handler.js';
import type { RunningJobs } from '../run/running-jobs.js';

const NONE: readonly HandlerCapacity[] = [];

/**
 * What there is room for in this process: the queue's `concurrency` less the weights of what runs, and what is left of each
 * handler's own `concurrency`. A run takes its place until its handler returns, and so does a call of a batch handler.
 */
export class Places {
  /** Handlers with a weight or a limit of their own, or that get several jobs a call. */
  private readonly special: readonly JobHandler[];
  /** True if handlers have weights or limits of their own, which `free` does not show. A handler is not limited by getting several jobs a call. */
  readonly hasLimitsOfHandlers: boolean;

  constructor(
    private readonly concurrency: number,
    private readonly handlers: ReadonlyMap<string, JobHandler>,
    private readonly running: RunningJobs,
    private readonly collections: Collections | undefined,
  ) {
    this.special = [...handlers.values()].filter((handler) => hasItsOwnLimits(handler) || handler.runBatch);
    this.hasLimitsOfHandlers = this.special.some(hasItsOwnLimits);
  }

  /** What weight may still begin. */
  get free(): number {
    const { concurrency, running } = this;
    if (this.special.length === 0) return concurrency - running.size;
    let weight = this.collections?.weight ?? 0;
    // Runs that share a call take one place together, which `collections.weight` counts.
    for (const run of running.all()) if (!run.call) weight += this.handlers.get(run.name)!.settings.weight;
    return concurrency - weight;
  }

  /** What is left for each handler that has a weight or a limit of its own, or gets several jobs a call. */
  ofHandlers(): readonly HandlerCapacity[] {
    if (this.special.length === 0) return NONE;
    const runs = new Map<string, number>();
    for (const { name } of this.running.all()) runs.set(name, (runs.get(name) ?? 0) + 1);
    return this.special.map(({ name, settings: { weight, concurrency, batch } }) => {
      if (batch) return { name, weight, free: this.collections!.freeOf(name), size: batch.size };
      // No more than the whole queue, where the handler has no limit.
      return { name, weight, free: Math.min(concurrency, this.concurrency) - (runs.get(name) ?? 0), size: 1 };
    });
  }

  /** The stuck handlers; `undefined` if there are none. */
  stuck(): StuckHandlers | undefined {
    if (!this.running.anyStuck) return undefined;
    const stuck = [...this.running.stuckFor()];
    const [run, forMs] = stuck[0]!;
    const weight = stuck.reduce((sum, [{ name }]) => sum + this.handlers.get(name)!.settings.weight, 0);
    return { count: stuck.length, weight, id: run.id, name: run.name, forMs };
  }
}

function hasItsOwnLimits({ settings }: JobHandler): boolean {
  return settings.weight > 1 || Number.isFinite(settings.concurrency);
}

/**
 * Whether a worker of these handlers may be full for some names and not for others. A worker with batch handlers may
 * hold as many jobs of a name as it can take while it has places left: if others did not know that, two such workers would wake each other
 * for the same job, again and again.
 */
export function haveLimits(handlers: ReadonlyMap<string, JobHandler>): boolean {
  return [...handlers.values()].some(({ settings, runBatch }) => runBatch || Number.isFinite(settings.concurrency));
}
