import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { QUEUE, settlement, TestStore } from '../support/store.js';
import { until } from '../support/wait.js';

let test: TestStore;

beforeEach(() => {
  test = new TestStore({ leaseMs: 1_000 });
});

afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

const counts = () => test.view.counts();
const nothing = { scheduled: 0, due: 0, active: 0, completed: 0, dead: 0 };

describe('settle', () => {
  it('complete leaves nothing of the job behind', async () => {
    await test.schedule();
    const worker = test.worker('w');
    const [job] = await worker.claim();
    expect(await worker.settle(settlement.complete(job!))).toEqual([true]);
    expect(await counts()).toEqual(nothing);
    expect(await test.view.job(job!.id)).toBeUndefined();
    const left = await test.redis.keys(`${test.prefix}:*`);
    expect(
      left
        .map((key) => key.split(':').at(-2) + key.split(':').at(-1)!)
        .filter((key) => /jobs|claims|failures|active|lane|heads|levels/.test(key)),
    ).toEqual([]);
  });
});

describe('recover after a clock that went astray', () => {
  const served = () => `${test.prefix}:{${QUEUE}}:served`;

  it('waits no longer than a lease where the clock went forward and back', async () => {
    await test.schedule();
    const [job] = await test.worker('holder').claim();
    await test.redis.zadd(`${test.prefix}:{${QUEUE}}:active`, Date.now() - 5_000, job!.id);
    await test.redis.set(served(), `${Date.now()} ${Date.now() + 3_600_000} ${Date.now() + 3_600_000}`);
    const other = test.worker('other');
    await until('it is recovered', async () => (await other.turn({ limit: 1 })).recovered.length === 1, 5_000);
  });
});
