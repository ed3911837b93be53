import { describe, expect, it } from '@jest/globals';
import type { VersionRange } from '../../lib/core/job/job-versions.js';
import type { ClaimedJob } from '../../lib/store/job-store.js';
import { inspectorOf } from './inspected.js';
import { HOUR, recurrenceOf, storeOnTheSecond } from './recurring.js';
import { ids, payloads, settlement, until, type World } from './world.js';

/** The versions of claimed jobs. */
const versionsOf = (jobs: readonly ClaimedJob[]) =>
  jobs.map(({ envelope }) => ('payload' in envelope ? (envelope.version ?? 1) : 'unreadable'));

export const versions = (world: () => World): void => {
  /** Of the name `work`. */
  const worker = (id: string, first: number, last: number) => world().workerOf(id, { work: { first, last } });

  it('a worker claims the versions that it reads, and leaves older and newer ones where they are', async () => {
    const { view } = world().store();
    await world().scheduleAll([1, 2, 3, 4].map((version) => ({ version: version === 1 ? undefined : version })));
    expect(versionsOf(await worker('w', 2, 3).claim())).toEqual([2, 3]);
    expect(await view.counts()).toMatchObject({ due: 2, active: 2 });
    expect(versionsOf(await world().worker('old').claim())).toEqual([1]);
    expect(versionsOf(await worker('new', 4, 4).claim())).toEqual([4]);
  });

  it('a name may end as a version does: names are told apart from versions', async () => {
    world().store();
    await world().scheduleAll([
      { name: 'work2' },
      { name: 'work', version: 2 },
      { name: 'work:2' },
      { name: 'work 2' },
    ]);
    expect(versionsOf(await worker('w', 2, 2).claim())).toEqual([2]);
    expect(await world().worker('v', 'work2', 'work:2', 'work 2').claim()).toHaveLength(3);
  });

  it('a worker beside versions of others sleeps as beside an empty queue', async () => {
    world().store({ leaseMs: 60_000, maxSleepMs: 5_000 });
    const session = worker('w', 1, 2);
    const asleep = await session.sleeps();
    await world().scheduleAll(Array.from({ length: 300 }, (_, i) => ({ version: 3 + (i % 3) })));
    expect(await session.sleeps()).toBe(asleep);
  });

  it('versions of a name come in their order as one name: by priority, by due time, then by id', async () => {
    world().store();
    const at = world().now() - 100;
    await world().scheduleAll([
      { version: 3, payload: '3', due: { at: at + 3 } },
      { payload: '2', due: { at: at + 2 } },
      { version: 2, payload: '1', due: { at: at + 1 } },
      { version: 2, payload: '0', due: { at: at + 9 }, priority: 1 },
    ]);
    expect(payloads(await worker('w', 1, 3).claim())).toEqual(['0', '1', '2', '3']);
  });

  it('a job keeps its version through retries, snoozes, going back, recovery and death', async () => {
    const { management } = world().store();
    await world().schedule({ id: 'x', version: 3 });
    const session = worker('w', 3, 3);
    const claim = async () => (await session.claim())[0]!;
    await session.settle(settlement.retry(await claim()));
    await session.settle(settlement.snooze(await claim(), 0));
    await session.settle(settlement.release(await claim()));
    expect(await world().worker('old').claim()).toEqual([]);
    await claim();
    await world().outlive();
    expect(await world().worker('old').claim()).toEqual([]);
    await session.settle(settlement.dead(await claim()));
    expect(await management.replayDead({ names: ['work'] }, { delayMs: 0 })).toBe(1);
    expect(await world().worker('old').claim()).toEqual([]);
    expect(versionsOf([await claim()])).toEqual([3]);
  });

  it('a sleeper is told of jobs in its versions alone', async () => {
    world().store({ leaseMs: 60_000 });
    const [older, newer] = [await worker('older', 1, 1).listens(), await worker('newer', 2, 2).listens()];
    await older.sleeps();
    await newer.sleeps();
    await world().schedule({ version: 2 });
    await newer.isTold();
    await world().schedule({});
    await older.isTold();
    // One message each: that of its own version.
    expect([older.told.length, newer.told.length]).toEqual([1, 1]);
  });

  describe('are one name', () => {
    it('for ids: no job of another version is taken', async () => {
      world().store();
      await world().schedule({ id: 'x', version: 2 });
      expect(await world().schedule({ id: 'x' })).toMatchObject({ status: 'waiting' });
      expect(await world().schedule({ id: 'x', name: 'other' })).toMatchObject({ status: 'taken', takenBy: 'work' });
      expect(await world().replace({ id: 'x', name: 'other' })).toMatchObject({ status: 'taken', takenBy: 'work' });
    });

    it('for what replaces a job that waits: the version is the new one', async () => {
      world().store();
      await world().schedule({ id: 'x', version: 3, payload: 'old' });
      expect(await world().replace({ id: 'x', payload: 'new' })).toMatchObject({ status: 'replaced' });
      expect(await worker('w', 2, 3).claim()).toEqual([]);
      expect(payloads(await world().worker('old').claim())).toEqual(['new']);
    });

    it('for what replaces one that runs: it is queued, and takes its place in its own version', async () => {
      const { view } = world().store();
      await world().schedule({ id: 'x' });
      const old = world().worker('old');
      const [run] = await old.claim();
      expect(await world().replace({ id: 'x', version: 2 })).toMatchObject({ status: 'queued' });
      expect(await view.versions('work')).toEqual([
        { version: 1, waiting: 0, active: 1, dead: 0 },
        { version: 2, waiting: 1, active: 0, dead: 0 },
      ]);
      expect(await old.settle(settlement.retry(run!))).toEqual(['replaced']);
      expect(await old.claim()).toEqual([]);
      expect(versionsOf(await worker('w', 1, 2).claim())).toEqual([2]);
    });

    it('for the limit of a handler: runs of all versions count together', async () => {
      world().store();
      await world().scheduleAll([{}, { version: 2 }, { version: 3 }, { version: 2 }]);
      const handlers = [{ name: 'work', weight: 1, free: 3, size: 1 }];
      expect((await worker('w', 1, 3).turn({ limit: 10, handlers })).claimed).toHaveLength(3);
    });

    it('for a handler of many jobs a call: a call has jobs of all versions', async () => {
      world().store();
      await world().scheduleAll([{}, { version: 2 }, { version: 3 }, { version: 2 }]);
      const handlers = [{ name: 'work', weight: 1, free: 4, size: 4 }];
      expect((await worker('w', 1, 3).turn({ limit: 1, handlers })).claimed).toHaveLength(4);
    });

    it('for pulls: a pull gets all versions of its names, as they are stored', async () => {
      world().store();
      await world().scheduleAll([{}, { version: 2 }, { version: 9_999 }, { name: 'other', version: 2 }]);
      expect(versionsOf(await world().puller('p', 'work').claim())).toEqual([1, 2, 9_999]);
      expect(versionsOf(await world().puller('p').claim())).toEqual([2]);
    });

    it('for pulls that wait: one is told of a version that nobody has used yet', async () => {
      world().store({ leaseMs: 60_000 });
      const puller = await world().puller('p', 'work').listens();
      await puller.sleeps({ standing: 'until-claimed' });
      await world().schedule({ version: 77 });
      expect(await puller.isTold()).toBeLessThan(100);
      expect(versionsOf(await puller.claim())).toEqual([77]);
    });

    it('for pulls beside hundreds of due names of others', async () => {
      world().store();
      const at = world().now() - 1_000;
      await world().scheduleAll(Array.from({ length: 1_000 }, (_, i) => ({ name: `strange-${i}`, due: { at } })));
      await world().scheduleAll([{ version: 2 }, {}, { version: 3, worker: 'p' }, { name: 'other', version: 2 }]);
      expect(versionsOf(await world().puller('p', 'work').claim()).sort()).toEqual([1, 2, 3]);
      expect(await world().puller('p', 'work').claim()).toEqual([]);
    });

    it('for searches, and for what is done to dead jobs by their names', async () => {
      const { view, management } = world().store();
      await world().scheduleAll([{ id: 'a' }, { id: 'b', version: 2 }, { id: 'c', name: 'other' }]);
      const find = async (states: readonly ('due' | 'dead')[]) =>
        ids((await view.find({ states, names: ['work'] }, undefined, { size: 100, limit: 100 })).jobs).sort();
      expect(await find(['due'])).toEqual(['a', 'b']);
      const session = worker('w', 1, 2);
      await session.settle(...(await session.claim()).map((job) => settlement.dead(job)));
      expect(await find(['dead'])).toEqual(['a', 'b']);
      expect(await management.purgeDead({ names: ['work'] })).toBe(2);
    });

    it('for what turns tell: recovered, late and dropped jobs have it without the version', async () => {
      world().store({ keepDead: 1 });
      await world().scheduleAll([
        { id: 'late', version: 2, lateness: { maxLatenessMs: 0, onLate: 'discard' } },
        { id: 'a', version: 2 },
        { id: 'b', version: 2 },
      ]);
      world().pass(1);
      const session = worker('w', 1, 2);
      const { claimed, late } = await session.turn({ limit: 10 });
      expect(late).toMatchObject([{ id: 'late', name: 'work' }]);
      const { deadDropped } = await session.turn({ settlements: claimed.map((job) => settlement.dead(job)) });
      expect(deadDropped).toEqual([{ id: 'a', name: 'work' }]);
      await world().schedule({ id: 'c', version: 2 });
      await session.claim();
      expect((await world().outlive()).flatMap(({ recovered }) => recovered)).toMatchObject([
        { id: 'c', name: 'work' },
      ]);
    });
  });

  it('groups take turns whatever the versions of their jobs', async () => {
    world().store();
    await world().scheduleAll([
      ...[1, 2, 3].map((version) => ({ group: 'a', payload: 'a', version })),
      ...[3, 2, 1].map((version) => ({ group: 'b', payload: 'b', version })),
      { group: 'c', payload: 'c', version: 4 },
    ]);
    const session = worker('w', 1, 3);
    const started: unknown[] = [];
    for (let i = 0; i < 6; i++) started.push(...payloads(await session.claim(1)));
    expect(started.join('')).toBe('ababab');
    expect(await session.claim()).toEqual([]);
    expect(payloads(await worker('new', 4, 4).claim())).toEqual(['c']);
  });

  it('under fifo the job that has begun holds its group for all versions', async () => {
    world().store({ groups: { order: 'fifo' } });
    await world().scheduleAll([
      { group: 'a', id: '1', version: 2 },
      { group: 'a', id: '2' },
    ]);
    const session = worker('w', 1, 2);
    const [first] = await session.claim();
    expect(await session.claim()).toEqual([]);
    await session.settle(settlement.retry(first!));
    expect(ids(await world().worker('old').claim())).toEqual([]);
    expect(ids(await session.claim())).toEqual(['1']);
  });

  it('a suspect goes to a process that reads its version', async () => {
    world().store({ maxCrashes: 2 });
    await world().schedule({ id: 'x', version: 2 });
    await worker('dies', 2, 2).claim();
    await world().outlive();
    expect(await world().worker('old').claim()).toEqual([]);
    expect(ids(await worker('w', 2, 2).claim())).toEqual(['x']);
  });

  it('a place under globalConcurrency is left only to a worker that reads the version', async () => {
    world().store({ globalConcurrency: 1, leaseMs: 60_000 });
    const [older, newer] = [await world().worker('older').listens(), await worker('newer', 2, 2).listens()];
    await world().schedule({});
    const [run] = await older.claim();
    await newer.sleeps();
    await world().scheduleAll([
      { id: 'better', version: 2, priority: 1 },
      { id: 'unknown', version: 3, priority: 1, due: { at: world().now() - 5_000 } },
      { id: 'next', priority: 9 },
    ]);
    const { claimed } = await older.turn({ settlements: [settlement.complete(run!)], limit: 10 });
    expect(claimed).toEqual([]);
    await until('the newer one is told', () => newer.told.length > 0);
    expect(ids(await newer.claim())).toEqual(['better']);
  });

  describe('a recurrence', () => {
    it('keeps the version that it was made with', async () => {
      const { recurrences, view } = storeOnTheSecond(world());
      await recurrences.upsert(recurrenceOf({ everyMs: HOUR }, { version: 2 }));
      expect(await view.versions('work')).toEqual([{ version: 2, waiting: 1, active: 0, dead: 0 }]);
      await recurrences.runNow('r');
      expect(await world().worker('old').claim()).toEqual([]);
      expect(versionsOf(await worker('w', 1, 2).claim())).toEqual([2]);
      world().pass(HOUR);
      const session = worker('w', 1, 2);
      expect(versionsOf(await session.claim())).toEqual([2]);
      expect((await recurrences.get('r'))!.template).toMatchObject({ name: 'work', version: 2 });
    });

    it('that is changed to another version has what is armed in that', async () => {
      const { recurrences, view } = storeOnTheSecond(world());
      await recurrences.upsert(recurrenceOf({ everyMs: HOUR }, { version: 2 }));
      expect(await recurrences.upsert(recurrenceOf({ everyMs: HOUR }))).toMatchObject({ status: 'changed' });
      expect(await view.versions('work')).toEqual([{ version: 1, waiting: 1, active: 0, dead: 0 }]);
    });
  });

  it('counts the jobs of a name by version, wherever they are', async () => {
    const { view } = world().store({ maxCrashes: 2 });
    await world().schedule({ id: 'suspect', version: 5 });
    await worker('dies', 5, 5).claim();
    await world().outlive();
    await world().scheduleAll([
      {},
      { due: { delayMs: HOUR } },
      { version: 2, priority: 1 },
      { version: 2, worker: 'somebody' },
      { version: 2, group: 'g' },
      { version: 3, id: 'runs' },
      { version: 4, id: 'dies' },
      { name: 'other', version: 2 },
    ]);
    const session = worker('w', 3, 4);
    const claimed = await session.claim();
    await session.settle(settlement.dead(claimed.find(({ id }) => id === 'dies')!));
    expect(await view.versions('work')).toEqual([
      { version: 1, waiting: 2, active: 0, dead: 0 },
      { version: 2, waiting: 3, active: 0, dead: 0 },
      { version: 3, waiting: 0, active: 1, dead: 0 },
      { version: 4, waiting: 0, active: 0, dead: 1 },
      { version: 5, waiting: 1, active: 0, dead: 0 },
    ]);
    expect(await view.versions('nothing')).toEqual([]);
  });

  it('counts more jobs than one look at them takes', async () => {
    const { view } = world().store({ keepDead: 10_000 });
    const count = 1_500;
    await world().scheduleAll(
      Array.from({ length: 2_500 }, (_, i) => ({ name: `other-${i}`, due: { delayMs: HOUR } })),
    );
    await world().scheduleAll(Array.from({ length: 2 * count }, (_, i) => ({ version: 1 + (i % 2) })));
    const session = worker('w', 2, 2);
    for (let died = 0; died < count; ) {
      const claimed = await session.claim(500);
      if (died < 500) await session.settle(...claimed.map((job) => settlement.dead(job)));
      died += claimed.length;
    }
    expect(await view.versions('work')).toEqual([
      { version: 1, waiting: count, active: 0, dead: 0 },
      { version: 2, waiting: 0, active: count - 500, dead: 500 },
    ]);
  });

  describe('explain', () => {
    const says = async (handled: Record<string, VersionRange> | undefined, version?: number) => {
      world().store();
      await world().schedule({ id: 'x', version });
      if (handled) await world().workerOf('w', handled).claim();
      return (await inspectorOf(world()).inspector.explain('x')).message;
    };

    it('names the versions that live workers handle, where none handles that of the job', async () => {
      expect(await says({ work: { first: 1, last: 2 } }, 3)).toMatch(
        /but it has version 3, and the workers that run at present handle versions 1, 2 of that name: it waits for one that handles its own\.$/,
      );
      expect(await says({ work: { first: 2, last: 2 } })).toMatch(
        /but it has version 1, and the workers that run at present handle version 2 of that name/,
      );
    });

    it('names the version of the job, where nobody handles the name', async () => {
      expect(await says({ other: { first: 1, last: 3 } }, 3)).toMatch(
        /no worker that runs at present handles that name, of which it has version 3: it waits for one that does\.$/,
      );
    });
  });
};
