import type { Meter } from './meter.js';
import type { Tracer } from './tracer.js';

/**
 * Who observes one instance of the module, beside the listeners of its events: at most one of a kind. Whoever works asks for it each time,
 * since an observer comes when the application starts.
 */
export class Observers {
  meter: Meter | undefined;
  tracer: Tracer | undefined;
}
