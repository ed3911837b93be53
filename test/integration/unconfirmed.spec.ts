import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import type { ClaimedJob } from '../../lib/store/job-store.js';
import { redisUrl } from '../support/queue-app.js';
import { QUEUE, settlement, TestStore } from '../support/store.js';
import { takesTurn } from '../support/takes-turn.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/wait.js';

const LARGE = JSON.stringify('x'.repeat(300_000));
const AS_IF_NEVER_CLAIMED = { state: 'due', attempts: 0, crashes: 0, failures: [] };

let proxy: TcpProxy;
let test: TestStore;
let redis: Redis;

beforeEach(async () => {
  proxy = await TcpProxy.start(redisUrl());
  test = new TestStore({ leaseMs: 1_000, maxCrashes: 2 }, proxy.url);
  redis = new Redis(redisUrl());
});

afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
  redis.disconnect();
  await proxy.stop();
});

const key = (name: string) => `${test.prefix}:{${QUEUE}}:${name}`;
const endLease = (id: string) => redis.zadd(key('active'), 'XX', Date.now() - 1, id);

describe('a claim of much data', () => {
  let id: string;
  let claim: ClaimedJob;

  beforeEach(async () => {
    ({ id } = await test.schedule({ payload: LARGE }));
    const { claimed, isUnconfirmed } = await test.worker('w').turn({ limit: 1 });
    expect([claimed.length, isUnconfirmed]).toEqual([1, true]);
    claim = claimed[0]!;
  });

  it('hears by its confirmation what others have recovered meanwhile', async () => {
    await endLease(id);
    const other = test.worker('other');
    await other.turn({ limit: 0 });
    await other.claim();
    expect((await test.worker('w').turn({ renewals: [claim] })).lost).toEqual([id]);
  });

  it('settled and confirmed in one turn is settled', async () => {
    const { settled } = await test.worker('w').turn({ settlements: [settlement.complete(claim)], renewals: [claim] });
    expect(settled).toEqual(['counted']);
    expect(await test.view.job(id)).toBeUndefined();
  });
});

describe('a claim whose answer comes only after its leases are over', () => {
  let ids: string[];

  beforeEach(async () => {
    ids = [(await test.schedule()).id, (await test.schedule()).id];
  });

  /** Claims both jobs; the answer is lost, and Redis is away until their leases are over. */
  async function claimTooLate(worker: ReturnType<TestStore['worker']>) {
    const cut = proxy.cutOnce((request, reply) => {
      const hit = takesTurn(request) && reply.includes('::work');
      if (hit) proxy.refuse();
      return hit;
    });
    const answer = worker.turn({ limit: 2 });
    await cut;
    const [, leaseEnd] = await redis.zrange(key('active'), '0', '0', 'WITHSCORES');
    await until('the leases are over', async () => Number((await redis.time())[0]) * 1_000 > Number(leaseEnd) + 1_000);
    proxy.accept();
    return answer;
  }

  it('hands out nothing, and the worker gives the jobs back at once', async () => {
    const worker = test.worker('w');
    const { claimed, expired, sleepMs, isReplay } = await claimTooLate(worker);
    expect([claimed, sleepMs, isReplay]).toEqual([[], 0, true]);
    expect(expired.map(({ id }) => id).sort()).toEqual([...ids].sort());
    expect(await worker.settle(...expired.map(settlement.release))).toEqual([true, true]);
    for (const id of ids) expect(await test.view.job(id)).toMatchObject(AS_IF_NEVER_CLAIMED);
  });

  it('is no crash for another worker that recovers the jobs after that', async () => {
    await claimTooLate(test.worker('w'));
    const other = test.worker('other');
    await until('both are recovered', async () => (await other.turn()).recovered.length === 2);
    for (const id of ids) expect(await test.view.job(id)).toMatchObject(AS_IF_NEVER_CLAIMED);
  });
});
