import { expect, it } from '@jest/globals';
import { UNCONFIRMED_BYTES } from '../../../../../lib/core/constants.js';
import { LinkRate } from '../../../../../lib/store/redis/link/link-rate.js';

const MIB = 1024 * 1024;
const MOST = 8 * MIB;
const LONG_MS = 5_000;

it('asks for a modest amount of a link of which nothing is known', () => {
  const rate = new LinkRate();
  expect([rate.bytesIn(LONG_MS, MOST), rate.bytesIn(1, MOST), rate.msFor(MIB)]).toEqual([MIB, MIB, 0]);
});

it('asks for what the link has carried in that time, and says how long so much takes', () => {
  const rate = new LinkRate();
  rate.note(MIB, 1_000);
  expect([rate.bytesIn(LONG_MS, MOST), rate.bytesIn(500, MOST)]).toEqual([5 * MIB, MIB / 2]);
  expect(rate.msFor(2 * MIB)).toBe(2_000);
});

it('asks for as much as is ever asked for of a fast link, after one answer', () => {
  const rate = new LinkRate();
  rate.note(MIB, 5);
  expect(rate.bytesIn(LONG_MS, MOST)).toBe(MOST);
  rate.note(MIB, 0);
  expect(rate.bytesIn(LONG_MS, MOST)).toBe(MOST);
});

it('asks for what thousands of small jobs have, however slow the link is', () => {
  const rate = new LinkRate();
  rate.note(MIB, 100_000);
  expect(rate.bytesIn(LONG_MS, MOST)).toBe(UNCONFIRMED_BYTES);
});

it('does not judge a link by small answers, which say more of the way and of Redis', () => {
  const rate = new LinkRate();
  rate.note(MIB, 1_000);
  for (let i = 0; i < 100; i++) rate.note(1_000, 1_000);
  expect(rate.bytesIn(LONG_MS, MOST)).toBe(5 * MIB);
});

it('forgets one answer that was held up after a few that were not, and follows a link that has become slow', () => {
  const rate = new LinkRate();
  rate.note(MIB, 1_000);
  rate.note(MIB, 20_000);
  expect(rate.bytesIn(LONG_MS, MOST)).toBeLessThan(MIB);
  for (let i = 0; i < 6; i++) rate.note(MIB, 1_000);
  expect(rate.bytesIn(LONG_MS, MOST)).toBeGreaterThan(4 * MIB);
  for (let i = 0; i < 6; i++) rate.note(MIB / 2, 5_000);
  expect(rate.bytesIn(LONG_MS, MOST)).toBeLessThan(0.6 * MIB);
});
