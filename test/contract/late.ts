import { expect, it } from '@jest/globals';
import { ids, payloads, settlement, type World } from './world.js';

export const late = (world: () => World): void => {
  const rule = (onLate: 'run' | 'discard' | 'dead-letter', maxLatenessMs = 1_000) => ({
    lateness: { maxLatenessMs, onLate },
  });

  it('a job that is later than it may be is discarded as it is claimed, and its id is remembered', async () => {
    const { view } = world().store();
    await world().schedule({ id: 'x', ...rule('discard') });
    world().pass(1_001);
    const answer = await world().worker('w').turn({ limit: 5 });
    expect(answer).toMatchObject({
      claimed: [],
      late: [{ id: 'x', name: 'work', attempt: 0, latenessMs: 1_001, onLate: 'discard' }],
      sleepMs: 0,
    });
    expect(await view.stats()).toEqual({ scheduled: 1, discarded: 1 });
    expect((await world().schedule({ id: 'x' })).status).toBe('ended');
  });

  it('a job that is later than it may be is dead with its history, and no attempt is counted', async () => {
    const { view } = world().store();
    await world().schedule({ id: 'x', ...rule('dead-letter') });
    const worker = world().worker('w');
    await worker.settle(settlement.retry((await worker.claim())[0]!, 0));
    world().pass(5_000);
    expect((await worker.turn({ limit: 5 })).late).toMatchObject([{ id: 'x', attempt: 1, latenessMs: 5_000 }]);
    expect(await world().job('x')).toMatchObject({
      state: 'dead',
      attempts: 1,
      failures: [
        { message: 'no', attempt: 1 },
        { reason: 'late', attempt: 1 },
      ],
    });
    expect(await view.stats()).toMatchObject({ dead: 1, started: 1 });
  });

  it('a late job is kept, or dropped, as the queue says, also by a worker that was here before', async () => {
    const { view } = world().store({ keepEnded: 5, keepDead: 0 });
    const worker = world().worker('w');
    await worker.turn({ limit: 5 });
    await world().schedule({ id: 'discarded', ...rule('discard') });
    await world().schedule({ id: 'dead', ...rule('dead-letter') });
    world().pass(1_001);
    expect((await worker.turn({ limit: 5 })).deadDropped).toEqual([{ id: 'dead', name: 'work' }]);
    expect(await world().job('discarded')).toMatchObject({ state: 'discarded', reason: 'late' });
    expect((await view.counts()).dead).toBe(0);
  });

  it('a job that may run late is claimed, and said to be late', async () => {
    world().store();
    const { id } = await world().schedule(rule('run'));
    world().pass(2_000);
    const { claimed, late } = await world().worker('w').turn({ limit: 5 });
    expect(ids(claimed)).toEqual([id]);
    expect(late).toEqual([{ id, name: 'work', attempt: 0, latenessMs: 2_000, onLate: 'run' }]);
  });

  it('a job may be exactly as late as it may be, and not a millisecond later', async () => {
    world().store();
    await world().scheduleAll([
      { payload: 'just', ...rule('discard', 100) },
      { payload: 'too', ...rule('discard', 99) },
    ]);
    world().pass(100);
    expect(payloads((await world().worker('w').turn({ limit: 5 })).claimed)).toEqual(['just']);
  });

  it('an instant in the past counts as late', async () => {
    world().store();
    await world().schedule({ due: { at: world().now() - 5_000 }, ...rule('discard') });
    expect((await world().worker('w').turn({ limit: 5 })).late).toMatchObject([{ latenessMs: 5_000 }]);
  });

  it('late jobs take no capacity from those that can run, in the next turn at the latest', async () => {
    world().store();
    await world().scheduleAll([rule('discard', 0), rule('discard', 0), { payload: 'runs' }]);
    world().pass(10);
    const worker = world().worker('w');
    const first = await worker.turn({ limit: 1 });
    const second = await worker.turn({ limit: 1 });
    const third = await worker.turn({ limit: 1 });
    expect(payloads([first, second, third].flatMap(({ claimed }) => claimed))).toEqual(['runs']);
    expect(first.sleepMs).toBe(0);
  });

  it('a handler has the place of a late job back', async () => {
    world().store();
    await world().scheduleAll([rule('discard', 0)]);
    world().pass(10);
    const worker = world().worker('w');
    await worker.turn({ limit: 5, handlers: [{ name: 'work', weight: 1, free: 1, size: 1 }] });
    await world().schedule({ payload: 'next' });
    expect(
      (await worker.turn({ limit: 5, handlers: [{ name: 'work', weight: 1, free: 1, size: 1 }] })).claimed,
    ).toHaveLength(1);
  });

  it('a waiting job with a lateness rule can be cancelled, rescheduled and replaced', async () => {
    const { jobs } = world().store();
    await world().schedule({ id: 'x', ...rule('discard') });
    world().pass(5_000);
    expect(await jobs.reschedule('x', { delayMs: 0 })).toBe(true);
    expect((await world().job('x'))?.envelope).toMatchObject(rule('discard'));
    expect((await world().worker('w').turn({ limit: 5 })).late).toEqual([]);
    await world().schedule({ id: 'y', ...rule('discard') });
    expect((await world().replace({ id: 'y' })).status).toBe('replaced');
    expect((await world().job('y'))?.envelope).not.toHaveProperty('lateness');
    expect(await jobs.cancel('y')).toBe(true);
  });

  it('a replayed job is late by its new due time', async () => {
    const { management } = world().store();
    await world().schedule({ id: 'x', ...rule('dead-letter') });
    world().pass(5_000);
    const worker = world().worker('w');
    await worker.claim();
    await management.replayDead('x', { delayMs: 0 });
    expect(ids(await worker.claim())).toEqual(['x']);
  });
};
