import { expect, it } from '@jest/globals';
import type { ScheduledQueueEvent } from '../../lib/core/job/events.js';
import type { EventPlace } from '../../lib/core/options/stream-options.js';
import type { ScheduledQueueStreamedEvent } from '../../lib/core/stream/streamed-event.js';
import type { QueueEvents } from '../../lib/store/job-store.js';
import { QUEUE, until, type World } from './world.js';

const ON = { streamEvents: { maxLength: 100 } };
const GAP = { type: 'gap', queue: QUEUE, eventId: expect.any(String) };

const started = (id: string): ScheduledQueueEvent => ({
  type: 'started',
  queue: QUEUE,
  id,
  name: 'work',
  attempt: 1,
  latenessMs: 0,
});

/** Adds events, all of them in one write. */
async function add(events: QueueEvents, ...ids: string[]): Promise<void> {
  for (const id of ids) events.add(started(id));
  await events.flush();
}

/** All there are after a place. */
async function all(events: QueueEvents, from: EventPlace): Promise<ScheduledQueueStreamedEvent[]> {
  const told: ScheduledQueueStreamedEvent[] = [];
  for (let place = from, more = true; more; ) {
    const read = await events.read(place);
    told.push(...read.events);
    ({ next: place, more } = read);
  }
  return told;
}

const said = (told: readonly ScheduledQueueStreamedEvent[]) =>
  told.map((event) => (event.type === 'gap' ? 'gap' : event.id));

async function read(events: QueueEvents, from: EventPlace): Promise<string[]> {
  return said(await all(events, from));
}

const idOf = (event: ScheduledQueueStreamedEvent | undefined) => event!.eventId;

export function events(world: () => World): void {
  it('nothing is kept where streamEvents is off', async () => {
    const { events } = world().store();
    await add(events, 'a', 'b');
    expect(await all(events, 'start')).toEqual([]);
  });

  it('each type of event is told with all it has, errors as name, message and code', async () => {
    const { events } = world().store(ON);
    const job = { queue: QUEUE, id: 'a "b"\\', name: 'wörk: 1/2' };
    const run = { ...job, attempt: 2 };
    const error = Object.assign(new TypeError('no\nway'), { code: 'ENO', secret: 1 });
    const described = { name: 'TypeError', message: 'no\\nway', code: 'ENO' };
    const at = new Date(world().now());
    const added: ScheduledQueueEvent[] = [
      { type: 'scheduled', ...job, dueAt: at },
      { type: 'started', ...run, latenessMs: 3 },
      { type: 'progress', ...run, value: { done: [1] } },
      { type: 'completed', ...run, durationMs: 0.1234567 },
      { type: 'failed', ...run, error, retryAt: at },
      { type: 'failed', ...run, error: 'text', retryAt: null, replaced: true },
      { type: 'dead', ...run, reason: 'unrecoverable', error },
      { type: 'dead', ...run, reason: 'crashed' },
      { type: 'snoozed', ...run },
      { type: 'cancelled', queue: QUEUE, id: 'a' },
      { type: 'discarded', ...run, reason: 'r'.repeat(2_000) },
      { type: 'recovered', ...run },
      { type: 'late', ...job, latenessMs: 5, onLate: 'discard' },
      { type: 'leaseLost', ...run },
      { type: 'deadDropped', ...job },
    ];
    for (const event of added) events.add(event);
    // Only what an event was when it was told counts.
    error.message = 'changed';
    await events.flush();
    const told = await all(events, 'start');
    expect(told.map((event) => ({ ...event, eventId: '' }))).toEqual(
      [
        ...added.slice(0, 3),
        { type: 'completed', ...run, durationMs: 0.123 },
        { type: 'failed', ...run, error: described, retryAt: at },
        { type: 'failed', ...run, error: { name: 'string', message: 'text' }, retryAt: null, replaced: true },
        { type: 'dead', ...run, reason: 'unrecoverable', error: described },
        ...added.slice(7, 10),
        { type: 'discarded', ...run, reason: 'r'.repeat(1_000) },
        ...added.slice(11),
      ].map((event) => ({ ...event, eventId: '' })),
    );
    expect(new Set(told.map(idOf)).size).toBe(added.length);
  });

  it('a large value of progress, or one that JSON cannot hold, is not told', async () => {
    const { events } = world().store(ON);
    const circle: { self?: unknown } = {};
    circle.self = circle;
    for (const value of ['x'.repeat(1_022), 'x'.repeat(1_023), circle, undefined, 1n])
      events.add({ type: 'progress', queue: QUEUE, id: 'a', name: 'work', attempt: 1, value });
    await events.flush();
    const told = (await all(events, 'start')) as { value?: unknown }[];
    expect(told.map(({ value }) => value)).toEqual(['x'.repeat(1_022), undefined, undefined, undefined, undefined]);
  });

  it('reading goes on after any event, also in the middle of what was written at once, and tells none twice', async () => {
    const { events } = world().store(ON);
    await add(events, 'a', 'b', 'c');
    world().pass(5);
    await add(events, 'd');
    await add(events, 'e', 'f');
    const told = await all(events, 'start');
    expect(said(told)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    for (const [i, event] of told.entries())
      expect(await read(events, { after: idOf(event) })).toEqual(said(told).slice(i + 1));
  });

  it('reading from the end tells only what comes after', async () => {
    const { events } = world().store(ON);
    const first = await events.read('end');
    expect(first.events).toEqual([]);
    await add(events, 'a');
    expect(await read(events, first.next)).toEqual(['a']);
    const { next } = await events.read('end');
    expect(await read(events, next)).toEqual([]);
    await add(events, 'b');
    expect(await read(events, next)).toEqual(['b']);
  });

  it('reading from an instant tells the events since then', async () => {
    const { events } = world().store(ON);
    const from = world().now();
    for (const id of ['a', 'b', 'c']) {
      await add(events, id);
      world().pass(10);
    }
    expect(await read(events, { sinceMs: from })).toEqual(['a', 'b', 'c']);
    expect(await read(events, { sinceMs: from + 10 })).toEqual(['b', 'c']);
    expect(await read(events, { sinceMs: from + 10.5 })).toEqual(['c']);
    const { next } = await events.read({ sinceMs: from + 35 });
    await add(events, 'before');
    world().pass(10);
    await add(events, 'after');
    expect(await read(events, next)).toEqual(['after']);
  });

  it('the latest are kept, and a gap is told to whoever has missed others, and to nobody else', async () => {
    const { events } = world().store({ streamEvents: { maxLength: 3 } });
    const from = world().now();
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    let atA = '';
    let atC = '';
    for (const id of ids) {
      await add(events, id);
      world().pass(10);
      if (id === 'a') atA = idOf((await all(events, 'start')).at(-1));
      if (id === 'c') atC = idOf((await all(events, 'start')).at(-1));
    }
    expect(await read(events, 'start')).toEqual(['d', 'e', 'f']);
    expect(await all(events, { after: atA })).toEqual([GAP, ...(await all(events, 'start'))]);
    expect(await read(events, { after: atC })).toEqual(['d', 'e', 'f']);
    expect(await read(events, { sinceMs: from + 20 })).toEqual(['gap', 'd', 'e', 'f']);
    expect(await read(events, { sinceMs: from + 21 })).toEqual(['d', 'e', 'f']);
  });

  it('whoever goes on from a gap is told all that came after it, and the gap no more', async () => {
    const { events } = world().store({ streamEvents: { maxLength: 3 } });
    const from = world().now();
    await add(events, 'a');
    const atA = idOf((await all(events, 'start')).at(-1));
    for (const id of ['b', 'c', 'd', 'e', 'f']) {
      await add(events, id);
      world().pass(10);
    }
    for (const place of [{ after: atA }, { sinceMs: from }]) {
      const [gap] = await all(events, place);
      expect(gap).toEqual(GAP);
      expect(await read(events, { after: idOf(gap) })).toEqual(['d', 'e', 'f']);
    }
  });

  it('one who read when there were none yet is told that the first ones were cut off', async () => {
    const { events } = world().store({ streamEvents: { maxLength: 1 } });
    const [{ next: ofStart }, { next: ofEnd }] = [await events.read('start'), await events.read('end')];
    await add(events, 'a');
    await add(events, 'b');
    expect(await read(events, ofStart)).toEqual(['gap', 'b']);
    expect(await read(events, ofEnd)).toEqual(['gap', 'b']);
  });

  it('more events than a step answers come in steps', async () => {
    const { events } = world().store({ streamEvents: { maxLength: 10_000 } });
    const ids = Array.from({ length: 2_500 }, (_, i) => `job-${i}`);
    for (const id of ids.slice(0, 30)) await add(events, id);
    await add(events, ...ids.slice(30));
    expect(await read(events, 'start')).toEqual(ids);
  });

  it('whoever watches is called after events were added, until that ends', async () => {
    const { events } = world().store(ON);
    let looks = 0;
    const stop = events.watch(() => looks++);
    await add(events, 'a');
    await until('it looks', () => looks > 0);
    const { next } = await events.read('end');
    looks = 0;
    await add(events, 'b');
    await until('it looks again', () => looks > 0);
    expect(await read(events, next)).toEqual(['b']);
    stop();
    looks = 0;
    let othersLooks = 0;
    const stopOther = events.watch(() => othersLooks++);
    await add(events, 'c');
    await until('another one looks', () => othersLooks > 0);
    stopOther();
    expect(looks).toBe(0);
  });
}
