import { expect, it } from '@jest/globals';
import type { World } from './world.js';

export const reachable = (world: () => World): void => {
  it('a store that can be reached answers for the queues that are asked about, known or not, and has no trouble', async () => {
    world().store();
    await world().schedule();
    expect(await world().whole.answering(['default', 'unknown'], 5_000)).toEqual(['default', 'unknown']);
    expect(await world().whole.answering([], 5_000)).toEqual([]);
    expect(world().whole.trouble).toBeUndefined();
  });

  it('a store that is closed answers for no queue', async () => {
    world().store();
    await world().schedule();
    const { whole } = world();
    await whole.close();
    expect(await whole.answering(['default'], 5_000)).toEqual([]);
    world().store();
  });
};
