import { expect, it } from '@jest/globals';
import type { ScheduledQueueEvent } from '../../../../../lib/core/job/events.js';
import { GAP_LINE, readEventLine, toEventLine } from '../../../../../lib/store/redis/codec/event-text.js';

const RUN = { queue: 'q', id: 'a', name: 'work', attempt: 1 };
const read = (line: string) => readEventLine(line, 'q', '1-2');
const GAP = { type: 'gap', queue: 'q', eventId: expect.any(String) };

it('the events that every job has are short', () => {
  expect(toEventLine({ type: 'scheduled', queue: 'q', id: 'a', name: 'work', dueAt: new Date(5) })).toBe(
    's\ta\twork\t5',
  );
  expect(toEventLine({ type: 'started', ...RUN, latenessMs: 7 })).toBe('b\ta\twork\t1\t7');
  expect(toEventLine({ type: 'completed', ...RUN, durationMs: 0.012345678 })).toBe('c\ta\twork\t1\t0.012');
});

it('an event is one line, whatever stands in it, and is read as it was', () => {
  const events: ScheduledQueueEvent[] = [
    { type: 'discarded', ...RUN, reason: 'two\nlines\tand a tab' },
    { type: 'progress', ...RUN, value: 'two\nlines' },
    { type: 'progress', ...RUN, value: { retryAt: 'text' } },
    { type: 'started', ...RUN, id: '{"a":1}', name: '-', latenessMs: 0 },
  ];
  for (const event of events) {
    const line = toEventLine(event);
    expect(line).not.toContain('\n');
    expect(read(line)).toEqual({ ...event, eventId: '1-2' });
  }
});

it.each([
  GAP_LINE,
  '',
  'x\ta\twork\t1\t7',
  'b\ta\twork\t1',
  's\ta\twork',
  'c\ta\twork\tone\t7',
  '{"type":"snoozed"',
  '{"id":"a"}',
  '{}',
])('a line that cannot be read is a gap: %j', (line) => {
  expect(read(line)).toEqual(GAP);
});
