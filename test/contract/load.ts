import { expect, it } from '@jest/globals';
import type { LoadOptions } from '../../lib/api/inspection/queue-load.js';
import { InvalidScheduleError } from '../../lib/index.js';
import { inspectorOf } from './inspected.js';
import { settlement, TestSession, type World } from './world.js';

const IDLE = { due: 0, dueSoon: 0, latenessMs: 0, running: 0, capacity: 0, blocked: null };

export const load = (world: () => World): void => {
  const read = (options?: LoadOptions) => inspectorOf(world()).inspector.load(options);
  const scheduleIn = (...delays: number[]) => world().scheduleAll(delays.map((delayMs) => ({ due: { delayMs } })));
  const weighing = (id: string, weight: number) =>
    new TestSession(
      world().queue.sessions.worker(id, {
        names: ['heavy', 'work'],
        limited: true,
        calls: new Map([['heavy', { weight, size: 1 }]]),
      }),
    );

  it('a queue that nobody uses has none', async () => {
    world().store();
    expect(await read()).toEqual(IDLE);
  });

  it('due are the waiting jobs whose time has come, due soon those of the next minute', async () => {
    world().store();
    await scheduleIn(0, 1, 30_000, 60_000, 60_001, 3_600_000);
    expect(await read()).toEqual({ ...IDLE, due: 1, dueSoon: 3 });
    world().pass(1);
    expect(await read()).toEqual({ ...IDLE, due: 2, dueSoon: 3, latenessMs: 1 });
  });

  it('how far due soon looks is said by the caller', async () => {
    world().store();
    await scheduleIn(0, 1_000, 1_001, 3_600_000);
    expect((await read({ withinMs: '1s' })).dueSoon).toBe(1);
    expect((await read({ withinMs: 0 })).dueSoon).toBe(0);
    expect((await read({ withinMs: '1h' })).dueSoon).toBe(3);
    await expect(read({ withinMs: -1 })).rejects.toThrow(InvalidScheduleError);
  });

  it('retries and snoozes count as they are due, running and dead jobs do not', async () => {
    world().store();
    await scheduleIn(0, 0, 0, 0);
    const worker = world().worker('w');
    const [retried, snoozed, dead] = await worker.claim(4);
    await worker.settle(settlement.retry(retried!), settlement.snooze(snoozed!, 5_000), settlement.dead(dead!));
    expect(await read()).toMatchObject({ due: 1, dueSoon: 1, running: 1 });
  });

  it('the lateness is that of the job that has been due for longest, whatever its priority', async () => {
    world().store();
    await world().schedule({ priority: 9, due: { delayMs: 0 } });
    world().pass(400);
    await world().schedule({ priority: 1, due: { delayMs: 0 } });
    world().pass(30);
    expect(await read()).toMatchObject({ due: 2, latenessMs: 430 });
  });

  it('running and capacity are weights, over the live workers; what is pulled is no part of either', async () => {
    world().store({ concurrency: 10, leaseMs: 10_000 });
    await world().scheduleAll([{ id: 'a', name: 'heavy' }, { id: 'b', name: 'heavy' }, { id: 'c' }, { id: 'd' }]);
    const [first, second] = [weighing('w1', 3), weighing('w2', 3)];
    const claimed = await first.claim(4);
    await second.claim(4);
    await world().puller('p').claim(1);
    expect(claimed.length).toBeGreaterThan(0);
    const held = await world().queue.view.list('active', 0, 10);
    const weight = held
      .filter(({ worker }) => worker !== 'p')
      .reduce((sum, { envelope }) => sum + ('name' in envelope && envelope.name === 'heavy' ? 3 : 1), 0);
    expect(held).toHaveLength(4);
    expect(await read()).toEqual({ ...IDLE, running: weight, capacity: 20 });
  });

  it('a job that has reported progress weighs what it weighed', async () => {
    world().store({ concurrency: 10 });
    await world().schedule({ id: 'a', name: 'heavy' });
    const worker = weighing('w', 3);
    const { id, fence } = (await worker.claim(4))[0]!;
    expect((await read()).running).toBe(3);
    await worker.turn({ reports: [{ id, fence, value: '"half"' }] });
    expect((await read()).running).toBe(3);
  });

  it('a handler that goes on after its run still takes the weight of its job', async () => {
    world().store({ concurrency: 10 });
    await world().scheduleAll([{}, {}]);
    const worker = weighing('w', 3);
    await worker.claim(2);
    await worker.turn({ stuck: { count: 1, weight: 3, id: 'x', name: 'heavy', forMs: 1_000 } });
    expect(await read()).toEqual({ ...IDLE, running: 5, capacity: 10 });
    expect(await inspectorOf(world()).inspector.workers()).toMatchObject([{ id: 'w', running: 3, stuck: 1 }]);
  });

  it('a worker that has left or died has no capacity', async () => {
    world().store({ concurrency: 10, leaseMs: 10_000 });
    const [leaves, dies] = [world().worker('leaves'), world().worker('dies')];
    await leaves.claim();
    await dies.claim();
    expect((await read()).capacity).toBe(20);
    await leaves.turn({ isLast: true });
    expect((await read()).capacity).toBe(10);
    world().pass(10_001);
    expect((await read()).capacity).toBe(0);
  });

  it('running and capacity are at most what may run over all processes', async () => {
    world().store({ concurrency: 10, globalConcurrency: 4 });
    await world().scheduleAll([{ name: 'heavy' }, { name: 'heavy' }]);
    const worker = weighing('w', 3);
    await worker.claim(10);
    expect(await read()).toMatchObject({ running: 4, capacity: 4 });
  });

  it('a pause, a blackout and the rate block the queue, and meanwhile nothing is late', async () => {
    const { management } = world().store({ rateLimit: { max: 1, perMs: 60_000 } });
    await scheduleIn(0, 0);
    world().pass(70);
    expect(await read()).toMatchObject({ blocked: null, latenessMs: 70 });
    await world().worker('w').claim(1);
    expect(await read()).toMatchObject({ blocked: 'rate', latenessMs: 0, due: 1 });
    await management.setBlackouts([{ fromMs: world().now(), toMs: world().now() + 1_000 }]);
    expect(await read()).toMatchObject({ blocked: 'blackout', latenessMs: 0, due: 1 });
    await management.pause();
    expect(await read()).toMatchObject({ blocked: 'paused', latenessMs: 0, due: 1 });
    await management.resume();
    world().pass(61_000);
    expect(await read()).toMatchObject({ blocked: null, latenessMs: 61_070, due: 1 });
  });

  it('due jobs of held groups are left out, and are not late', async () => {
    const { management } = world().store({ groups: { concurrency: 1 } });
    await world().scheduleAll([{ group: 'a' }, { group: 'a' }, { group: 'b' }, { group: 'b' }]);
    await management.pauseGroup('b', 5_000);
    world().pass(70);
    expect(await read()).toMatchObject({ due: 2, latenessMs: 70 });
    expect(await world().worker('w').claim(4)).toHaveLength(1);
    expect(await read()).toMatchObject({ due: 0, latenessMs: 0, blocked: null });
    await world().schedule({ priority: 9 });
    await world().schedule({ group: 'c', priority: 1, due: { delayMs: 20 } });
    world().pass(30);
    expect(await read()).toMatchObject({ due: 2, latenessMs: 30 });
    expect(await world().worker('v').claim(1)).toMatchObject([{ dueAtMs: world().now() - 10 }]);
    expect(await world().worker('v').claim(1)).toHaveLength(1);
    expect(await read()).toMatchObject({ due: 0, latenessMs: 0 });
    world().pass(5_000);
    expect(await read()).toMatchObject({ due: 2, latenessMs: 5_100 });
  });

  it.each([
    ['concurrency', { concurrency: 1 }],
    ['rate', { rateLimit: { max: 1, perMs: 60_000 } }],
    ['order', { order: 'fifo' as const }],
  ])('due jobs of a group that has reached its %s are left out before a claim has met it', async (_, groups) => {
    world().store({ groups, leaseMs: 60_000 });
    await world().schedule({ group: 'a' });
    expect(await world().worker('w').claim(4)).toHaveLength(1);
    await world().scheduleAll([{ group: 'a' }, { group: 'a', name: 'other' }, { group: 'a', priority: 1 }]);
    world().pass(70);
    expect(await read()).toMatchObject({ due: 0, latenessMs: 0 });
    await world().schedule({ group: 'b', priority: 9 });
    world().pass(30);
    expect(await read()).toMatchObject({ due: 1, latenessMs: 30 });
  });

  it('so are suspects of such a group', async () => {
    const { management } = world().store({ maxCrashes: 2 });
    await world().schedule({ group: 'a' });
    await world().crash(1);
    expect(await read()).toMatchObject({ due: 1 });
    await management.setGroup('a', { concurrency: 1 });
    await world().schedule({ group: 'a', name: 'other', priority: 1 });
    expect(await world().worker('v', 'other').claim(1)).toHaveLength(1);
    world().pass(70);
    expect(await read()).toMatchObject({ due: 0, latenessMs: 0 });
  });

  it('it knows of many groups that have reached a limit at once', async () => {
    world().store({ groups: { concurrency: 1 }, leaseMs: 60_000 });
    const groups = Array.from({ length: 320 }, (_, i) => ({ group: `g${i}` }));
    const worker = world().worker('w');
    await world().scheduleAll(groups);
    for (let claimed = 0; claimed < 320; ) claimed += (await worker.turn({ limit: 500 })).claimed.length;
    await world().scheduleAll([...groups, ...groups]);
    world().pass(70);
    await world().schedule({ priority: 9 });
    world().pass(30);
    expect(await read()).toMatchObject({ due: 1, latenessMs: 30 });
  });

  it('it is that of the queue that was asked for', async () => {
    world().store();
    await scheduleIn(0);
    expect(await read({ queue: 'other' })).toEqual(IDLE);
    await expect(read({ queue: 'no queue' })).rejects.toThrow(InvalidScheduleError);
  });
};
