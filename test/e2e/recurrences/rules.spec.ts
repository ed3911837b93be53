import { afterEach, describe, expect, it } from '@jest/globals';
import { Occurrences } from '../../support/occurrences.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

const EVERY_MS = 200;

afterEach(stopApps);

/** So long before its first instant a recurrence is declared, on a busy machine too. */
const TO_DECLARE_MS = 2_500;
/** The first multiple of the interval that is at least so far from now. */
const instantIn = (ms: number) => Math.ceil((Date.now() + ms) / EVERY_MS) * EVERY_MS;

describe('a recurrence ends', () => {
  it('with its limit, and stays listed', async () => {
    const { producer, inspector, get } = await startApp([Occurrences]);
    await producer.upsertRecurrence('fast', 'tick', null, { everyMs: EVERY_MS, limit: 3, onMissed: 'all' });
    const view = await until('it has ended', async () => {
      const now = await producer.recurrence('fast');
      return now!.state === 'ended' && now;
    });
    expect(view).toMatchObject({ count: 3, nextAt: null });
    await until('the last has run', () => get(Occurrences).seen.length === 3);
    expect(view.lastAt!.getTime()).toBe(get(Occurrences).instants[2]);
    expect(await producer.recurrences()).toMatchObject([{ id: 'fast', state: 'ended' }]);
    expect(await inspector.counts()).toMatchObject({ scheduled: 0, due: 0 });
  });

  it('with a limit that counts across changes', async () => {
    const { producer, get } = await startApp([Occurrences]);
    await producer.upsertRecurrence('fast', 'tick', null, { everyMs: EVERY_MS, limit: 2, onMissed: 'all' });
    const isOver = async () => (await producer.recurrence('fast'))!.state === 'ended';
    await until('it has ended', isOver);
    await producer.upsertRecurrence('fast', 'tick', null, { everyMs: 100, limit: 3, onMissed: 'all' });
    await until('it has ended again', isOver);
    await until('the last has run', () => get(Occurrences).seen.length === 3);
    expect(await producer.recurrence('fast')).toMatchObject({ count: 3 });
  });

  it('with its endAt, which is an instant of it still, as startAt is', async () => {
    const { producer, get } = await startApp([Occurrences]);
    const startAt = instantIn(TO_DECLARE_MS);
    const endAt = startAt + 2 * EVERY_MS;
    const { nextAt } = await producer.upsertRecurrence('fast', 'tick', null, {
      everyMs: EVERY_MS,
      onMissed: 'all',
      startAt,
      endAt: new Date(endAt),
    });
    expect(nextAt).toEqual(new Date(startAt));
    await until('it has ended', async () => (await producer.recurrence('fast'))!.state === 'ended');
    await until('the last has run', () => get(Occurrences).seen.length === 3);
    expect(get(Occurrences).instants).toEqual([startAt, startAt + EVERY_MS, endAt]);
  });
});

it('excluded instants are left out', async () => {
  const { producer, get } = await startApp([Occurrences]);
  const startAt = instantIn(TO_DECLARE_MS);
  const at = (i: number) => startAt + i * EVERY_MS;
  await producer.upsertRecurrence('fast', 'tick', null, {
    everyMs: EVERY_MS,
    onMissed: 'all',
    startAt,
    endAt: at(6),
    exclude: [at(1), { from: at(3), to: at(5) }],
  });
  await until('it has ended', async () => (await producer.recurrence('fast'))!.state === 'ended');
  await until('all have run', () => get(Occurrences).seen.length === 4);
  expect(get(Occurrences).instants).toEqual([at(0), at(2), at(5), at(6)]);
});

describe('jitter', () => {
  it('lets each be due up to so much later, in the order of the instants', async () => {
    const { producer, get } = await startApp([Occurrences]);
    await producer.upsertRecurrence('fast', 'tick', null, {
      everyMs: EVERY_MS,
      jitterMs: 150,
      onMissed: 'all',
      limit: 10,
    });
    const handlers = get(Occurrences);
    await until('all have run', () => handlers.seen.length === 10);
    const jitters = handlers.seen
      .filter(({ recurrence }) => !recurrence!.missed)
      .map(({ recurrence, dueAt }) => dueAt.getTime() - recurrence!.at.getTime());
    expect(jitters.every((ms) => ms >= 0 && ms <= 150)).toBe(true);
    expect(new Set(jitters).size).toBeGreaterThan(1);
    expect(handlers.instants).toEqual([...handlers.instants].sort((a, b) => a - b));
  });

  it('is the same in every process and by every way to arm, and another one for other recurrences', async () => {
    const HOUR_MS = 3_600_000;
    const rules = { everyMs: HOUR_MS, jitterMs: '30m' } as const;
    const cron = { cron: '0 * * * *', jitterMs: '30m' } as const;
    const dueAt = async (id: string, rule: typeof rules | typeof cron, of: number) => {
      const { producer, inspector } = await startApp([], { autoStart: false });
      const { nextAt } = await producer.upsertRecurrence(id, 'tick', of, rule);
      const job = await inspector.job(`${id}@${nextAt!.getTime()}`);
      return [nextAt!.getTime(), job!.dueAt.getTime() - nextAt!.getTime()] as const;
    };
    // Again where the hour changed meanwhile.
    const [one, two, other] = await until('all are of one hour', async () => {
      const all = await Promise.all([dueAt('a', rules, 1), dueAt('a', cron, 2), dueAt('b', rules, 1)]);
      return new Set(all.map(([at]) => at)).size === 1 && all.map(([, jitter]) => jitter);
    });
    expect(one).toBe(two);
    expect(one).not.toBe(other);
    expect(one).toBeLessThanOrEqual(HOUR_MS / 2);
  });

  it('ends before the next instant, however long it is', async () => {
    const { producer, inspector } = await startApp([], { autoStart: false });
    for (let i = 0; i < 20; i++) {
      const { nextAt } = await producer.upsertRecurrence(`r${i}`, 'tick', null, { everyMs: '1h', jitterMs: '1 day' });
      const job = await inspector.job(`r${i}@${nextAt!.getTime()}`);
      expect(job!.dueAt.getTime() - nextAt!.getTime()).toBeLessThan(3_600_000);
    }
  });
});
