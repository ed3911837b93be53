import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { newJob, QUEUE, settlement, TestStore } from '../support/store.js';
import { until } from '../support/wait.js';

let test: TestStore;
beforeEach(() => {
  test = new TestStore({});
});
afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

/** Moves a waiting job's due time into the past, by hand: the producer cannot. */
async function makeLate(id: string, lane: string, byMs: number): Promise<void> {
  const base = `${test.prefix}:{${QUEUE}}:`;
  const due = Date.now() - byMs;
  await test.redis
    .multi()
    .zadd(`${base}lane:${lane}`, due, id)
    .zadd(`${base}heads:5`, due, `${id}\t${lane}`)
    .zadd(`${base}levels`, due, '5')
    .exec();
}

it('a job that is later than it may be is discarded as it is claimed, and its id is remembered', async () => {
  await test.schedule({ id: 'r7', lateness: { maxLatenessMs: 5_000, onLate: 'discard' } });
  await makeLate('r7', '5::work', 6_000);
  const { claimed, late, sleepMs } = await test.worker('w').turn({ limit: 1 });
  expect(claimed).toEqual([]);
  expect(late).toEqual([{ id: 'r7', name: 'work', attempt: 0, latenessMs: expect.any(Number), onLate: 'discard' }]);
  expect(late[0]!.latenessMs).toBeGreaterThanOrEqual(6_000);
  expect(sleepMs).toBe(0);
  expect(await test.view.job('r7')).toBeUndefined();
  expect(await test.view.stats()).toEqual({ scheduled: 1, discarded: 1 });
  expect(await test.schedule({ id: 'r7' })).toMatchObject({ status: 'ended' });
});

it('a job that is later than it may be is dead with its history, and no attempt is counted', async () => {
  const { id } = await test.schedule({ lateness: { maxLatenessMs: 5_000, onLate: 'dead-letter' } });
  const worker = test.worker('w');
  const [job] = await worker.claim();
  await worker.settle(settlement.retry(job!, 0));
  await makeLate(id, '5::work', 6_000);
  const { claimed, late } = await worker.turn({ limit: 1 });
  expect(claimed).toEqual([]);
  expect(late).toMatchObject([{ id, attempt: 1, onLate: 'dead-letter' }]);
  const dead = await test.view.job(id);
  expect(dead).toMatchObject({ state: 'dead', attempts: 1 });
  expect(dead!.failures).toMatchObject([{ message: 'no' }, { reason: 'late' }]);
  expect(await test.view.stats()).toMatchObject({ dead: 1, started: 1 });
  expect(await test.management.replayDead(id, { delayMs: 0 })).toBe(1);
  expect((await worker.claim())[0]).toMatchObject({ id, attempt: 1 });
});

it('a job that may run late is claimed, and said to be late', async () => {
  const { id } = await test.schedule({ lateness: { maxLatenessMs: 5_000, onLate: 'run' } });
  await makeLate(id, '5::work', 6_000);
  const { claimed, late } = await test.worker('w').turn({ limit: 1 });
  expect(claimed).toMatchObject([{ id, attempt: 1 }]);
  expect(late).toMatchObject([{ id, name: 'work', onLate: 'run' }]);
  expect(claimed[0]!.envelope).toMatchObject({
    name: 'work',
    priority: 5,
    lateness: { maxLatenessMs: 5_000, onLate: 'run' },
  });
});

it('a job that is not later than it may be is claimed like any other', async () => {
  const { id } = await test.schedule({ lateness: { maxLatenessMs: 60_000, onLate: 'discard' } });
  await makeLate(id, '5::work', 6_000);
  const { claimed, late } = await test.worker('w').turn({ limit: 1 });
  expect(claimed).toMatchObject([{ id }]);
  expect(late).toEqual([]);
});

it('a job may be exactly as late as it may be, and not a millisecond later', async () => {
  const MAX_MS = 100;
  const firstDue = (await test.view.nextDue()).nowMs + 500;
  // One job is due in each millisecond of a second, so that one turn sees both sides of the bound.
  const jobs = Array.from({ length: 1_000 }, (_, i) =>
    newJob({ due: { at: firstDue + i }, lateness: { maxLatenessMs: MAX_MS, onLate: 'discard' } }),
  );
  await test.scheduleAll(jobs);
  await until('half of them are due', async () => (await test.view.nextDue()).nowMs > firstDue + 500);
  const { claimed, late } = await test.worker('w').turn({ limit: 1_000 });
  expect(Math.max(...claimed.map(({ claimedAtMs, dueAtMs }) => claimedAtMs - dueAtMs))).toBe(MAX_MS);
  expect(Math.min(...late.map(({ latenessMs }) => latenessMs))).toBe(MAX_MS + 1);
});

it('late jobs take no room from those that can run', async () => {
  for (let i = 0; i < 3; i++) await test.schedule({ lateness: { maxLatenessMs: 0, onLate: 'discard' } });
  const { id, dueAtMs } = await test.schedule();
  const worker = test.worker('w');
  await until('all are late', async () => (await test.view.nextDue()).nowMs > dueAtMs!);
  expect(await worker.turn({ limit: 2 })).toMatchObject({ claimed: [], sleepMs: 0 });
  expect((await worker.turn({ limit: 2 })).claimed).toMatchObject([{ id }]);
});

it('a waiting job with a lateness rule can be cancelled, rescheduled, replaced and inspected', async () => {
  const lateness = { maxLatenessMs: 5_000, onLate: 'discard' } as const;
  await test.schedule({ id: 'r7', lateness, due: { delayMs: 60_000 } });
  expect(await test.view.job('r7')).toMatchObject({ state: 'scheduled' });
  expect(await test.jobs.reschedule('r7', { delayMs: 90_000 })).toBe(true);
  const replaced = await test.replace({ id: 'r7', priority: 7, due: { delayMs: 30_000 }, lateness, payload: '1' });
  expect(replaced).toMatchObject({ status: 'replaced' });
  expect(await test.schedule({ id: 'r7', lateness })).toMatchObject({ status: 'waiting' });
  expect(await test.jobs.cancel('r7')).toBe(true);
});
