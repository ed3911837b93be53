import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { DAY, recurrenceOf } from '../../contract/recurring.js';
import { TestStore } from '../../support/store.js';

let test: TestStore;
beforeEach(() => {
  test = new TestStore();
});
afterEach(() => test.close());

it('a turn decides of 50 occurrences at the most, and the next one comes at once for the others', async () => {
  for (let i = 0; i < 60; i++) {
    const { nextAtMs } = await test.recurrences.upsert(recurrenceOf({ everyMs: DAY }, {}, `r${i}`));
    await test.jobs.reschedule(`r${i}@${nextAtMs}`, { delayMs: 0 });
  }
  const worker = test.worker('w');
  const { claimed, sleepMs } = await worker.turn({ limit: 500 });
  expect(claimed).toHaveLength(50);
  expect(sleepMs).toBe(0);
  expect(await worker.claim(500)).toHaveLength(10);
});

it('ordinary jobs are not counted among them', async () => {
  const { nextAtMs } = await test.recurrences.upsert(recurrenceOf({ everyMs: DAY }));
  await test.jobs.reschedule(`r@${nextAtMs}`, { delayMs: 0 });
  for (let i = 0; i < 60; i++) await test.schedule({ id: `job@${i}` });
  expect(await test.worker('w').claim(500)).toHaveLength(61);
});
