import type { QueueSettings } from '../../lib/core/options/queue-options.js';
import { ProcessJobStore } from '../../lib/testing/redis/process-job-store.js';
import type { ManualClock } from '../support/manual-clock.js';
import { World } from './world.js';

const silent = { log: () => {}, warn: () => {}, error: () => {} };

/** The scripts over a small Redis in this process, whose time stands still until the world lets it pass. */
export class ProcessWorld extends World {
  private readonly monotonic = performance.now;

  constructor(clock: ManualClock) {
    super(clock);
    performance.now = () => clock.now();
  }

  protected open(settings: QueueSettings): ProcessJobStore {
    return new ProcessJobStore({
      prefix: 'test',
      settingsOf: () => settings,
      now: () => this.now(),
      codecs: { decodes: true, writes: 'json' },
      log: silent,
    });
  }

  async audit(): Promise<string[]> {
    return [];
  }

  override async stop(): Promise<void> {
    performance.now = this.monotonic;
  }
}
