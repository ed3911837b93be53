import { invalidOptions } from '../errors.js';
import { describe } from '../read/describe.js';
import { instant } from '../read/due.js';
import { keyPart } from '../read/names.js';
import { type Check, readOptions, type Shape } from '../read/shape.js';
import { DEFAULT_QUEUE } from './queue-options.js';

/** What `ScheduledQueueEvents.stream` reads. */
export interface EventStreamOptions {
  /** Whose events. Default `'default'`. */
  queue?: string;
  /**
   * Where to begin: after the event with this `eventId`, with all events that are kept (`'0'`), or with those since a Date, by the
   * clock of Redis. Default: with the events from now on.
   */
  from?: string | Date;
}

/** A place between two events of a queue. */
export type EventPlace =
  /** Before all that are kept. */
  | 'start'
  /** After the last one. */
  | 'end'
  | { readonly sinceMs: number }
  /** After this event. */
  | { readonly after: string };

const EXPECTED = "an eventId that an event of this queue had, '0' for all events that are kept, or a Date";
const EVENT_ID = /^\d{1,16}-\d{1,16}$/;

const place: Check<EventPlace> = (value) => {
  if (value === '0') return { value: 'start' };
  if (typeof value === 'string' && EVENT_ID.test(value)) return { value: { after: value } };
  if (!(value instanceof Date)) return { problem: `got ${describe(value)}, expected ${EXPECTED}` };
  const since = instant(value);
  return 'problem' in since ? since : { value: { sinceMs: since.value } };
};

interface ReadStream {
  queue: string;
  from: EventPlace;
}

const SHAPE: Shape<ReadStream> = { queue: keyPart, from: place };

/** Reads a call to `stream`. Throws `InvalidOptionsError`. */
export function readStream(given: unknown): ReadStream {
  const read = readOptions(given, SHAPE, 'stream', invalidOptions);
  return { queue: DEFAULT_QUEUE, from: 'end', ...read };
}
