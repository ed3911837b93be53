import { EventReader } from '../../api/event-reader.js';
import { SystemClock } from '../../core/clock.js';
import { errorLine } from '../../core/error-description.js';
import { readStream } from '../../core/options/stream-options.js';
import { oneLine } from '../../core/read/one-line.js';
import type { ScheduledQueueStreamedEvent, StreamedError } from '../../core/stream/streamed-event.js';
import type { Command } from '../command.js';
import { jsonLine } from '../text/json-line.js';
import { cut, WIDTH, widthOf } from '../text/words.js';

const TYPE_WIDTH = 'deadDropped'.length;
/** Of an error and what is before it, so much is shown however long the id is. */
const LEAST_REST = 20;

export const tail: Command = {
  operands: '<queue>',
  takes: { queue: 'needed', more: 0 },
  summary: 'one event a line, from every process whose queue has streamEvents, until it is interrupted',
  options: ['from'],
  goesOn: true,
  async run({ queue, options, instance, terminal, redaction, next }) {
    const place = readStream({ queue, from: options.from }).from;
    if (!(await instance.streams(queue)))
      terminal.err(`No live worker of queue '${queue}' has streamEvents on, so it may be that nothing is told.`);
    const { events } = instance.store.queue(queue);
    let last: string | undefined;
    let isOver = false;
    await new Promise<void>((resolve, reject) => {
      const end = () => {
        isOver = true;
        reader.end();
        resolve();
      };
      const reader = new EventReader(events, place, new SystemClock(), {
        get closed() {
          return isOver;
        },
        next: (event) => {
          last = event.eventId;
          const shown = event.type === 'progress' ? { ...event, value: redaction.redact(event.value) } : event;
          terminal.out(options.json ? jsonLine(shown) : lineOf(shown));
        },
        error: reject,
        complete: end,
      });
      void terminal.interrupted().then(end);
      reader.begin();
    });
    if (last !== undefined && !options.json) terminal.err(next(['To go on from here', 'tail', queue, '--from', last]));
    return undefined;
  },
};

/** The id is never cut, as it may have to be typed in. */
function lineOf(event: ScheduledQueueStreamedEvent): string {
  const { type, queue: _, eventId: __, ...rest } = event;
  const { id = '', name = '', ...more } = rest as { id?: string; name?: string };
  const told = Object.entries(more).map(([key, value]) => `${key} ${shown(value)}`);
  const begin = [type.padEnd(TYPE_WIDTH), cut(name, 30), oneLine(id)].filter(Boolean).join('  ');
  return `${begin}  ${cut(told.join(', '), Math.max(LEAST_REST, WIDTH - widthOf(begin) - 2))}`.trimEnd();
}

function shown(value: unknown): string {
  if (typeof value === 'string') return value;
  const { name, message, code } = (value ?? {}) as Partial<StreamedError>;
  if (name !== undefined && message !== undefined) return errorLine({ name, message, code, stack: '', isError: true });
  return value instanceof Date ? value.toISOString() : JSON.stringify(value);
}
