import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { QUEUE, settlement, TestStore, type TestWorker } from '../support/store.js';
import { until } from '../support/wait.js';

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

/** A worker that is known to Redis. */
async function worker(id: string): Promise<TestWorker> {
  const made = test.worker(id);
  await made.turn();
  return made;
}

describe('a job with one crash left', () => {
  it('is not seen by a turn that asks for no suspects', async () => {
    await suspects(2);
    const { id } = await test.schedule();
    expect((await test.worker('w').turn({ limit: 10 })).claimed).toMatchObject([{ id }]);
  });

  it('is claimed alone by a process that holds nothing', async () => {
    await suspects(2);
    await test.schedule();
    const answer = await test.worker('w').turn({ limit: 10, suspects: 'take' });
    expect(answer.claimed).toMatchObject([{ attempt: 3, crashes: 2 }]);
    expect(answer.suspect).toBe('taken');
  });

  it('is dead when its process dies with it, and no other job is', async () => {
    const ids = await suspects(2);
    const [job] = await test.worker('w').claim();
    await letLeasesRunOut([job!.id]);
    const { recovered } = await test.worker('other').turn();
    expect(recovered).toMatchObject([{ id: job!.id, fate: 'crashed' }]);
    expect(await test.view.counts()).toMatchObject({ due: ids.length - 1, dead: 1 });
  });

  it('waits alone again after an attempt that failed', async () => {
    await suspects(1);
    const w = test.worker('w');
    const [job] = await w.claim();
    await w.settle(settlement.retry(job!, 0));
    expect((await w.turn({ limit: 10 })).claimed).toEqual([]);
    expect(await w.claim()).toMatchObject([{ id: job!.id, attempt: 4, crashes: 2 }]);
  });

  it('is an ordinary job again once it was replayed', async () => {
    const [id] = await suspects(1);
    await test.worker('w').claim();
    await letLeasesRunOut([id!]);
    await test.worker('w').turn();
    await test.management.replayDead(id!, { delayMs: 0 });
    expect((await test.worker('w').turn({ limit: 10 })).claimed).toMatchObject([{ id, crashes: 0 }]);
  });

  it('can be cancelled, moved to another time and found', async () => {
    const [id, other] = await suspects(2);
    expect(await test.jobs.reschedule(id!, { delayMs: 60_000 })).toBe(true);
    expect(await test.view.job(id!)).toMatchObject({ state: 'scheduled' });
    expect(await test.jobs.cancel(id!)).toBe(true);
    expect(await test.view.counts()).toMatchObject({ due: 1, scheduled: 0 });
    expect(await test.view.countsByPriority()).toEqual([{ priority: 5, scheduled: 0, due: 1 }]);
    expect(await test.view.list('due', 0, 10)).toMatchObject([{ id: other }]);
    expect(await test.jobs.remove(other!)).toBe(true);
  });

  it('is not claimed before it is due, and tells the worker when that is', async () => {
    const [id] = await suspects(1);
    await test.jobs.reschedule(id!, { delayMs: 2_000 });
    const answer = await test.worker('w').turn({ limit: 10, suspects: 'take' });
    expect(answer.claimed).toEqual([]);
    expect(answer.suspect).toBeUndefined();
    expect(answer.sleepMs).toBeGreaterThan(500);
    expect(answer.sleepMs).toBeLessThanOrEqual(2_000);
  });

  it('is left to workers that handle its name', async () => {
    await suspects(1);
    expect(await test.worker('w', 'other-work').turn({ limit: 1, suspects: 'take' })).toMatchObject({ claimed: [] });
  });

  it('is moved by a relay like any job', async () => {
    await suspects(2);
    const target = { type: 'list', key: `${test.prefix}-target`, maxLength: 0 } as const;
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
    const target = { type: 'list', key: `${test.prefix}-target`, maxLength: 0 } as const;
    const relay = test.sessions.relay('relay', ['work'], target);
    const turn = { settlements: [], renewals: [], limit: 10, handlers: [], isLast: false, standing: 'stays' as const };
    await relay.turn({ ...turn, suspects: '' }, new AbortController().signal);
    const moved = await test.redis.lrange(target.key, 0, -1);
    expect(moved.map((text) => JSON.parse(text).id)).toEqual([id]);
    await test.redis.del(target.key);
  });

  it('hands its crashes on to the job that is queued behind its run, which is a suspect then', async () => {
    const { id } = await test.schedule({ id: 'chosen' });
    await test.worker('dies').turn({ limit: 1 });
    await letLeasesRunOut([id]);
    await test.worker('recovers').turn();
    await test.worker('dies-too').turn({ limit: 1 });
    await test.replace({ id, payload: '"new"' });
    await letLeasesRunOut([id]);
    await test.worker('recovers').turn();
    expect((await test.worker('w').turn({ limit: 1 })).claimed).toEqual([]);
    expect(await test.worker('w').claim()).toMatchObject([{ id, attempt: 1, crashes: 2 }]);
  });

  it('is no suspect where a job may crash once only', async () => {
    await test.close();
    test = new TestStore({ leaseMs: LEASE_MS, maxCrashes: 1 });
    const { id } = await test.schedule();
    await test.worker('dies').turn({ limit: 1 });
    await letLeasesRunOut([id]);
    expect((await test.worker('w').turn()).recovered).toMatchObject([{ id, fate: 'crashed' }]);
  });
});

describe('a process that holds jobs', () => {
  it('reserves itself, claims nothing else meanwhile, and claims the suspect once it is empty', async () => {
    await suspects(1);
    await test.schedule();
    const w = test.worker('w');
    const reserved = await w.turn({ limit: 10, suspects: 'reserve' });
    expect(reserved).toMatchObject({ suspect: 'reserved', claimed: [] });
    expect((await w.turn({ suspects: 'keep' })).suspect).toBe('reserved');
    expect(await w.turn({ limit: 10, suspects: 'claim' })).toMatchObject({
      suspect: 'taken',
      claimed: [{ crashes: 2 }],
    });
  });

  it('is told that it is reserved no longer where the suspect has gone, and claims others in the same turn', async () => {
    const [id] = await suspects(1);
    const w = test.worker('w');
    await w.turn({ limit: 10, suspects: 'reserve' });
    await test.jobs.cancel(id!);
    const other = await test.schedule();
    const answer = await w.turn({ limit: 10, suspects: 'claim' });
    expect(answer.suspect).toBeUndefined();
    expect(answer.claimed).toMatchObject([{ id: other.id }]);
    expect(await test.redis.zcard(key('reservations'))).toBe(0);
  });

  it('lets another process of its group look for what it leaves', async () => {
    await suspects(1);
    const other = test.worker('other');
    const told = await other.listens();
    await other.turn({ limit: 1 });
    told.length = 0;
    await test.worker('w').turn({ limit: 10, suspects: 'reserve' });
    await until('another one is told', () => told.length > 0);
  });

  it('gives the reservation up, and claims others in the same turn', async () => {
    await suspects(2);
    const w = test.worker('w');
    const [first] = await w.claim();
    const other = await test.schedule();
    const settled = { settlements: [settlement.complete(first!)] };
    const answer = await w.turn({ ...settled, limit: 10, suspects: 'leave' });
    expect(answer.suspect).toBeUndefined();
    expect(answer.claimed).toMatchObject([{ id: other.id }]);
    expect(await test.redis.zcard(key('reservations'))).toBe(0);
  });
});

describe('how many processes suspects hold up', () => {
  it('is one where fewer than eight work at the queue', async () => {
    await suspects(4);
    for (const id of ['a', 'b', 'c']) await worker(id);
    expect((await test.worker('a').turn({ limit: 1, suspects: 'reserve' })).suspect).toBe('reserved');
    expect((await test.worker('b').turn({ limit: 1, suspects: 'take' })).suspect).toBeUndefined();
  });

  it('is one in four', async () => {
    await suspects(4);
    // With those that died and the one that recovered: eight.
    for (const id of ['a', 'b', 'c', 'd', 'e']) await worker(id);
    expect((await test.worker('a').turn({ limit: 1, suspects: 'reserve' })).suspect).toBe('reserved');
    expect((await test.worker('b').turn({ limit: 1, suspects: 'take' })).suspect).toBe('taken');
    expect((await test.worker('c').turn({ limit: 1, suspects: 'take' })).suspect).toBeUndefined();
  });

  it('is not more than there are suspects due', async () => {
    await suspects(1);
    for (const id of ['a', 'b', 'c', 'd', 'e']) await worker(id);
    expect((await test.worker('a').turn({ limit: 1, suspects: 'reserve' })).suspect).toBe('reserved');
    expect((await test.worker('b').turn({ limit: 1, suspects: 'reserve' })).suspect).toBeUndefined();
  });

  it('does not count a process that has died since it reserved itself', async () => {
    await suspects(2);
    await test.worker('a').turn({ limit: 1, suspects: 'reserve' });
    await test.redis.zadd(key('reservations'), 'XX', Date.now() - 1, 'a');
    expect((await test.worker('b').turn({ limit: 1, suspects: 'take' })).suspect).toBe('taken');
  });
});

it('no process reserves itself while the queue is paused', async () => {
  await suspects(1);
  await test.management.pause();
  expect((await test.worker('w').turn({ limit: 1, suspects: 'take' })).suspect).toBeUndefined();
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

  it('a suspect gets the next place that is free, beside a worker that settles and claims in one step', async () => {
    const [id] = await suspects(1);
    for (let i = 0; i < 4; i++) await test.schedule();
    const busy = test.worker('busy');
    const { claimed } = await busy.turn({ limit: 2 });
    expect(claimed).toHaveLength(2);

    const waiting = test.worker('waiting');
    const first = await waiting.turn({ limit: 10, suspects: 'take' });
    expect(first).toMatchObject({ suspect: 'reserved', claimed: [] });
    // It looks again before the place is offered to others.
    expect(first.sleepMs).toBeLessThanOrEqual(100);

    const turned = await busy.turn({ settlements: [settlement.complete(claimed[0]!)], limit: 1 });
    expect(turned.claimed).toEqual([]);
    expect(await waiting.turn({ limit: 10, suspects: 'claim' })).toMatchObject({ suspect: 'taken', claimed: [{ id }] });
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
