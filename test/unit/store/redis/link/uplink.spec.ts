import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { Uplink } from '../../../../../lib/store/redis/link/uplink.js';
import { Waits } from '../../../../../lib/store/redis/link/waits.js';

const MIB = 1024 * 1024;
const SILENCE_MS = 400;

function uplinkByHand() {
  const uplink = new Uplink(SILENCE_MS, new Waits());
  const begun: { bytes: number; answer(): void; fail(): void }[] = [];
  const carry = (bytes: number, withinMs = 10_000) =>
    uplink.carry(
      bytes,
      () => new Promise<void>((answer, reject) => begun.push({ bytes, answer, fail: () => reject(new Error('cut')) })),
      performance.now() + withinMs,
    );
  return { uplink, begun, carry };
}

const settle = () => sleep(5);

it('one large call is under way at a time while nothing is known of the link, and the others follow in their order', async () => {
  const { begun, carry } = uplinkByHand();
  const calls = [MIB, 2 * MIB, MIB / 2].map((bytes) => carry(bytes));
  for (const bytes of [MIB, 2 * MIB, MIB / 2]) {
    await settle();
    expect(begun.map((call) => call.bytes)).toEqual([bytes]);
    await sleep(150);
    begun.shift()!.answer();
  }
  await Promise.all(calls);
});

it('as much is under way as the link has carried in a part of the time after which silence counts as death', async () => {
  const { uplink, begun, carry } = uplinkByHand();
  const first = carry(MIB);
  await settle();
  begun.shift()!.answer();
  await first;
  // A link that took a few ms for a MiB.
  expect(uplink.most).toBeGreaterThan(4 * MIB);
  const calls = [1, 2, 3].map(() => carry(MIB));
  await settle();
  expect(begun).toHaveLength(3);
  for (const { answer } of begun) answer();
  await Promise.all(calls);
});

it('a call whose time is over before its turn came is handed back to say so, and those behind it go on', async () => {
  const { begun, carry } = uplinkByHand();
  const first = carry(MIB);
  void carry(2 * MIB, 30);
  const last = carry(MIB);
  await sleep(80);
  expect(begun.map(({ bytes }) => bytes)).toEqual([MIB, 2 * MIB]);
  begun[0]!.answer();
  await first;
  await settle();
  expect(begun.map(({ bytes }) => bytes)).toEqual([MIB, 2 * MIB, MIB]);
  begun[2]!.answer();
  await last;
});

it('a call that failed makes room for the next, and says nothing of the link', async () => {
  const { uplink, begun, carry } = uplinkByHand();
  const most = uplink.most;
  const [first, second] = [carry(MIB), carry(MIB)];
  await settle();
  begun[0]!.fail();
  await expect(first).rejects.toThrow('cut');
  await settle();
  expect([begun.length, uplink.most]).toEqual([2, most]);
  begun[1]!.answer();
  await second;
});

it('a connection that was given up under a large call shows how slow the link is at best', async () => {
  const { uplink, begun, carry } = uplinkByHand();
  const call = carry(MIB);
  await settle();
  expect(uplink.expectedMs).toBe(0);
  uplink.wasTooSlow(SILENCE_MS);
  expect(uplink.expectedMs).toBe(SILENCE_MS);
  begun[0]!.answer();
  await call;
});

it('a call comes too late that has waited for longer than it has left, and would take far longer than that', async () => {
  const { uplink, begun, carry } = uplinkByHand();
  const now = performance.now();
  expect(uplink.comesTooLate(MIB, now - 100, now - 1)).toBe(true);
  // Nothing is known of the link.
  expect(uplink.comesTooLate(MIB, now - 1_000, now + 100)).toBe(false);
  const call = carry(MIB);
  await settle();
  uplink.wasTooSlow(1_000);
  expect(uplink.comesTooLate(MIB, now - 1_000, now + 400)).toBe(true);
  expect(uplink.comesTooLate(MIB / 16, now - 1_000, now + 400)).toBe(false);
  // Somebody has to try: a link may be faster than it was.
  expect(uplink.comesTooLate(MIB, now, now + 400)).toBe(false);
  begun[0]!.answer();
  await call;
});
