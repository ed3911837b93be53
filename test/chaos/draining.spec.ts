import { expect, it } from '@jest/globals';
import { drains } from './draining.js';
import type { Unfinished } from './queues-under-test.js';

/** What is left at each second, the last of these for ever. Answers whether it drained, and after how many seconds that was known. */
async function watch(leftAt: (second: number) => Unfinished | undefined, secondsOfFaults = 12) {
  let ms = 0;
  const drained = await drains(
    async () => leftAt(Math.floor(ms / 1_000)),
    secondsOfFaults,
    () => ms,
    async (pauseMs) => {
      ms += pauseMs;
    },
  );
  return { drained, seconds: Math.floor(ms / 1_000) };
}

it('many suspects may take minutes, as long as one ends every half a minute', async () => {
  const left = (second: number) => ({ active: 0, ordinary: 0, suspects: 20 - Math.floor(second / 25) });
  expect(await watch(left)).toEqual({ drained: true, seconds: 500 });
});

it('a suspect that never runs is told after half a minute', async () => {
  expect(await watch(() => ({ active: 0, ordinary: 0, suspects: 1 }))).toEqual({ drained: false, seconds: 30 });
});

it.each([
  { faults: 12, seconds: 45 },
  { faults: 120, seconds: 60 },
])(
  'after $faults s of faults, an ordinary job that waits for more than $seconds s is told, though suspects go on ending',
  async ({ faults, seconds }) => {
    const left = (second: number) => ({ active: 1, ordinary: 1, suspects: 500 - second });
    expect(await watch(left, faults)).toEqual({ drained: false, seconds });
  },
);

it('a Redis that does not answer is no empty queue', async () => {
  expect(await watch(() => undefined)).toEqual({ drained: false, seconds: 30 });
});
