import { beforeEach, expect, it, jest } from '@jest/globals';
import type { Alarms } from '../../../lib/testing/time/watchdog.js';

const LOOK_EVERY_MS = 250;
/** What rings at each look; missing while nobody looks. */
let look: (() => void) | undefined;

jest.unstable_mockModule('node:timers', () => ({
  setInterval: (callback: () => void, ms: number) => {
    expect(ms).toBe(LOOK_EVERY_MS);
    look = callback;
    return callback;
  },
  clearInterval: (timer: unknown) => {
    if (timer === look) look = undefined;
  },
}));

const { Watchdog } = await import('../../../lib/testing/time/watchdog.js');

/** Each alarm and after how many looks it came. */
let heard: [alarm: keyof Alarms, looks: number][];
let looks: number;

const alarms: Alarms = {
  slow: () => void heard.push(['slow', looks]),
  hangs: () => void heard.push(['hangs', looks]),
};

beforeEach(() => {
  heard = [];
  looks = 0;
});

function lookTimes(count: number): void {
  for (let i = 0; i < count; i++) {
    looks++;
    look!();
  }
}

it('warns after 4 s in which nothing changes, once, and gives up a second later', () => {
  new Watchdog().watch(() => 'same', alarms);
  lookTimes(21);
  // The first look only sees what there is: 5 s have passed for certain at the twentieth after it.
  expect(heard).toEqual([
    ['slow', 16],
    ['hangs', 21],
  ]);
});

it('whatever changes begins its patience anew', () => {
  let now = 'one';
  new Watchdog().watch(() => now, alarms);
  lookTimes(15);
  now = 'two';
  lookTimes(15);
  expect(heard).toEqual([]);
  lookTimes(1);
  expect(heard).toEqual([['slow', 31]]);
});

it('time in which there is nothing to wait for does not count', () => {
  let now: string | undefined = 'same';
  new Watchdog().watch(() => now, alarms);
  lookTimes(15);
  now = undefined;
  lookTimes(40);
  now = 'same';
  lookTimes(15);
  expect(heard).toEqual([]);
});

it('at rest it looks no more, and begins anew when it watches again', () => {
  const watchdog = new Watchdog();
  watchdog.watch(() => 'same', alarms);
  lookTimes(15);
  watchdog.rest();
  expect(look).toBeUndefined();
  watchdog.watch(() => 'same', alarms);
  lookTimes(15);
  expect(heard).toEqual([]);
});
