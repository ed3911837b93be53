import { describe, expect, it } from '@jest/globals';
import { InvalidScheduleError } from '../../lib/index.js';
import { inspectorOf } from './inspected.js';
import { newJob, type World } from './world.js';

const QUEUES = ['a', 'b', 'default', 'z'];

/** What is done to the jobs of a tag in several queues. */
export const severalQueues = (world: () => World): void => {
  /** One job of tag `t` and one without in each queue, due in a minute. */
  const start = async () => {
    world().store();
    const due = { delayMs: 60_000 };
    for (const queue of QUEUES) {
      const { jobs } = world().whole.queue(queue);
      await jobs.schedule(newJob({ id: `${queue}1`, tags: ['t'], due }));
      await jobs.schedule(newJob({ id: `${queue}2`, due }));
    }
    return inspectorOf(world());
  };
  /** The due times that jobs of the tag have in each queue, in minutes from now. */
  const dueIn = async () => {
    const now = world().now();
    const jobs = await Promise.all(QUEUES.map((queue) => world().whole.queue(queue).view.job(`${queue}1`)));
    return jobs.map((job) => job && (job.dueAtMs - now) / 60_000);
  };

  it.each([
    ['one queue', 'z', ['z']],
    ['a list', ['z', 'a'], ['z', 'a']],
    ['a list that names one twice', ['b', 'b', 'a'], ['b', 'a']],
    ['all', '*', QUEUES],
    ['none, so the default one', undefined, ['default']],
  ])('cancelTagged over %s', async (_, queue, meant) => {
    const { inspector, told } = await start();
    expect(await inspector.cancelTagged('t', { queue })).toBe(meant.length);
    expect(await dueIn()).toEqual(QUEUES.map((each) => (meant.includes(each) ? undefined : 1)));
    expect(told).toEqual(meant.map((each) => ({ type: 'cancelled', queue: each, id: `${each}1` })));
    for (const each of QUEUES) expect(await world().whole.queue(each).view.job(`${each}2`)).toBeDefined();
    expect(await inspector.cancelTagged('t', { queue })).toBe(0);
  });

  it.each([
    ['one queue', 'z', ['z']],
    ['a list', ['z', 'a', 'z'], ['z', 'a']],
    ['all', '*', QUEUES],
    ['none, so the default one', undefined, ['default']],
  ])('shiftTagged over %s', async (_, queue, meant) => {
    const { inspector, told } = await start();
    expect(await inspector.shiftTagged('t', '2m', { queue })).toBe(meant.length);
    expect(await dueIn()).toEqual(QUEUES.map((each) => (meant.includes(each) ? 3 : 1)));
    expect(told).toEqual([]);
  });

  it('all means the queues in which somebody has scheduled or worked, also those that hold nothing any more', async () => {
    const { inspector } = await start();
    expect((await inspector.queues()).map(({ name }) => name)).toEqual(QUEUES);
    await inspector.clear({ queue: 'b' });
    expect(await inspector.cancelTagged('t', { queue: '*' })).toBe(QUEUES.length - 1);
  });

  describe('nothing is done where the queues are not', () => {
    it.each([
      ['an empty list', []],
      ['a star in a list', ['a', '*']],
      ['a pattern', 'a*'],
      ['a name that no queue may have', ['a', 'no queue']],
      ['a number', 7],
    ])('%s', async (_, queue) => {
      const { inspector } = await start();
      const options = { queue } as { queue: string };
      await expect(inspector.cancelTagged('t', options)).rejects.toThrow(InvalidScheduleError);
      await expect(inspector.shiftTagged('t', 5, options)).rejects.toThrow(InvalidScheduleError);
      expect(await dueIn()).toEqual([1, 1, 1, 1]);
    });
  });
};
