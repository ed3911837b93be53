import { afterEach, expect, it } from '@jest/globals';
import { newJob, settlement, TestStore } from '../support/store.js';
import { until } from '../support/wait.js';

let test: TestStore;

afterEach(() => test.close());

it('dead jobs that are pushed out, purged, replayed and looked at all at once are each replayed or dropped, never both', async () => {
  const JOBS = 1_500;
  const NOW = { delayMs: 0 };
  test = new TestStore({ keepDead: 300 });
  const worker = test.worker('w');
  await test.scheduleAll(Array.from({ length: JOBS }, () => newJob()));
  let replayed = 0;
  let purged = 0;
  const looked = new Set<string>();
  const die = async () => {
    for (let claimed = await worker.claim(60); claimed.length > 0; claimed = await worker.claim(60))
      await worker.settle(
        ...claimed.map((job, i) =>
          job.attempt === 1 && i % 10 === 7 ? settlement.complete(job) : settlement.dead(job),
        ),
      );
  };
  const replayOne = async () => {
    for (let i = 0; i < 60; i++) {
      const dead = await test.view.list('dead', 0, 5);
      const answers = await Promise.all(dead.map(({ id }) => test.management.replayDead(id, NOW)));
      replayed += answers.reduce((sum, count) => sum + count, 0);
    }
  };
  const replayAll = async () => {
    for (let i = 0; i < 3; i++) replayed += await test.management.replayDead(undefined, NOW);
  };
  const purge = async () => {
    for (let times = 0; times < 2; ) {
      await until('there are some', async () => (await test.view.counts()).dead > 100);
      const gone = await test.management.purgeDead();
      purged += gone;
      if (gone > 0) times++;
    }
  };
  const look = async () => {
    for (let i = 0; i < 40; i++)
      for (const { id } of await test.view.list('dead', 0, 50)) looked.add(`${(await test.view.job(id))?.state}`);
  };
  await Promise.all([die(), replayOne(), replayAll(), purge(), look()]);
  await die();

  expect(await test.audit()).toEqual([]);
  const stats = await test.view.stats();
  const { dead, waiting } = { waiting: 0, ...(await test.view.counts()) };
  process.stdout.write(
    `${replayed} replayed, ${purged} purged, ${stats.deadDropped! - purged} pushed out, ${dead} left dead\n`,
  );
  expect(waiting).toBe(0);
  expect(replayed).toBeGreaterThan(0);
  expect(purged).toBeGreaterThan(0);
  expect(stats.deadDropped!).toBeGreaterThan(purged);
  expect(stats.dead).toBe(dead + stats.deadDropped! + replayed);
  expect(stats.scheduled).toBe(JOBS);
  expect(stats.completed! + stats.deadDropped! + dead).toBe(JOBS);
});
