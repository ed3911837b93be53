import { expect, it } from '@jest/globals';
import { DAY, HOUR, MINUTE, nextMultiple, recurrenceOf } from './recurring.js';
import { ids, payloads, settlement, type World } from './world.js';

export const recurrencesControl = (world: () => World): void => {
  const passTo = (at: number) => world().pass(at - world().now());

  it('all that is known of a recurrence can be read', async () => {
    const { recurrences } = world().store();
    const recurrence = recurrenceOf(
      { everyMs: HOUR, limit: 7, onMissed: 'all', missedWithinMs: DAY, overlap: 'queue', jitterMs: 0 },
      { payload: '"p"', priority: 2, tags: ['t'], settings: { maxAttempts: 3 } },
    );
    await recurrences.upsert(recurrence);
    const stored = await recurrences.get('r');
    expect(stored).toMatchObject({
      id: 'r',
      template: { name: 'work', priority: 2, payload: '"p"', tags: ['t'], settings: { maxAttempts: 3 } },
      state: 'active',
      nextAtMs: nextMultiple(world().now(), HOUR),
      lastAtMs: null,
      count: 0,
    });
    expect(JSON.parse(JSON.stringify(stored?.rule))).toEqual(JSON.parse(JSON.stringify(recurrence.rule)));
    expect(stored?.declaredBy).toBeUndefined();
    expect(await recurrences.get('other')).toBeUndefined();
  });

  it('payloads that are bytes stay as they are', async () => {
    const { recurrences } = world().store();
    const payload = Uint8Array.from([0, 10, 255, 10, 10, 128]);
    await recurrences.upsert(recurrenceOf({}, { codec: 'raw', payload }));
    const { template } = (await recurrences.get('r'))!;
    expect('payload' in template && Buffer.from(template.payload as Uint8Array).equals(Buffer.from(payload))).toBe(
      true,
    );
    passTo(nextMultiple(world().now(), MINUTE));
    const [claimed] = await world().worker('w').claim();
    expect(Buffer.from(payloads([claimed!])[0] as Uint8Array).equals(Buffer.from(payload))).toBe(true);
  });

  it('recurrences are listed by id, in pages', async () => {
    const { recurrences } = world().store();
    const all = Array.from({ length: 25 }, (_, i) => `r${String(i).padStart(2, '0')}`);
    for (const id of [...all].reverse()) await recurrences.upsert(recurrenceOf({}, {}, id));
    expect(ids(await recurrences.list(0, 1_000))).toEqual(all);
    expect(ids(await recurrences.list(10, 5))).toEqual(all.slice(10, 15));
    expect(await recurrences.list(25, 5)).toEqual([]);
  });

  it('a removed one is gone with its armed occurrence, and what runs goes on', async () => {
    const { recurrences, view } = world().store();
    const at = nextMultiple(world().now(), MINUTE);
    await recurrences.upsert(recurrenceOf());
    passTo(at);
    const worker = world().worker('w');
    const [running] = await worker.claim();
    expect(await recurrences.remove('r')).toBe('removed');
    expect(await world().job(`r@${at + MINUTE}`)).toBeUndefined();
    expect(await recurrences.get('r')).toBeUndefined();
    expect(await recurrences.list(0, 10)).toEqual([]);
    expect(await worker.settle(settlement.completeChosen(running!))).toEqual(['counted']);
    expect(await view.stats()).toMatchObject({ scheduled: 2, completed: 1, cancelled: 1 });
    expect(await recurrences.remove('r')).toBe('unknown');
  });

  it('a paused one has no occurrences until it is resumed, and none is missed by that', async () => {
    const { recurrences } = world().store();
    const worker = world().worker('w');
    const at = nextMultiple(world().now(), MINUTE);
    await recurrences.upsert(recurrenceOf({ onMissed: 'all' }));
    expect(await recurrences.pause('r', 'the holidays')).toBe(true);
    expect(await recurrences.pause('r', 'again')).toBe(false);
    expect(await recurrences.get('r')).toMatchObject({ state: 'paused', reason: 'the holidays', nextAtMs: null });
    expect(await world().job(`r@${at}`)).toBeUndefined();
    world().pass(10 * MINUTE);
    expect(await worker.claim()).toEqual([]);
    expect(await recurrences.resume('r')).toBe(true);
    expect(await recurrences.resume('r')).toBe(false);
    const next = nextMultiple(world().now(), MINUTE);
    const resumed = await recurrences.get('r');
    expect(resumed).toMatchObject({ state: 'active', nextAtMs: next, count: 0 });
    expect(resumed).not.toHaveProperty('reason');
    passTo(next);
    expect(ids(await worker.claim())).toEqual([`r@${next}`]);
  });

  it('a rule of wall times is paused and resumed as well, after however long', async () => {
    const { recurrences } = world().store();
    await recurrences.upsert(recurrenceOf({ cron: '*/5 * * * *' }));
    await recurrences.pause('r');
    world().pass(30 * DAY);
    expect(await recurrences.resume('r')).toBe(true);
    expect((await recurrences.get('r'))?.nextAtMs).toBe(nextMultiple(world().now(), 5 * MINUTE));
  });

  it('a paused one stays paused where it is changed', async () => {
    const { recurrences } = world().store();
    await recurrences.upsert(recurrenceOf());
    await recurrences.pause('r', 'why');
    expect(await recurrences.upsert(recurrenceOf({ everyMs: HOUR }, { payload: '2' }))).toEqual({
      status: 'changed',
      nextAtMs: null,
    });
    expect(await recurrences.get('r')).toMatchObject({ state: 'paused', reason: 'why', template: { payload: '2' } });
    await recurrences.resume('r');
    expect((await recurrences.get('r'))?.nextAtMs).toBe(nextMultiple(world().now(), HOUR));
  });

  it('a pause of what runs lets it go on', async () => {
    const { recurrences } = world().store();
    passTo((await recurrences.upsert(recurrenceOf())).nextAtMs!);
    const worker = world().worker('w');
    const [running] = await worker.claim();
    await recurrences.pause('r');
    expect(await worker.settle(settlement.completeChosen(running!))).toEqual(['counted']);
  });

  it('one is run now beside the rule, though it is paused, and the armed one stays', async () => {
    const { recurrences } = world().store();
    world().pass(1);
    const { nextAtMs } = await recurrences.upsert(recurrenceOf({ everyMs: DAY }, { payload: '"p"', tags: ['t'] }));
    const now = world().now();
    expect(await recurrences.runNow('r')).toEqual({ id: `r@${now}`, name: 'work', dueAtMs: now });
    expect(await recurrences.runNow('r')).toEqual({ id: `r@${now + 1}`, name: 'work', dueAtMs: now });
    const worker = world().worker('w');
    const claimed = await worker.claim();
    expect(ids(claimed)).toEqual([`r@${now}`, `r@${now + 1}`]);
    expect(claimed[0]).toMatchObject({ envelope: { tags: ['t'], occurrence: { isMissed: false } } });
    expect(await recurrences.get('r')).toMatchObject({ nextAtMs, lastAtMs: null, count: 0 });
    await recurrences.pause('r');
    world().pass(10);
    expect(await recurrences.runNow('r')).toMatchObject({ id: `r@${now + 10}` });
    expect(await recurrences.runNow('other')).toBeUndefined();
  });

  it('a sleeper is told of what is run now', async () => {
    const { recurrences } = world().store();
    await recurrences.upsert(recurrenceOf({ everyMs: DAY }));
    const worker = await world().worker('w').listens();
    await worker.sleeps();
    await recurrences.runNow('r');
    expect(await worker.isTold()).toBe(0);
  });

  it('a sleeper is told of the first occurrence of a new recurrence', async () => {
    const { recurrences } = world().store();
    const worker = await world().worker('w').listens();
    await worker.sleeps();
    const { nextAtMs } = await recurrences.upsert(recurrenceOf({ everyMs: 1_000 }));
    expect(await worker.isTold()).toBe(nextAtMs! - world().now());
  });
};
