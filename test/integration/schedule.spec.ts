import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Due } from '../../lib/core/read/due.js';
import { decodeEnvelope } from '../../lib/store/redis/codec/envelope-text.js';
import { seededRandom } from '../support/random.js';
import { newJob, QUEUE, settlement, TestStore } from '../support/store.js';

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

describe('replace', () => {});
