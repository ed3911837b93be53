import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Due } from '../../lib/core/read/due.js';
import { decodeEnvelope } from '../../lib/store/redis/codec/envelope-text.js';
import { seededRandom } from '../support/random.js';
import { newJob, payloadOf, QUEUE, settlement, TestStore } from '../support/store.js';

const HOUR_MS = 3_600_000;

let test: TestStore;

beforeEach(() => {
  test = new TestStore();
});

afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

const stats = () => test.view.stats();

describe('schedule', () => {
  it("takes a delay from Redis' clock, and keeps an instant in the past", async () => {
    const [seconds, micros] = await test.redis.time();
    const now = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    const later = await test.schedule({ due: { delayMs: 5_000 } });
    const past = await test.schedule({ due: { at: 1e11 } });
    expect(later.dueAtMs! - now).toBeGreaterThanOrEqual(5_000);
    expect(later.dueAtMs! - now).toBeLessThan(6_000);
    expect(past.dueAtMs).toBe(1e11);
    expect((await test.worker('w').claim())[0]).toMatchObject({ id: past.id, dueAtMs: past.dueAtMs });
  });

  it('an id that waits, runs or is dead changes nothing', async () => {
    const worker = test.worker('w');
    const first = await test.schedule({ id: 'mine', due: { delayMs: HOUR_MS } });
    expect(await test.schedule({ id: 'mine', payload: 'other' })).toEqual({ ...first, status: 'waiting' });
    await test.jobs.reschedule('mine', { delayMs: 0 });
    const [running] = await worker.claim();
    expect(await test.schedule({ id: 'mine' })).toMatchObject({ status: 'active', dueAtMs: running!.dueAtMs });
    await worker.settle(settlement.dead(running!));
    expect(await test.schedule({ id: 'mine' })).toMatchObject({ status: 'dead', dueAtMs: running!.dueAtMs });
    expect(await stats()).toMatchObject({ scheduled: 1 });
  });

  it('a chosen id that has ended is remembered for keepIdsMs, and then free', async () => {
    const worker = test.worker('w');
    await test.schedule({ id: 'mine' });
    const [job] = await worker.claim();
    await worker.settle({ ...settlement.complete(job!), idWasChosen: true });
    expect(await test.schedule({ id: 'mine' })).toEqual({ id: 'mine', status: 'ended', dueAtMs: null });
    await test.redis.zadd(`${test.prefix}:{${QUEUE}}:usedIds`, Date.now() - 1, 'mine');
    expect(await test.schedule({ id: 'mine' })).toMatchObject({ status: 'created' });
  });

  it('one id scheduled by many at once is created once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => test.schedule({ id: 'mine', due: { delayMs: HOUR_MS } })),
    );
    expect(answers.filter(({ status }) => status === 'created')).toHaveLength(1);
    expect(new Set(answers.map(({ dueAtMs }) => dueAtMs)).size).toBe(1);
  });

  it.each<[string, Due]>([
    ['now', { delayMs: 0 }],
    ['after a while', { delayMs: HOUR_MS }],
    ['after a fraction of a millisecond', { delayMs: 0.5 }],
    ['at an instant', { at: Date.now() + HOUR_MS }],
    ['at an instant that is over', { at: Date.now() - HOUR_MS }],
  ])('one that is due %s is answered with the very time that the queue has', async (_, due) => {
    const added = await test.schedule({ due });
    expect(added.dueAtMs).toBe((await test.view.job(added.id))!.dueAtMs);
    const replaced = await test.replace({ id: 'mine', due });
    expect(replaced.dueAtMs).toBe((await test.view.job('mine'))!.dueAtMs);
  });

  it('thousands of one moment are all there, in order', async () => {
    const answers = await test.scheduleAll(Array.from({ length: 3_000 }, (_, i) => newJob({ payload: String(i) })));
    expect(new Set(answers.map(({ id }) => id)).size).toBe(3_000);
    expect(answers.map(({ id }) => id)).toEqual(answers.map(({ id }) => id).sort());
    expect(await test.view.counts()).toMatchObject({ due: 3_000 });
  });

  it('jobs of one moment that share much or little are each stored as they are, and answered in their order', async () => {
    const random = seededRandom(11);
    const oneOf = <T>(...values: T[]) => values[Math.floor(random() * values.length)]!;
    const due = Date.now() + HOUR_MS;
    const jobs = Array.from({ length: 900 }, (_, i) =>
      newJob({
        name: oneOf('work', 'work', 'other'),
        priority: oneOf(5, 5, 1),
        worker: oneOf(undefined, undefined, 'w1'),
        lateness: oneOf(undefined, undefined, { onLate: 'discard' as const, maxLatenessMs: 60_000 }),
        due: oneOf({ at: due }, { at: due }, { at: due + 1 }, { at: due + i }),
        id: oneOf(undefined, undefined, undefined, `mine-${i % 40}`, '0mwqzdy5l000c8uo3j'),
        tags: oneOf(undefined, undefined, undefined, ['vip'], ['vip', 'ärger']),
        settings: oneOf({}, {}, { maxAttempts: 3 }, { headers: { trace: String(i) } }),
        payload: oneOf(String(i), `"zeile\\n ß€😀 ${i}"`, `{"two":\n${i}}`, ''),
      }),
    );
    const answers = await test.scheduleAll(jobs);
    const base = `${test.prefix}:{${QUEUE}}:`;
    const first = new Map<string, number>();
    for (const [i, { id, status, dueAtMs, takenBy }] of answers.entries()) {
      const job = jobs[i]!;
      if (job.id !== undefined) expect(id).toBe(job.id);
      const isNew = !first.has(id);
      if (isNew) first.set(id, i);
      const kept = jobs[first.get(id)!]!;
      expect(status).toBe(isNew ? 'created' : kept.name === job.name ? 'waiting' : 'taken');
      expect(takenBy).toBe(status === 'taken' ? kept.name : undefined);
      const lane = `${kept.priority}:${kept.worker ?? ''}:${kept.name}`;
      expect(dueAtMs).toBe((kept.due as { at: number }).at);
      expect(Number(await test.redis.zscore(`${base}lane:${lane}`, id))).toBe(dueAtMs);
      const envelope = decodeEnvelope((await test.redis.hget(`${base}jobs`, id))!);
      expect(envelope).toEqual({
        name: kept.name,
        priority: kept.priority,
        worker: kept.worker,
        createdAtMs: expect.any(Number),
        idWasChosen: kept.id !== undefined,
        tags: kept.tags ?? [],
        settings: kept.settings,
        lateness: kept.lateness,
        payload: kept.payload,
      });
    }
    expect(await stats()).toMatchObject({ scheduled: first.size });
  });

  it('goes on when Redis has forgotten its scripts', async () => {
    await test.schedule();
    await test.redis.script('FLUSH');
    expect(await test.schedule()).toMatchObject({ status: 'created' });
  });
});

describe('an id that was made for a call which ended in an error', () => {
  it('may come back as a chosen one: where that call ran, nothing happens twice', async () => {
    const worker = test.worker('w');
    const { id } = await test.schedule();
    const [job] = await worker.claim();
    await worker.settle(settlement.complete(job!));
    // After the error its maker goes on under another name; so this is another maker.
    const again = new TestStore({}, undefined, test.prefix);
    expect(await again.schedule({ id })).toEqual({ id, status: 'ended', dueAtMs: null });
    expect(await again.replace({ id })).toEqual({ id, status: 'ended', dueAtMs: null });
    await again.close();
    expect(await stats()).toMatchObject({ scheduled: 1 });
  });

  it('of an earlier call, whose error may be that of several together, is not scheduled a second time either', async () => {
    const worker = test.worker('w');
    const { id } = await test.schedule();
    await test.schedule();
    for (const job of await worker.claim()) await worker.settle(settlement.complete(job));
    expect(await test.schedule({ id })).toMatchObject({ status: 'ended' });
  });
});

describe('replace', () => {
  const replace = (job = {}) => test.replace({ id: 'mine', ...job });

  it('creates a job where the id is unknown, and debounces it where it waits', async () => {
    expect(await replace({ payload: '1', due: { delayMs: HOUR_MS } })).toMatchObject({ status: 'created' });
    const second = await replace({ payload: '2', due: { delayMs: 2 * HOUR_MS } });
    expect(second.status).toBe('replaced');
    const stored = (await test.view.job('mine'))!;
    expect(stored.dueAtMs).toBe(second.dueAtMs);
    expect(payloadOf(stored)).toBe('2');
    expect(await stats()).toMatchObject({ scheduled: 1 });
  });

  it('moves the job where its priority is another one', async () => {
    await replace({ due: { delayMs: HOUR_MS } });
    await replace({ priority: 1 });
    expect(await test.view.countsByPriority()).toEqual([{ priority: 1, scheduled: 0, due: 1 }]);
    expect((await test.worker('w').claim()).map(({ id }) => id)).toEqual(['mine']);
  });
});

describe('cancel', () => {
  it('true is final: the job never starts', async () => {
    const { id } = await test.schedule();
    expect(await test.jobs.cancel(id)).toBe(true);
    expect(await test.worker('w').claim()).toEqual([]);
    expect(await test.view.job(id)).toBeUndefined();
    expect(await test.jobs.cancel(id)).toBe(false);
    expect(await stats()).toMatchObject({ scheduled: 1, cancelled: 1 });
  });

  it('a running, ended or unknown job answers false', async () => {
    const { id } = await test.schedule();
    const worker = test.worker('w');
    const [job] = await worker.claim();
    expect(await test.jobs.cancel(id)).toBe(false);
    await worker.settle(settlement.complete(job!));
    expect(await test.jobs.cancel(id)).toBe(false);
    expect(await test.jobs.cancel('never')).toBe(false);
  });

  it('a job that waits for its next attempt can be cancelled too', async () => {
    const { id } = await test.schedule();
    const worker = test.worker('w');
    const [job] = await worker.claim();
    await worker.settle(settlement.retry(job!, HOUR_MS));
    expect(await test.jobs.cancel(id)).toBe(true);
  });

  it('against a claim at the same moment, exactly one of both wins', async () => {
    const worker = test.worker('w');
    let cancelled = 0;
    for (let round = 0; round < 200; round++) {
      const { id } = await test.schedule();
      const [wasCancelled, claimed] = await Promise.all([test.jobs.cancel(id), worker.claim()]);
      expect(claimed.length).toBe(wasCancelled ? 0 : 1);
      if (wasCancelled) cancelled++;
      else await worker.settle(settlement.complete(claimed[0]!));
    }
    expect(await stats()).toMatchObject({ scheduled: 200, cancelled, completed: 200 - cancelled });
  });
});

describe('reschedule', () => {
  it('moves a waiting job both ways', async () => {
    const { id } = await test.schedule({ due: { delayMs: HOUR_MS } });
    await test.schedule({ due: { delayMs: 2 * HOUR_MS } });
    const at = Date.now() + 3 * HOUR_MS;
    expect(await test.jobs.reschedule(id, { at })).toBe(true);
    expect(await test.view.job(id)).toMatchObject({ dueAtMs: at });
    expect(await test.jobs.reschedule(id, { delayMs: 0 })).toBe(true);
    expect((await test.worker('w').claim()).map((job) => job.id)).toEqual([id]);
    expect(await test.jobs.reschedule(id, { at })).toBe(false);
  });
});
