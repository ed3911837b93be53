import { invalidOptions } from '../core/errors.js';
import type { Duration } from '../core/read/duration.js';
import { keyPart } from '../core/read/names.js';
import { duration, readOptions } from '../core/read/shape.js';
import { DEFAULT_INSTANCE } from '../nest/tokens.js';

const DEFAULT_LINK_AFTER_MS = 60_000;

/** What `ScheduledQueueTracingModule.forRoot` takes. */
export interface ScheduledQueueTracingOptions {
  /** The name of the instance of `RedisScheduledQueueModule` that is traced. Default: the one without a name. */
  instance?: string;
  /**
   * A run that begins no later than this after its job was scheduled, by the clock of Redis, is a child of the span that scheduled the
   * job; a later one begins a trace of its own, with a link to that span. 0: no run is a child. Default 60 000, a minute.
   */
  linkAfterMs?: Duration;
}

export interface TracingSettings {
  readonly instance: string;
  readonly linkAfterMs: number;
}

/** Throws `InvalidOptionsError`; `where` begins its message. */
export function readTracingOptions(given: unknown, where: string): TracingSettings {
  const shape = { instance: keyPart, linkAfterMs: duration() };
  const read = readOptions<{ instance: string; linkAfterMs: number }>(given, shape, where, invalidOptions);
  return { instance: DEFAULT_INSTANCE, linkAfterMs: DEFAULT_LINK_AFTER_MS, ...read };
}
