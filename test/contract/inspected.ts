import { ScheduledQueueInspector } from '../../lib/api/scheduled-queue.inspector.js';
import type { ScheduledQueueEvent } from '../../lib/core/job/events.js';
import { Codecs } from '../../lib/core/payload/codecs.js';
import type { World } from './world.js';

/** The inspector of a world's store, as users have it, and what it has told. */
export function inspectorOf(world: World) {
  const told: ScheduledQueueEvent[] = [];
  const events = { wants: () => true, tell: (event: ScheduledQueueEvent) => void told.push(event) };
  const inspector = new ScheduledQueueInspector(world.whole, events, () => world.settings, new Codecs());
  return { inspector, told };
}
