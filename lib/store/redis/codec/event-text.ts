import type { ScheduledQueueEvent } from '../../../core/job/events.js';
import {
  type ScheduledQueueStreamedEvent,
  type ToldEvent,
  toMicros,
  toToldEvent,
} from '../../../core/stream/streamed-event.js';

/** Stands for events that a process could not add. */
export const GAP_LINE = '-';

/**
 * An event as a line of the stream. The three that every job has are a letter, id, name and numbers, with a tab before each, which no
 * printable character is: half of the bytes of JSON, and a third of the time. The others are JSON.
 */
export function toEventLine(event: ScheduledQueueEvent): string {
  switch (event.type) {
    case 'scheduled':
      return `s\t${event.id}\t${event.name}\t${event.dueAt.getTime()}`;
    case 'started':
      return `b\t${event.id}\t${event.name}\t${event.attempt}\t${toMicros(event.latenessMs)}`;
    case 'completed':
      return `c\t${event.id}\t${event.name}\t${event.attempt}\t${toMicros(event.durationMs)}`;
    default: {
      const { queue: _, ...told } = toToldEvent(event);
      return JSON.stringify(told);
    }
  }
}

/** The event of a line. A line that cannot be read, such as one of a later version of this library, is a gap. */
export function readEventLine(line: string, queue: string, eventId: string): ScheduledQueueStreamedEvent {
  const told = line[0] === '{' ? ofJson(line, queue) : ofFields(line.split('\t'), queue);
  return told ? { ...told, eventId } : { type: 'gap', queue, eventId };
}

function ofFields([letter, id, name, ...rest]: string[], queue: string): ToldEvent | undefined {
  const numbers = rest.map(Number);
  if (id === undefined || name === undefined || numbers.some(Number.isNaN)) return undefined;
  const [first, second] = numbers;
  if (letter === 's' && first !== undefined) return { type: 'scheduled', queue, id, name, dueAt: new Date(first) };
  if (first === undefined || second === undefined) return undefined;
  if (letter === 'b') return { type: 'started', queue, id, name, attempt: first, latenessMs: second };
  if (letter === 'c') return { type: 'completed', queue, id, name, attempt: first, durationMs: second };
  return undefined;
}

function ofJson(line: string, queue: string): ToldEvent | undefined {
  try {
    const told = JSON.parse(line);
    if (typeof told.type !== 'string' || typeof told.id !== 'string') return undefined;
    if (typeof told.retryAt === 'string') told.retryAt = new Date(told.retryAt);
    return { queue, ...told };
  } catch {
    return undefined;
  }
}
