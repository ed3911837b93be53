import { describe, expect, it } from '@jest/globals';
import { settlement, type World } from './world.js';

/** How a job under the id `x` comes into each state, by one worker. */
const STATES: Record<string, (world: World) => Promise<void>> = {
  waiting: async (world) => {
    await world.schedule({ id: 'x', due: { delayMs: 60_000 } });
  },
  'waiting for its next attempt': async (world) => {
    await world.schedule({ id: 'x' });
    const worker = world.worker('w');
    await worker.settle(settlement.retry((await worker.claim())[0]!, 60_000));
  },
  active: async (world) => {
    await world.schedule({ id: 'x' });
    await world.worker('w').claim();
  },
  dead: async (world) => {
    await world.schedule({ id: 'x' });
    const worker = world.worker('w');
    await worker.settle(settlement.dead((await worker.claim())[0]!, { idWasChosen: true }));
  },
  ended: async (world) => {
    await world.schedule({ id: 'x' });
    const worker = world.worker('w');
    await worker.settle(settlement.completeChosen((await worker.claim())[0]!));
  },
};
const KEPT: Record<string, string> = {
  waiting: 'waiting',
  'waiting for its next attempt': 'waiting',
  active: 'active',
  dead: 'dead',
  ended: 'ended',
};
const REPLACED: Record<string, string> = {
  waiting: 'replaced',
  'waiting for its next attempt': 'replaced',
  active: 'queued',
  dead: 'created',
  ended: 'created',
};

export const ids = (world: () => World): void => {
  it.each(Object.keys(STATES))(
    'schedule under the id of a job that is %s changes nothing, and says so',
    async (state) => {
      world().store();
      await STATES[state]!(world());
      const before = await world().job('x');
      const answer = await world().schedule({ id: 'x', payload: 'other' });
      expect(answer).toEqual({ id: 'x', status: KEPT[state], dueAtMs: before?.dueAtMs ?? null });
      expect(await world().job('x')).toEqual(before);
    },
  );

  it.each(Object.keys(STATES))('replace under the id of a job that is %s', async (state) => {
    world().store();
    await STATES[state]!(world());
    const answer = await world().replace({ id: 'x', payload: 'other', due: { delayMs: 1_000 } });
    expect(answer).toEqual({
      id: 'x',
      status: REPLACED[state],
      dueAtMs: world().now() + 1_000,
      ...(state === 'dead' && { pushedOut: true }),
    });
  });

  it.each(['waiting', 'active', 'dead'])(
    "an id is 'taken' while a job of another name has it that is %s",
    async (state) => {
      world().store();
      await STATES[state]!(world());
      const before = await world().job('x');
      const taken = { id: 'x', status: 'taken', takenBy: 'work', dueAtMs: before!.dueAtMs };
      expect(await world().schedule({ id: 'x', name: 'other name' })).toEqual(taken);
      expect(await world().replace({ id: 'x', name: 'other name' })).toEqual(taken);
      expect(await world().job('x')).toEqual(before);
    },
  );

  it('an id is taken no longer once the job of another name has ended', async () => {
    world().store();
    await STATES.ended!(world());
    expect((await world().schedule({ id: 'x', name: 'other' })).status).toBe('ended');
    expect((await world().replace({ id: 'x', name: 'other' })).status).toBe('created');
  });

  it('is taken by the first of two names of one moment', async () => {
    world().store();
    const answers = await world().scheduleAll([
      { id: 'x', name: 'one name' },
      { id: 'x', name: 'another name' },
    ]);
    expect(answers[1]).toMatchObject({ status: 'taken', takenBy: 'one name' });
  });

  it('a chosen id that has ended is remembered for keepIdsMs, and not a millisecond longer', async () => {
    world().store({ keepIdsMs: 60_000 });
    await STATES.ended!(world());
    world().pass(59_999);
    expect((await world().schedule({ id: 'x' })).status).toBe('ended');
    world().pass(1);
    expect((await world().schedule({ id: 'x' })).status).toBe('created');
  });

  it('no id is remembered where keepIdsMs is 0', async () => {
    world().store({ keepIdsMs: 0 });
    await STATES.ended!(world());
    expect((await world().schedule({ id: 'x' })).status).toBe('created');
  });

  it('a made id is not remembered', async () => {
    world().store();
    await STATES.waiting!(world());
    const { id } = await world().schedule();
    const worker = world().worker('w');
    await worker.settle(settlement.complete((await worker.claim())[0]!));
    expect(await world().job(id)).toBeUndefined();
    expect((await world().schedule({ id: `${id}-chosen` })).status).toBe('created');
  });

  it('a discarded chosen id is remembered', async () => {
    world().store();
    await world().schedule({ id: 'x' });
    const worker = world().worker('w');
    await worker.settle(settlement.discard((await worker.claim())[0]!, true));
    expect((await world().schedule({ id: 'x' })).status).toBe('ended');
  });

  it('a cancelled id is free at once', async () => {
    const { jobs } = world().store();
    await STATES.waiting!(world());
    await jobs.cancel('x');
    expect((await world().schedule({ id: 'x' })).status).toBe('created');
  });

  it('the id of a dead job that was pushed out is remembered from then on', async () => {
    world().store({ keepDead: 0, keepIdsMs: 60_000 });
    await STATES.dead!(world());
    expect(await world().job('x')).toBeUndefined();
    expect((await world().schedule({ id: 'x' })).status).toBe('ended');
    world().pass(60_000);
    expect((await world().schedule({ id: 'x' })).status).toBe('created');
  });

  it('the id of a dead job that was replayed waits, and is remembered once it completes', async () => {
    const { management } = world().store();
    await STATES.dead!(world());
    await management.replayDead('x', { delayMs: 0 });
    expect((await world().schedule({ id: 'x' })).status).toBe('waiting');
    const worker = world().worker('w');
    await worker.settle(settlement.completeChosen((await worker.claim())[0]!));
    expect((await world().schedule({ id: 'x' })).status).toBe('ended');
  });

  it('a job that is scheduled anew under a remembered id by replace is remembered no more while it waits', async () => {
    const { jobs } = world().store();
    await STATES.ended!(world());
    await world().replace({ id: 'x' });
    await jobs.cancel('x');
    expect((await world().schedule({ id: 'x' })).status).toBe('created');
  });

  describe('a kept completed job', () => {
    it('goes when its id is scheduled again', async () => {
      const { view } = world().store({ keepCompleted: 5, keepIdsMs: 0 });
      await STATES.ended!(world());
      expect((await world().job('x'))?.state).toBe('completed');
      await world().schedule({ id: 'x' });
      expect((await world().job('x'))?.state).toBe('due');
      expect((await view.counts()).completed).toBe(0);
    });
  });
};
