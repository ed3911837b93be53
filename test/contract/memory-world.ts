import type { QueueSettings } from '../../lib/core/options/queue-options.js';
import { MemoryJobStore } from '../../lib/testing/store/memory-job-store.js';
import { World } from './world.js';

/** The store in memory. */
export class MemoryWorld extends World {
  protected open(settings: QueueSettings): MemoryJobStore {
    return new MemoryJobStore({ settingsOf: () => settings, clock: this.clock });
  }

  /** Every job that was scheduled is there or is counted as gone. */
  async audit(): Promise<string[]> {
    const { view } = this.whole.queue('default');
    const { scheduled, due, active, dead } = await view.counts();
    const stats = await view.stats();
    const { completed = 0, cancelled = 0, discarded = 0, deadDropped = 0 } = stats;
    const there = scheduled + due + active + dead;
    const gone = completed + cancelled + discarded + deadDropped;
    return (stats.scheduled ?? 0) === there + gone
      ? []
      : [`${stats.scheduled} were scheduled, but ${there} are there and ${gone} are gone`];
  }
}
