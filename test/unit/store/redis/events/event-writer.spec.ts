import { expect, it } from '@jest/globals';
import { QueueUnavailableError } from '../../../../../lib/core/errors.js';
import type { Caller } from '../../../../../lib/store/redis/calls/caller.js';
import { EventWriter } from '../../../../../lib/store/redis/events/event-writer.js';
import { queueKeys } from '../../../../../lib/store/redis/keys.js';

// What waits for Redis in a process, and what one write carries, is bounded by number and by characters.

const MOST_A_WRITE = 1_000;
const MOST_CHARACTERS_A_WRITE = 64 * 1_024;
const MOST_WAITING = 50_000;
const MOST_CHARACTERS_WAITING = 8 * 1_024 * 1_024;
const GAP = '-';

const SILENT = { log() {}, warn() {}, error() {} };

interface Write {
  readonly lines: string[];
  readonly count: number;
  answer(error?: Error): void;
}

/** A writer, and its writes so far: each waits for its answer. */
function writing() {
  const writes: Write[] = [];
  const next: ((write: Write) => void)[] = [];
  const caller = {
    now: () => 0,
    begin() {},
    rename() {},
    send: (_script: unknown, { count, lines }: { count: number; lines: string }) =>
      new Promise<void>((resolve, reject) => {
        const write = {
          lines: lines.split('\n'),
          count,
          answer: (error?: Error) => (error ? reject(error) : resolve()),
        };
        writes.push(write);
        next.shift()?.(write);
      }),
  };
  const options = { queue: 'default', maxLength: 1_000_000, log: SILENT };
  const writer = new EventWriter(caller as unknown as Caller, queueKeys('p', 'default'), options);
  return { writer, writes, nextWrite: () => new Promise<Write>((resolve) => next.push(resolve)) };
}

const told = (id: string) => ({ type: 'scheduled', queue: 'default', id, name: 'n', dueAt: new Date(0) }) as const;
const lineOf = (id: string) => `s\t${id}\tn\t0`;

/** Answers each write, and gives those that came meanwhile. */
async function flushed(test: ReturnType<typeof writing>): Promise<Write[]> {
  const { writer, writes } = test;
  const before = writes.length;
  const flushing = writer.flush();
  let isOver = false;
  void flushing.then(() => {
    isOver = true;
  });
  for (let answered = 0; !isOver; await undefined) while (answered < writes.length) writes[answered++]!.answer();
  return writes.slice(before);
}

it('a write carries a thousand events at most, and all are written in their order', async () => {
  const test = writing();
  const ids = Array.from({ length: 2 * MOST_A_WRITE + 501 }, (_, i) => `${i}`);
  const first = test.nextWrite();
  for (const id of ids) test.writer.add(told(id));
  // What is there once there is enough is written at once.
  expect((await first).lines).toEqual(ids.slice(0, 500).map(lineOf));
  const later = await flushed(test);
  expect(later.map(({ lines }) => lines.length)).toEqual([MOST_A_WRITE, MOST_A_WRITE, 1]);
  expect(test.writes.every(({ count, lines }) => count === lines.length)).toBe(true);
  expect(test.writes.flatMap(({ lines }) => lines)).toEqual(ids.map(lineOf));
});

it('a write ends with the event that brings it to 64 KiB; an event that is larger goes alone', async () => {
  const test = writing();
  const large = 'x'.repeat(MOST_CHARACTERS_A_WRITE);
  // With this line a write has exactly as much as it may.
  const full = 'y'.repeat(MOST_CHARACTERS_A_WRITE - lineOf('a').length - lineOf('').length);
  for (const id of [large, 'a', full, 'b', large, 'c']) test.writer.add(told(id));
  const writes = await flushed(test);
  expect(writes.map(({ lines }) => lines)).toEqual(
    [[large], ['a', full], ['b', large], ['c']].map((ids) => ids.map(lineOf)),
  );
});

it.each([
  ['50 000 events', 'x', MOST_WAITING],
  ['8 MiB', 'x'.repeat(100_000), Math.ceil(MOST_CHARACTERS_WAITING / lineOf('x'.repeat(100_000)).length)],
])('%s wait and no more: a gap stands for all that are dropped, and later ones are told again', async (_, id, most) => {
  const test = writing();
  const first = test.nextWrite();
  test.writer.add(told('first'));
  await first;
  // That write is under way: nothing leaves meanwhile.
  for (let i = 0; i < most + 3; i++) test.writer.add(told(id));
  const writes = await flushed(test);
  const lines = writes.flatMap((write) => write.lines);
  expect(lines).toHaveLength(most + 1);
  expect(lines.indexOf(GAP)).toBe(most);

  const again = test.writes.length;
  test.writer.add(told('again'));
  await flushed(test);
  expect(test.writes.slice(again).map((write) => write.lines)).toEqual([[lineOf('again')]]);
});

it('each outage that drops events has its own gap', async () => {
  const test = writing();
  const first = test.nextWrite();
  test.writer.add(told('first'));
  const held = await first;
  for (let i = 0; i < MOST_WAITING + 3; i++) test.writer.add(told('x'));
  const second = test.nextWrite();
  held.answer();
  await second;
  // A thousand have been taken out: there is room for as many, less the gap.
  for (let i = 0; i < MOST_A_WRITE + 3; i++) test.writer.add(told('y'));
  const lines = [...test.writes.slice(1), ...(await flushed(test))].flatMap((write) => write.lines);
  const gaps = lines.flatMap((line, i) => (line === GAP ? [i] : []));
  expect(gaps).toEqual([MOST_WAITING, MOST_WAITING + MOST_A_WRITE]);
});

it('a write of which nobody knows whether it has happened is a gap before what comes next', async () => {
  const test = writing();
  const first = test.nextWrite();
  test.writer.add(told('a'));
  (await first).answer(new QueueUnavailableError('Its reply was lost.', 'unknown'));
  test.writer.add(told('b'));
  await flushed(test);
  expect(test.writes.slice(1).flatMap(({ lines }) => lines)).toEqual([GAP, lineOf('b')]);
});
