import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import type { ClaimedJob, Settlement } from '../../lib/store/job-store.js';
import { RedisWorld } from '../contract/redis-world.js';
import { settlement } from '../contract/world.js';
import { ManualClock } from '../support/manual-clock.js';

let world: RedisWorld;

beforeAll(async () => {
  world = await RedisWorld.start(new ManualClock());
});
afterEach(async () => {
  expect(await world.audit()).toEqual([]);
  await world.close();
});
afterAll(() => world.stop());

it('one turn frees 500 groups, each with due jobs of ten names', async () => {
  const names = Array.from({ length: 10 }, (_, i) => `name-${i}`);
  const groups = Array.from({ length: 500 }, (_, i) => `tenant-${i}`);
  world.store({ groups: { concurrency: 1 } });
  for (const name of names) await world.scheduleAll(groups.map((group) => ({ group, name })));
  const worker = world.worker('w', ...names);
  const claimAll = async (settlements: Settlement[] = []) => {
    const claimed: ClaimedJob[] = [];
    for (let left = settlements, goesOn = true; goesOn; left = []) {
      const answer = await worker.turn({ settlements: left, limit: 500 });
      claimed.push(...answer.claimed);
      goesOn = answer.sleepMs === 0;
    }
    return claimed;
  };
  const claimed = await claimAll();
  expect(claimed).toHaveLength(500);
  expect(await claimAll(claimed.map((job) => settlement.complete(job)))).toHaveLength(500);
});
