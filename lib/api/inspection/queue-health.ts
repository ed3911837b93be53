import type { QueueSettings } from '../../core/options/queue-options.js';
import type { QueueView } from '../../store/job-store.js';
import { latenessOf } from './queue-load.js';

/** What a health check looks at. */
export interface QueueHealth {
  /** How late the oldest due job is whose group is not held, in ms; 0 if none is due, or while the queue is blocked. */
  latenessMs: number;
  /** How many dead letters there are. */
  dead: number;
  /** How many workers are alive. */
  workers: number;
}

/** Reads it in one round of calls. `health` gets each number as soon as it is known, so that they outlive a read that fails. */
export async function readHealth(
  view: QueueView,
  settings: QueueSettings,
  health: Partial<QueueHealth>,
): Promise<void> {
  await Promise.all([
    latenessOf(view, settings).then(({ latenessMs }) => {
      health.latenessMs = latenessMs;
    }),
    view.counts().then(({ dead }) => {
      health.dead = dead;
    }),
    view.workers().then(({ length }) => {
      health.workers = length;
    }),
  ]);
}
