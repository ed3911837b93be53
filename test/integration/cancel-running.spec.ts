import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { QUEUE, TestStore } from '../support/store.js';

let test: TestStore;
beforeEach(() => {
  test = new TestStore({ leaseMs: 1_000, keepCompleted: 10 });
});
afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

describe('a running job that is to be cancelled', () => {
  it('is handed out again as such when the reply to its claim was lost', async () => {
    await test.schedule();
    const worker = test.worker('w');
    const [job] = await worker.claim();
    const [call] = await test.redis.keys(`${test.prefix}:*:receipt:w.*`);
    expect(await test.redis.get(call!)).toContain(job!.fence);
    await test.jobs.cancelRunning(job!.id);
    expect(await test.redis.hget(`${test.prefix}:{${QUEUE}}:claims`, job!.id)).toMatch(/^\d+c 1 0 /);
  });
});
