import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { relayKey } from '../../lib/store/redis/relay-key.js';
import { QUEUE, TestStore } from '../support/store.js';

const LEASE_MS = 60_000;

let test: TestStore;
beforeEach(() => {
  test = new TestStore({ leaseMs: LEASE_MS, maxCrashes: 3 });
});
afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

const key = (name: string) => `${test.prefix}:{${QUEUE}}:${name}`;

/** Ends the leases of these jobs. */
async function letLeasesRunOut(ids: readonly string[]): Promise<void> {
  await test.redis.zadd(key('active'), 'XX', ...ids.flatMap((id) => [Date.now() - 1, id]));
}

/** Schedules so many jobs, and lets workers die with all of them together until each has one crash left. */
async function suspects(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push((await test.schedule()).id);
  for (const name of ['dies', 'dies-too']) {
    expect((await test.worker(name).turn({ limit: count })).claimed).toHaveLength(count);
    await letLeasesRunOut(ids);
    await test.worker('recovers').turn();
  }
  return ids;
}

describe('a job with one crash left', () => {
  it('is moved by a relay like any job', async () => {
    await suspects(2);
    const target = { type: 'list', key: relayKey(QUEUE, test.prefix), maxLength: 0 } as const;
    const relay = test.sessions.relay('relay', ['work'], target);
    const turn = { settlements: [], renewals: [], limit: 10, handlers: [], isLast: false, standing: 'stays' as const };
    await relay.turn({ ...turn, suspects: '' }, new AbortController().signal);
    expect(await test.redis.llen(target.key)).toBe(2);
    await test.redis.del(target.key);
  });

  it('is found by a relay behind many that it does not move', async () => {
    for (let i = 0; i < 200; i++) await test.schedule({ name: `other-${i}` });
    const { id } = await test.schedule();
    const puller = test.puller('dies');
    for (const name of ['dies', 'dies-too']) {
      const { claimed } = await (name === 'dies' ? puller : test.puller(name)).turn({ limit: 300 });
      expect(claimed).toHaveLength(201);
      await letLeasesRunOut(claimed.map((claim) => claim.id));
      // So many at a time.
      for (let i = 0; i < 2; i++) await test.worker('recovers').turn();
    }
    const target = { type: 'list', key: relayKey(QUEUE, test.prefix), maxLength: 0 } as const;
    const relay = test.sessions.relay('relay', ['work'], target);
    const turn = { settlements: [], renewals: [], limit: 10, handlers: [], isLast: false, standing: 'stays' as const };
    await relay.turn({ ...turn, suspects: '' }, new AbortController().signal);
    const moved = await test.redis.lrange(target.key, 0, -1);
    expect(moved.map((text) => JSON.parse(text).id)).toEqual([id]);
    await test.redis.del(target.key);
  });
});

it('a claim of a suspect whose reply was lost is the same when it is sent again', async () => {
  await suspects(1);
  const session = test.sessions.worker('w', { names: ['work'], limited: false });
  const turn = { settlements: [], renewals: [], limit: 5, handlers: [], isLast: false, standing: 'stays' as const };
  const first = await session.turn({ ...turn, suspects: 'take' }, new AbortController().signal);
  expect(first.suspect).toBe('taken');
  // Its record answers, whoever asks under the same number.
  const [receiptKey] = await test.redis.keys(key('receipt:w.*'));
  expect(await test.redis.get(receiptKey!)).toMatch(/ taken$/);
});

it('a suspect is told apart from jobs that wait for room', async () => {
  const [id] = await suspects(1);
  const { id: other } = await test.schedule();
  expect(await test.view.job(id!)).toMatchObject({ isSuspect: true });
  expect(await test.view.job(other)).toMatchObject({ isSuspect: false });
});

describe('under a limit over all processes', () => {
  beforeEach(async () => {
    await test.close();
    test = new TestStore({ leaseMs: LEASE_MS, maxCrashes: 3, globalConcurrency: 2 });
  });

  it('a process that empties its places holds none of them', async () => {
    await suspects(1);
    await test.schedule();
    await test.schedule();
    const empties = test.worker('empties');
    expect(await empties.turn({ limit: 2, suspects: 'reserve' })).toMatchObject({ suspect: 'reserved', claimed: [] });
    expect((await test.worker('other').turn({ limit: 2 })).claimed).toHaveLength(2);
  });
});
