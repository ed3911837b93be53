import type { QueueSettings } from '../../lib/core/options/queue-options.js';
import { ProcessJobStore } from '../../lib/testing/redis/process-job-store.js';
import { World } from './world.js';

/** The scripts over a small Redis in this process. */
export class ProcessWorld extends World {
  protected open(settings: QueueSettings): ProcessJobStore {
    const codecs = { decodes: true, writes: 'json' };
    return new ProcessJobStore({ settingsOf: () => settings, clock: this.clock, codecs });
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
