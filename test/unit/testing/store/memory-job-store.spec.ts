import { expect, it } from '@jest/globals';
import { InvalidOptionsError } from '../../../../lib/index.js';
import type { MemoryJobStore } from '../../../../lib/testing/store/memory-job-store.js';
import { MemoryWorld } from '../../../contract/memory-world.js';
import { settlement } from '../../../contract/world.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { SessionTurns } from '../../../support/session-turns.js';

it('drains a hundred thousand jobs in seconds, as no claim looks at all of them', async () => {
  const world = new MemoryWorld(new ManualClock());
  const { jobs } = world.store();
  const job = { name: 'work', priority: 5, due: { delayMs: 0 }, settings: {}, payload: '{}' };
  const startedAt = performance.now();
  await jobs.scheduleMany(
    Array.from({ length: 100_000 }, () => job),
    () => {},
  );
  const worker = world.worker('w');
  let drained = 0;
  let settlements: ReturnType<typeof settlement.complete>[] = [];
  do {
    const { claimed } = await worker.turn({ settlements, limit: 100 });
    settlements = claimed.map((each) => settlement.complete(each));
    drained += claimed.length;
  } while (settlements.length > 0);
  const tookMs = performance.now() - startedAt;
  expect(drained).toBe(100_000);
  // Mostly a second; where each claim looked at all jobs, minutes.
  expect(tookMs).toBeLessThan(20_000);
});

it('has nothing to relay to, and says so', () => {
  const world = new MemoryWorld(new ManualClock());
  const { sessions } = world.store();
  const relay = () => sessions.relay('w', undefined, { type: 'stream', key: 'out' });
  expect(relay).toThrow(InvalidOptionsError);
  expect(relay).toThrow(/lies in memory, where there are no streams or lists/);
});

it('a turn waits for the end of an outage, and is refused once its session gives up', async () => {
  const world = new MemoryWorld(new ManualClock());
  const { jobs, sessions } = world.store();
  const { outage } = world.whole as MemoryJobStore;
  await jobs.schedule({ name: 'work', priority: 5, due: { delayMs: 0 }, settings: {}, payload: '{}' });
  const session = sessions.worker('w', { names: ['work'], limited: false });
  outage.switch(true);
  const leaves = new AbortController();
  const refused = new SessionTurns(session, leaves.signal).turn({ limit: 1 });
  const answer = new SessionTurns(session).turn({ limit: 1 }).then(
    ({ claimed }) => claimed.length,
    (error) => error,
  );
  leaves.abort();
  await expect(refused).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE', outcome: 'refused' });
  outage.switch(false);
  // Another one begins before the turn has seen the end of the first.
  outage.switch(true);
  await new Promise(setImmediate);
  outage.switch(false);
  expect(await answer).toBe(1);
});
