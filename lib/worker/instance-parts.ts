import type { Clock } from '../core/clock.js';
import type { EventSink } from '../core/job/events.js';
import type { Log } from '../core/log.js';
import type { Observers } from '../core/observe/observers.js';
import type { QueueSettings } from '../core/options/queue-options.js';
import type { SaidSettings } from '../core/options/run-settings.js';
import type { Codecs } from '../core/payload/codecs.js';
import type { JobStore } from '../store/job-store.js';
import type { SuspectIsolation } from './capacity/suspect-isolation.js';
import type { Caretakers } from './recur/caretakers.js';

/** What workers, pops and relays of one instance of the module share. */
export interface InstanceParts {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly observers: Observers;
  readonly log: Log;
  readonly isolation: SuspectIsolation;
  readonly caretakers: Caretakers;
  readonly codecs: Codecs;
  /** What the names of their timers begin with. */
  readonly timerPrefix: string;
  readonly workerId: string;
  readonly trackCurrentJob: boolean;
  readonly commandTimeoutMs: number;
  readonly shutdownTimeoutMs: number;
  /** Also the most that is kept of a job's result. */
  readonly maxPayloadBytes: number;
  /** What configuration says of jobs by name. */
  readonly jobs: ReadonlyMap<string, SaidSettings>;
  settingsOf(queue: string): QueueSettings;
}
