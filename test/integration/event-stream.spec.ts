import { afterEach, expect, it } from '@jest/globals';
import type { EventPlace } from '../../lib/core/options/stream-options.js';
import type { ScheduledQueueStreamedEvent } from '../../lib/index.js';
import { queueKeys } from '../../lib/store/redis/keys.js';
import { seededRandom } from '../support/random.js';
import { QUEUE, TestStore } from '../support/store.js';
import { BEFORE_NEXT_LOOK_MS, until } from '../support/wait.js';

const stores: TestStore[] = [];

afterEach(async () => {
  for (const test of stores.splice(0)) await test.close();
});

function storeOf(maxLength: number, like?: TestStore): TestStore {
  const test = new TestStore({ streamEvents: { maxLength } }, undefined, like?.prefix);
  stores.push(test);
  return test;
}

const eventsOf = ({ store }: TestStore) => store.queue(QUEUE).events;

/** Adds so many events in one write, or in several where they are more than one carries. */
async function add(test: TestStore, count: number, prefix = 'job'): Promise<void> {
  const events = eventsOf(test);
  for (let i = 0; i < count; i++)
    events.add({ type: 'snoozed', queue: QUEUE, id: `${prefix}-${i}`, name: 'work', attempt: 1 });
  await events.flush();
}

async function read(test: TestStore, from: 'start' | { after: string }): Promise<ScheduledQueueStreamedEvent[]> {
  const told: ScheduledQueueStreamedEvent[] = [];
  for (let place: EventPlace = from, more = true; more; ) {
    const step = await eventsOf(test).read(place);
    told.push(...step.events);
    ({ next: place, more } = step);
  }
  return told;
}

/** Resolves once Redis' clock is beyond the millisecond of an event. */
const nextMs = ({ redis }: TestStore, eventId: string) =>
  until('a millisecond passes', async () => {
    const [seconds, micros] = (await redis.time()).map(Number) as [number, number];
    return seconds * 1_000 + Math.floor(micros / 1_000) > Number.parseInt(eventId, 10);
  });

const keyOf = ({ prefix }: TestStore) => queueKeys(prefix, QUEUE).events;
const idOf = (event: ScheduledQueueStreamedEvent | undefined) => event!.eventId;

it('the stream never holds fewer events than its cap, nor more than one write beyond it, however large writes are', async () => {
  const test = storeOf(500);
  for (const count of [1, 3, 40, 1, 700, 1, 1, 1, 250, 1_000, 2, 499, 1, 1, 3_000]) {
    await add(test, count);
    const kept = (await read(test, 'start')).length;
    if (kept < 500) continue;
    expect(kept).toBeLessThanOrEqual(500 + 1_000);
    const oldest = (await test.redis.xrange(keyOf(test), '-', '+', 'COUNT', 1))[0]![1][3]!.split('\n').length;
    // Without its first entry there would be too few.
    expect(kept - oldest).toBeLessThan(500);
  }
  expect((await read(test, 'start')).length).toBeGreaterThanOrEqual(500);
});

it('a cap that is lowered is reached over some writes', async () => {
  const test = storeOf(1_000);
  for (let i = 0; i < 300; i++) await add(test, 1);
  const lower = storeOf(10, test);
  for (let i = 0; i < 5; i++) await add(lower, 1);
  expect(await read(test, 'start')).toHaveLength(10);
});

/** Puts full entries behind what the stream holds: so many, of 64 KiB and two events each. */
async function addFull({ redis, prefix }: TestStore, count: number, after: number): Promise<void> {
  const line = `s\t${'x'.repeat(32_700)}\twork\t1`;
  const key = queueKeys(prefix, QUEUE).events;
  const ms = Date.now() + 1_000;
  for (let i = 1; i <= count; i++)
    await redis.xadd(key, `${ms}-${after + 2 * i}`, 'head', `${ms} 0`, 'events', `${line}\n${line}`);
}

it('a step of a reader is a few hundred KiB, also where large entries come behind many small ones', async () => {
  const test = storeOf(100_000);
  for (let i = 0; i < 50; i++) await add(test, 1);
  await addFull(test, 40, 50);
  const sizes: number[] = [];
  let events = 0;
  for (let place: EventPlace = 'start', more = true; more; ) {
    const step = await eventsOf(test).read(place);
    events += step.events.length;
    sizes.push(JSON.stringify(step.events).length);
    ({ next: place, more } = step);
  }
  expect(events).toBe(50 + 2 * 40);
  expect(Math.max(...sizes)).toBeLessThan(600 * 1_024);
});

it('a step of a reader is 500 entries where they are small', async () => {
  const test = storeOf(100_000);
  const pipeline = test.redis.pipeline();
  for (let i = 1; i <= 1_001; i++) pipeline.xadd(keyOf(test), `1-${i}`, 'head', '0 0', 'events', `s\t${i}\ta\t1`);
  await pipeline.exec();
  const steps: number[] = [];
  for (let place: EventPlace = 'start', more = true; more; ) {
    const step = await eventsOf(test).read(place);
    steps.push(step.events.length);
    ({ next: place, more } = step);
  }
  expect(steps).toEqual([500, 500, 1]);
});

it('a cap that is lowered far is reached by writes that each cut off a few hundred KiB or entries', async () => {
  const test = storeOf(100_000);
  for (let i = 0; i < 300; i++)
    await test.redis.xadd(keyOf(test), `1-${i + 1}`, 'head', '0 0', 'events', `s\t${i}\ta\t1`);
  await addFull(test, 40, 300);
  const lower = storeOf(10, test);
  const lengths = [await test.redis.xlen(keyOf(test))];
  while (lengths.at(-1)! > 10 && lengths.length < 30) {
    await add(lower, 1);
    lengths.push(await test.redis.xlen(keyOf(test)));
  }
  expect(lengths.at(-1)).toBe(10);
  const cutOff = lengths.slice(1).map((length, i) => lengths[i]! + 1 - length);
  expect(Math.max(...cutOff)).toBeLessThanOrEqual(200);
  // The last hundred of the small entries, and the first large ones, may go together.
  expect(Math.max(...cutOff.slice(2))).toBeLessThanOrEqual(5);
});

it('events of one moment are one entry', async () => {
  const test = storeOf(10_000);
  await add(test, 400);
  expect(await test.redis.xlen(keyOf(test))).toBe(1);
});

it('where somebody has deleted the stream, a reader that goes on is told a gap, and all that came since', async () => {
  const test = storeOf(100);
  await add(test, 10);
  const after = idOf((await read(test, 'start')).at(-1));
  await test.redis.del(keyOf(test));
  await nextMs(test, after);
  await add(test, 2, 'new');
  const told = await read(test, { after });
  expect(told.map((event) => (event.type === 'gap' ? 'gap' : event.id))).toEqual(['gap', 'new-0', 'new-1']);
});

it('where a failover has lost the last events, a reader that had them is told a gap, and all that came since', async () => {
  const test = storeOf(100);
  await add(test, 1, 'kept');
  const dump = await test.redis.dumpBuffer(keyOf(test));
  await add(test, 5, 'lost');
  const after = idOf((await read(test, 'start')).at(-1));
  await test.redis.restore(keyOf(test), 0, dump, 'REPLACE');
  await nextMs(test, after);
  await add(test, 2, 'new');
  const told = await read(test, { after });
  expect(told.map((event) => (event.type === 'gap' ? 'gap' : event.id))).toEqual(['gap', 'new-0', 'new-1']);
});

it('an entry of somebody else is a gap, and keeps nothing from being added or read', async () => {
  const test = storeOf(100);
  await add(test, 1, 'before');
  await test.redis.xadd(keyOf(test), '*', 'whatever', 'it is');
  await add(test, 1, 'after');
  const told = await read(test, 'start');
  expect(told[0]).toMatchObject({ id: 'before-0' });
  expect(told.at(-1)).toMatchObject({ id: 'after-0' });
  expect(told.slice(1, -1).map(({ type }) => type)).toContain('gap');
});

it('readers are told of an event after the clock of Redis went back', async () => {
  const test = storeOf(100);
  const [heard, subscriber] = [[] as string[], test.redis.duplicate()];
  try {
    subscriber.on('message', (channel: string) => heard.push(channel));
    await subscriber.subscribe(keyOf(test));
    // Written an hour ahead, and told then.
    const ahead = Date.now() + 3_600_000;
    await test.redis.xadd(keyOf(test), `${ahead}-1`, 'head', `0 ${ahead}`, 'events', 's\tahead\ta\t1');
    await add(test, 1);
    await until('a message has come', () => heard.length > 0);
  } finally {
    subscriber.disconnect();
  }
});

it('whenever events are added, whoever watches is called after the last one, and not only by the look of every five seconds', async () => {
  const test = storeOf(100_000);
  const [watching, writer, other] = [storeOf(1, test), storeOf(100_000, test), storeOf(100_000, test)];
  let read = 0;
  let from: EventPlace = 'start';
  let reading = Promise.resolve();
  const look = async () => {
    const step = await eventsOf(watching).read(from);
    read += step.events.length;
    from = step.next;
  };
  const stop = eventsOf(watching).watch(() => {
    reading = reading.then(look);
  });
  const random = seededRandom(7);
  let added = 0;
  for (let round = 0; round < 60; round++) {
    for (const each of [writer, other, writer]) {
      await add(each, 1);
      added++;
      await new Promise((resolve) => setTimeout(resolve, random() * 25));
    }
    await until(`round ${round} is read`, () => read === added, BEFORE_NEXT_LOOK_MS);
  }
  stop();
  await reading;
});

it('many writers send readers few messages', async () => {
  const test = storeOf(100_000);
  const subscriber = test.redis.duplicate();
  let messages = 0;
  subscriber.on('message', () => messages++);
  await subscriber.subscribe(keyOf(test));
  let looks = 0;
  const stop = eventsOf(test).watch(() => looks++);
  await until('it is heard', () => looks > 0);
  const from = performance.now();
  const writers = Array.from({ length: 5 }, () => storeOf(100_000, test));
  await Promise.all(
    writers.map(async (writer) => {
      for (let i = 0; i < 40; i++) await add(writer, 1);
    }),
  );
  const ms = performance.now() - from;
  looks = 0;
  await until('it looks after the last', () => looks > 0);
  stop();
  subscriber.disconnect();
  expect(await read(test, 'start')).toHaveLength(200);
  // One in 10 ms.
  expect(messages).toBeLessThanOrEqual(ms / 10 + 2);
});
