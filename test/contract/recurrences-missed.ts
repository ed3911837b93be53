import { expect, it } from '@jest/globals';
import type { TurnAnswer } from '../../lib/store/job-store.js';
import { DAY, HOUR, MINUTE, nextMultiple, recurrenceOf, SECOND } from './recurring.js';
import { ids, settlement, type TestSession, type World } from './world.js';

export const recurrencesMissed = (world: () => World): void => {
  const passTo = (at: number) => world().pass(at - world().now());

  /** Turns until nothing is due any more; each job that is claimed completes. Answers what became of which occurrence. */
  async function workOff(worker: TestSession): Promise<string[]> {
    const { recurrences } = world().queue;
    const told: string[] = [];
    for (let turns = 0; turns < 50; turns++) {
      const answer: TurnAnswer = await worker.turn({ limit: 5 });
      for (const { id, reason } of answer.skippedOccurrences) told.push(`${id.slice(2)} ${reason}`);
      for (const { id, envelope } of answer.claimed) {
        const isMissed = 'occurrence' in envelope && envelope.occurrence?.isMissed;
        told.push(`${id.slice(2)} ${isMissed ? 'made up' : 'in time'}`);
      }
      await worker.settle(...answer.claimed.map((job) => settlement.completeChosen(job)));
      if (answer.toTend.length > 0) await recurrences.tend(answer.toTend);
      if (answer.sleepMs !== 0 && answer.claimed.length === 0 && answer.toTend.length === 0) return told;
      // One whose instants were not known is looked at again soon.
      if (answer.toTend.length > 0) world().pass(100);
    }
    throw new Error('there is always something due');
  }

  const rules = [
    ['a period', { everyMs: MINUTE }],
    ['wall times', { cron: '* * * * *' }],
  ] as const;

  it.each(rules)('of ten that are missed, by %s, skip runs none', async (_, rule) => {
    const { recurrences, view } = world().store();
    const at = (await recurrences.upsert(recurrenceOf({ ...rule, onMissed: 'skip' }))).nextAtMs!;
    passTo(at + 10 * MINUTE + SECOND);
    const worker = world().worker('w');
    expect(await workOff(worker)).toEqual([`${at} missed`, `${at + 10 * MINUTE} in time`]);
    expect(await view.stats()).toMatchObject({ scheduled: 12, discarded: 10, started: 1, completed: 1 });
    expect(await recurrences.get('r')).toMatchObject({ count: 1, nextAtMs: at + 11 * MINUTE });
  });

  it.each(rules)('of ten that are missed, by %s, once runs the latest', async (_, rule) => {
    const { recurrences, view } = world().store();
    const at = (await recurrences.upsert(recurrenceOf(rule))).nextAtMs!;
    passTo(at + 10 * MINUTE + SECOND);
    expect(await workOff(world().worker('w'))).toEqual([
      `${at} missed`,
      `${at + 9 * MINUTE} made up`,
      `${at + 10 * MINUTE} in time`,
    ]);
    expect(await view.stats()).toMatchObject({ scheduled: 12, discarded: 9, started: 2, completed: 2 });
  });

  it.each(rules)('of ten that are missed, by %s, all runs all, in order', async (_, rule) => {
    const { recurrences, view } = world().store();
    const at = (await recurrences.upsert(recurrenceOf({ ...rule, onMissed: 'all' }))).nextAtMs!;
    passTo(at + 10 * MINUTE + SECOND);
    const expected = Array.from({ length: 10 }, (__, i) => `${at + i * MINUTE} made up`);
    expect(await workOff(world().worker('w'))).toEqual([...expected, `${at + 10 * MINUTE} in time`]);
    expect(await view.stats()).toMatchObject({ scheduled: 12, started: 11, completed: 11 });
  });

  it.each(rules)('of ten that are missed, by %s, all runs those that are young enough', async (_, rule) => {
    const { recurrences, view } = world().store();
    const made = await recurrences.upsert(recurrenceOf({ ...rule, onMissed: 'all', missedWithinMs: 3.5 * MINUTE }));
    const at = made.nextAtMs!;
    passTo(at + 10 * MINUTE);
    expect(await workOff(world().worker('w'))).toEqual([
      `${at} missed`,
      ...[7, 8, 9].map((i) => `${at + i * MINUTE} made up`),
      `${at + 10 * MINUTE} in time`,
    ]);
    expect(await view.stats()).toMatchObject({ scheduled: 12, discarded: 7, completed: 4 });
  });

  it.each(rules)('after a long outage, by %s, at most ten thousand are made up for', async (_, rule) => {
    const { recurrences, view } = world().store();
    const made = await recurrences.upsert(recurrenceOf({ ...rule, onMissed: 'all', missedWithinMs: 100 * DAY }));
    const at = made.nextAtMs!;
    passTo(at + 12_000 * MINUTE);
    const worker = world().worker('w');
    const claimed: string[] = [];
    for (let i = 0; i < 8 && claimed.length === 0; i++) {
      const answer = await worker.turn({ limit: 1 });
      claimed.push(...ids(answer.claimed));
      await recurrences.tend(answer.toTend);
      if (answer.toTend.length > 0) world().pass(100);
    }
    expect(claimed).toEqual([`r@${at + 2_000 * MINUTE}`]);
    expect(await view.stats()).toMatchObject({ discarded: 2_000, started: 1 });
  });

  it.each(rules)('after a long outage, by %s, once runs the latest still', async (_, rule) => {
    const { recurrences, view } = world().store();
    const at = (await recurrences.upsert(recurrenceOf(rule))).nextAtMs!;
    passTo(at + 5_000 * MINUTE + SECOND);
    expect(await workOff(world().worker('w'))).toEqual([
      `${at} missed`,
      expect.stringMatching(`${at + 4_999 * MINUTE} made up`),
      expect.stringMatching(`${at + 5_000 * MINUTE} in time`),
    ]);
    expect(await view.stats()).toMatchObject({ scheduled: 5_002, discarded: 4_999, completed: 2 });
  });

  it('the latest missed one is left out as well where it is too old', async () => {
    const { recurrences } = world().store();
    const at = (await recurrences.upsert(recurrenceOf({ everyMs: HOUR, missedWithinMs: MINUTE }))).nextAtMs!;
    passTo(at + 2 * HOUR + 2 * MINUTE);
    expect(await workOff(world().worker('w'))).toEqual([`${at} missed`]);
    expect((await recurrences.get('r'))?.nextAtMs).toBe(at + 3 * HOUR);
  });

  it('a weekly one runs after the outage of a weekend, and of a month that began more than a week ago not', async () => {
    const { recurrences } = world().store();
    const at = (await recurrences.upsert(recurrenceOf({ everyMs: 7 * DAY }))).nextAtMs!;
    passTo(at + 3 * DAY);
    expect(await workOff(world().worker('w'))).toEqual([`${at} made up`]);
  });

  it.each([
    ['a period', { everyMs: 7 * DAY }],
    ['wall times', { cron: '0 0 * * 4' }],
  ])('of weekly ones, by %s, the latest runs until the next is due, and the last of all for a day', async (_, rule) => {
    const { recurrences } = world().store();
    const worker = world().worker('w');
    const { nextAtMs: at } = await recurrences.upsert(recurrenceOf({ ...rule, onMissed: 'all' }));
    passTo(at! + 10 * DAY);
    expect(await workOff(worker)).toEqual([`${at} missed`, `${at! + 7 * DAY} made up`]);
    const endAtMs = at! + 21 * DAY;
    await recurrences.upsert(recurrenceOf({ ...rule, onMissed: 'all', endAtMs }));
    passTo(endAtMs + 2 * DAY);
    expect(await workOff(worker)).toEqual([`${at! + 14 * DAY} missed`]);
    expect((await recurrences.get('r'))?.nextAtMs).toBeNull();
  });

  it('one is missed a minute after it was due, where the next one is later', async () => {
    const { recurrences } = world().store();
    const at = (await recurrences.upsert(recurrenceOf({ everyMs: HOUR }))).nextAtMs!;
    passTo(at + MINUTE - 1);
    expect(await workOff(world().worker('w'))).toEqual([`${at} in time`]);
    passTo(at + HOUR + MINUTE);
    expect(await workOff(world().worker('w'))).toEqual([`${at + HOUR} made up`]);
  });

  it('a late rule says nothing of one that is made up for, in its retries neither', async () => {
    const { recurrences } = world().store();
    const lateness = { maxLatenessMs: SECOND, onLate: 'discard' } as const;
    const at = (await recurrences.upsert(recurrenceOf({ everyMs: HOUR }, { lateness }))).nextAtMs!;
    passTo(at + 30 * MINUTE);
    const worker = world().worker('w');
    const [claimed] = await worker.claim();
    expect(claimed?.id).toBe(`r@${at}`);
    await worker.settle(settlement.release(claimed!));
    expect(ids(await worker.claim())).toEqual([`r@${at}`]);
  });

  it('one that is too late by its late rule, and not missed, ends, and the next is armed', async () => {
    const { recurrences } = world().store();
    const lateness = { maxLatenessMs: SECOND, onLate: 'discard' } as const;
    const at = (await recurrences.upsert(recurrenceOf({ everyMs: HOUR }, { lateness }))).nextAtMs!;
    passTo(at + 2 * SECOND);
    const { late, claimed } = await world().worker('w').turn({ limit: 5 });
    expect({ late: ids(late), claimed }).toEqual({ late: [`r@${at}`], claimed: [] });
    expect(await recurrences.get('r')).toMatchObject({ count: 0, lastAtMs: null, nextAtMs: at + HOUR });
  });

  it('what is made while the queue is paused is missed as any', async () => {
    const { recurrences, management } = world().store();
    const at = (await recurrences.upsert(recurrenceOf())).nextAtMs!;
    await management.pause();
    passTo(at + 5 * MINUTE + SECOND);
    await management.resume();
    expect(await workOff(world().worker('w'))).toEqual([
      `${at} missed`,
      `${at + 4 * MINUTE} made up`,
      `${at + 5 * MINUTE} in time`,
    ]);
  });

  it('a new timing makes up for nothing before it', async () => {
    const { recurrences } = world().store();
    const at = (await recurrences.upsert(recurrenceOf({ onMissed: 'all' }))).nextAtMs!;
    passTo(at + 10 * MINUTE + SECOND);
    await recurrences.upsert(recurrenceOf({ onMissed: 'all', everyMs: 30 * SECOND }));
    expect(await workOff(world().worker('w'))).toEqual([]);
    expect((await recurrences.get('r'))?.nextAtMs).toBe(nextMultiple(world().now(), 30 * SECOND));
  });
};
