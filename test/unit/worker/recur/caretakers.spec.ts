import { beforeEach, expect, it } from '@jest/globals';
import { QueueUnavailableError } from '../../../../lib/core/errors.js';
import { Caretakers } from '../../../../lib/worker/recur/caretakers.js';
import { ManualClock, rest } from '../../../support/manual-clock.js';

interface Call {
  toTend: readonly string[];
  at: number;
  tellDamaged(ids: readonly string[]): void;
  answer(inMs?: number): void;
  refuse(error: Error): void;
}

const WORKER = {};
const PULL = {};

let clock: ManualClock;
let calls: Call[];
let lines: string[];
let opened: string[];
let caretakers: Caretakers;

beforeEach(() => {
  clock = new ManualClock();
  calls = [];
  lines = [];
  opened = [];
  const tend = (toTend: readonly string[], tellDamaged: Call['tellDamaged']) =>
    new Promise<number | undefined>((answer, refuse) =>
      calls.push({ toTend, at: clock.now(), tellDamaged, answer, refuse }),
    );
  const queue = (name: string) => {
    opened.push(name);
    return { recurrences: { tend } } as never;
  };
  const log = {
    log: (line: string) => void lines.push(line),
    warn: (line: string) => void lines.push(line),
    error: (line: string) => void lines.push(line),
  };
  caretakers = new Caretakers({ queue }, clock, log);
});

const told = (tendInMs: number | undefined, ...toTend: string[]) => ({ tendInMs, toTend });

async function answer(inMs?: number): Promise<void> {
  calls.at(-1)!.answer(inMs);
  await rest();
}

it('a queue whose turns say nothing of recurrences has no timer, and its store is not asked for them', () => {
  caretakers.hear('q', WORKER, told(undefined));
  expect([opened, clock.nextAt, calls]).toEqual([[], Number.POSITIVE_INFINITY, []]);
});

it('it tends when a turn has said, and from then on when the store says', async () => {
  caretakers.hear('q', WORKER, told(3_000));
  clock.pass(2_999);
  expect(calls).toEqual([]);
  clock.pass(1);
  expect(calls).toMatchObject([{ toTend: [], at: 3_000 }]);
  await answer(7_000);
  clock.pass(7_000);
  expect(calls).toMatchObject([{}, { at: 10_000 }]);
});

it('the latest word counts: where another process has tended meanwhile, this one waits longer', () => {
  caretakers.hear('q', WORKER, told(3_000));
  clock.pass(2_000);
  caretakers.hear('q', PULL, told(7_000));
  clock.pass(6_999);
  expect(calls).toEqual([]);
  clock.pass(1);
  expect(calls).toMatchObject([{ at: 9_000 }]);
});

it('what a turn names is tended at once, one call at a time', async () => {
  caretakers.hear('q', WORKER, told(7_000, 'a', 'b'));
  caretakers.hear('q', PULL, told(7_000, 'b', 'c'));
  caretakers.hear('q', WORKER, told(7_000, 'c', 'd'));
  expect(calls.map(({ toTend }) => toTend)).toEqual([['a', 'b']]);
  await answer(7_000);
  expect(calls.map(({ toTend }) => toTend)).toEqual([
    ['a', 'b'],
    ['b', 'c', 'd'],
  ]);
  await answer(7_000);
  expect(calls).toHaveLength(2);
});

it('where nothing is left to look after it ends, and begins anew when a turn says so', async () => {
  caretakers.hear('q', WORKER, told(0));
  await answer(undefined);
  expect(clock.nextAt).toBe(Number.POSITIVE_INFINITY);
  caretakers.hear('q', WORKER, told(0));
  expect(calls).toHaveLength(2);
  expect(opened).toEqual(['q', 'q']);
});

it('it ends with the last session of its queue, and leaves other queues alone', async () => {
  caretakers.hear('q', WORKER, told(1_000));
  caretakers.hear('q', PULL, told(1_000));
  caretakers.hear('other', WORKER, told(5_000));
  caretakers.leave('q', WORKER);
  caretakers.leave('none', WORKER);
  clock.pass(1_000);
  expect(calls).toMatchObject([{ at: 1_000 }]);
  caretakers.leave('q', PULL);
  await answer(1_000);
  clock.pass(60_000);
  expect(calls).toMatchObject([{}, { at: 5_000 }]);
});

it('a refused call is told once, and made again every second with what was named, until it goes through', async () => {
  caretakers.hear('q', WORKER, told(7_000, 'a'));
  for (let second = 1; second <= 3; second++) {
    calls.at(-1)!.refuse(new Error('no such zone'));
    await rest();
    // What turns name meanwhile does not make it come earlier.
    caretakers.hear('q', WORKER, told(7_000, 'b'));
    clock.pass(999);
    expect(calls).toHaveLength(second);
    clock.pass(1);
    expect(calls).toHaveLength(second + 1);
  }
  expect(calls.at(-1)!.toTend).toEqual(['a', 'b']);
  expect(lines).toEqual([
    "The recurrences of queue 'q' cannot be looked after, which is tried again every second: no such zone",
  ]);
  await answer(7_000);
  expect(lines.slice(1)).toEqual(["The recurrences of queue 'q' are looked after again."]);
});

it('that Redis is away, which has a line of its own, is not told again', async () => {
  caretakers.hear('q', WORKER, told(0));
  calls.at(-1)!.refuse(new QueueUnavailableError('no answer', 'unknown'));
  await rest();
  clock.pass(1_000);
  await answer(7_000);
  expect(lines).toEqual([]);
  expect(calls).toHaveLength(2);
});

it('a timer keeps no process alive', () => {
  const kept: unknown[] = [];
  clock.after = (_ms, _callback, options?: object) => {
    kept.push(options);
    return () => {};
  };
  caretakers.hear('q', WORKER, told(1_000));
  expect(kept).toEqual([{ keepsAlive: false }]);
});

it('those whose records nobody can read are told by their names, in one line', async () => {
  caretakers.hear('q', WORKER, told(0));
  calls.at(-1)!.tellDamaged(['a']);
  expect(lines).toEqual([
    "Nobody can read the rule of 1 recurrence of queue 'q', which somebody has damaged: 'a'. Unless a handler declares them, call upsertRecurrence to have them go on.",
  ]);
  calls.at(-1)!.tellDamaged(Array.from({ length: 60 }, (_, i) => `r${i}`));
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatch(
    /^Nobody can read the rule of 60 recurrences of queue 'q', .*'r0', .*'r49' and 10 more\. Unless/,
  );
  await answer(7_000);
});
