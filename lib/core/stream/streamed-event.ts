import { describeError } from '../error-description.js';
import type { ScheduledQueueEvent } from '../job/events.js';

/** What a stream tells of an error: one line each, the message with at most 1 000 characters. */
export interface StreamedError {
  /** The name of the error, or the `typeof` of a thrown value that is no error. */
  name: string;
  /** Up to 1 000 characters. */
  message: string;
  /** Such as `ECONNREFUSED`. */
  code?: string;
}

/** An event as other processes are told it: an error is described, and of a value of `progress` no more than 1 KiB is told. */
export type ToldEvent = Told<ScheduledQueueEvent>;

type Told<Event> = Event extends { type: 'failed' }
  ? Omit<Event, 'error'> & { error: StreamedError }
  : Event extends { type: 'dead' }
    ? Omit<Event, 'error'> & { error?: StreamedError }
    : Event extends { type: 'progress' }
      ? Omit<Event, 'value'> & { value?: unknown }
      : Event;

/** In the place of events that a reader of the stream has missed, or that a process could not add to it. */
export interface StreamGap {
  type: 'gap';
  /** Whose events are missing. */
  queue: string;
  /** Whoever goes on from here is not told of this gap again. */
  eventId: string;
}

/** What `ScheduledQueueEvents.stream` tells; look at `type` to tell events apart. An `eventId`, that of a gap too, is a place to go on from. */
export type ScheduledQueueStreamedEvent = (ToldEvent & { eventId: string }) | StreamGap;

const VALUE_CHARACTERS = 1_024;
const REASON_CHARACTERS = 1_000;

/** The event without anything that is the application's own. Nothing of it changes when an error or a value does later. */
export function toToldEvent(event: ScheduledQueueEvent): ToldEvent {
  switch (event.type) {
    case 'started':
      return { ...event, latenessMs: toMicros(event.latenessMs) };
    case 'completed':
      return { ...event, durationMs: toMicros(event.durationMs) };
    case 'progress':
      return { ...event, value: plain(event.value) };
    case 'failed':
      return { ...event, error: toStreamedError(event.error) };
    case 'dead': {
      const { error, ...rest } = event;
      return error === undefined ? rest : { ...rest, error: toStreamedError(error) };
    }
    case 'discarded':
      return { ...event, reason: event.reason.slice(0, REASON_CHARACTERS) };
    default:
      return event;
  }
}

/** Further digits would take more room in a stream than the rest of the number, and mean nothing. */
export function toMicros(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}

function toStreamedError(thrown: unknown): StreamedError {
  const { name, message, code } = describeError(thrown, 0);
  return { name, message, ...(code !== undefined && { code }) };
}

/** What JSON makes of a value; `undefined` where that is nothing, or too much to be told to everybody. */
function plain(value: unknown): unknown {
  try {
    const text = JSON.stringify(value);
    return text === undefined || text.length > VALUE_CHARACTERS ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
