import type { ScheduledQueueEvent } from '../../../core/job/events.js';
import type { EventPlace } from '../../../core/options/stream-options.js';
import type { ScheduledQueueStreamedEvent } from '../../../core/stream/streamed-event.js';
import type { QueueEvents, ReadEvents } from '../../job-store.js';
import { readEventLine } from '../codec/event-text.js';
import type { QueueKeys } from '../keys.js';
import type { QueueLink } from '../link/queue-link.js';
import type { MessageLink } from '../link/redis-link.js';
import { ask } from '../scripts/bound-script.js';
import { readEventsScript } from '../scripts/events/contract.js';
import type { EventWriter } from './event-writer.js';

/** Twice the time for which writers keep silent after a message: see QUIET_MS in scripts/events/add-events.lua. */
const READ_AFTER_MS = 20;
/** A message may be lost. Where none are heard, this process looks every second. */
const LOOKED_EVERY_MS = 1_000;
const HEARD_LOOKS = 5;

/** An entry of the stream: see scripts/events/add-events.lua. */
interface Entry {
  readonly id: string;
  readonly head: string;
  readonly text: string;
}

const FIELDS_AN_ENTRY = 3;

/** The stream of one queue's events. An event's id is "<epoch ms of its entry>-<its number>"; see scripts/events/add-events.lua. */
export class RedisEvents implements QueueEvents {
  constructor(
    private readonly connection: QueueLink,
    private readonly keys: QueueKeys,
    private readonly options: { queue: string; commandTimeoutMs: number },
    /** Opened when somebody watches. */
    private readonly listener: () => MessageLink,
    /** Where `streamEvents` is on. */
    private readonly writer?: EventWriter,
  ) {}

  add(event: ScheduledQueueEvent): void {
    this.writer?.add(event);
  }

  async flush(): Promise<void> {
    await this.writer?.flush();
  }

  async read(from: EventPlace): Promise<ReadEvents> {
    const { events: key } = this.keys;
    const giveUpAt = this.connection.now() + this.options.commandTimeoutMs;
    if (from === 'end') {
      const [last] = await this.connection.read(
        'list',
        (client) => client.xrevrange(key, '+', '-', 'COUNT', 1),
        giveUpAt,
      );
      return { events: [], next: { after: last?.[0] ?? BEGINNING }, more: false };
    }
    const script = readEventsScript(this.keys);
    const [more, ...fields] = await ask(this.connection, script, { from: firstId(from) }, giveUpAt);
    const entries = entriesOf(fields);
    const after = entries.at(-1)?.id ?? (from === 'start' ? BEGINNING : undefined);
    return {
      events: eventsOf(entries, from, this.options.queue),
      next: after === undefined ? from : { after },
      more: more === '1',
    };
  }

  watch(look: () => void): () => void {
    const listener = this.listener();
    const channel = this.keys.events;
    let timer: NodeJS.Timeout | undefined;
    let heardMore = false;
    const lookSoon = () => {
      if (timer) {
        // The look that is to come may be too early for what this message stands for.
        heardMore = true;
        return;
      }
      timer = setTimeout(() => {
        timer = undefined;
        if (heardMore) {
          heardMore = false;
          lookSoon();
        }
        look();
      }, READ_AFTER_MS);
    };
    // Heard (again): nobody knows what was said before.
    const hear = (message: string | undefined) => (message === undefined ? look() : lookSoon());
    let ticks = 0;
    const ticker = setInterval(() => {
      if (++ticks % HEARD_LOOKS === 0 || !listener.hears(channel)) look();
    }, LOOKED_EVERY_MS).unref();
    listener.listen(channel, hear);
    return () => {
      listener.unlisten(channel, hear);
      clearInterval(ticker);
      clearTimeout(timer);
    };
  }
}

/** Before the first event that there ever was. */
const BEGINNING = '0-0';

function firstId(from: Exclude<EventPlace, 'end'>): string {
  if (from === 'start') return '-';
  return 'after' in from ? `(${from.after}` : String(Math.max(0, Math.ceil(from.sinceMs)));
}

function entriesOf(fields: readonly string[]): Entry[] {
  return Array.from({ length: fields.length / FIELDS_AN_ENTRY }, (_, i) => {
    const [id = '', head = '', text = ''] = fields.slice(FIELDS_AN_ENTRY * i, FIELDS_AN_ENTRY * (i + 1));
    return { id, head, text };
  });
}

const numbersOf = (id: string) => id.split('-').map(Number) as [ms: number, number: number];

/** The events of some entries that lie after a place, and gaps where the numbers of events do not follow each other. */
function eventsOf(entries: readonly Entry[], from: EventPlace, queue: string): ScheduledQueueStreamedEvent[] {
  const events: ScheduledQueueStreamedEvent[] = [];
  const [afterMs, afterNumber] = typeof from === 'object' && 'after' in from ? numbersOf(from.after) : [];
  /** The number of the event before; `undefined` where the first one may have any. */
  let previous = afterNumber;
  for (const { id, head, text } of entries) {
    const [ms, lastNumber] = numbersOf(id);
    const lines = text.split('\n');
    let number = lastNumber - lines.length;
    // An event in the middle of this entry was the last one that the reader had.
    const had = previous !== undefined && ms === afterMs && number < previous ? previous - number : 0;
    const cutSince = typeof from === 'object' && 'sinceMs' in from && Number.parseInt(head, 10) >= from.sinceMs;
    // Its id is the place right before this entry. Of an entry of somebody else the number may be too low.
    if (previous === undefined ? cutSince : had === 0 && number !== previous)
      events.push({ type: 'gap', queue, eventId: `${ms}-${Math.max(number, 0)}` });
    for (const line of lines)
      if (++number > lastNumber - lines.length + had) events.push(readEventLine(line, queue, `${ms}-${number}`));
    previous = lastNumber;
  }
  return events;
}
