import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ClaimedJob, NewJob, Settlement } from '../../lib/store/job-store.js';
import { RedisConnection } from '../../lib/store/redis/link/connection.js';
import { payloadOf, QUEUE, settlement, TestStore, type TestWorker } from '../support/store.js';

const HOUR_MS = 3_600_000;
const LATER = { delayMs: HOUR_MS };

let test: TestStore;
let worker: TestWorker;
const { run } = RedisConnection.prototype;

beforeEach(() => {
  test = new TestStore({ keepCompleted: 10 });
  worker = test.worker('w');
});

afterEach(async () => {
  RedisConnection.prototype.run = run;
  expect(await test.audit()).toEqual([]);
  await test.close();
});

const key = (name: string) => `${test.prefix}:{${QUEUE}}:${name}`;
const schedule = (job: Partial<NewJob> = {}) => test.schedule({ id: 'mine', due: LATER, ...job });
const replace = (job: Partial<NewJob> = {}) => test.replace({ id: 'mine', due: LATER, ...job });

async function running(job: Partial<NewJob> = {}): Promise<ClaimedJob> {
  await schedule({ due: { delayMs: 0 }, ...job });
  return (await worker.claim())[0]!;
}

const chosen = (end: Settlement) => ({ ...end, idWasChosen: true }) as Settlement;

/** Ways to a state, and what a call answers under the id, with 'keep' and with 'replace'. */
const STATES: [string, () => Promise<unknown>, string, string][] = [
  ['is unknown', async () => {}, 'created', 'created'],
  ['waits', () => schedule(), 'waiting', 'replaced'],
  [
    'waits for its next attempt',
    async () => worker.settle(settlement.retry(await running(), HOUR_MS)),
    'waiting',
    'replaced',
  ],
  ['runs', () => running(), 'active', 'queued'],
  ['is dead', async () => worker.settle(chosen(settlement.dead(await running()))), 'dead', 'created'],
  ['has completed', async () => worker.settle(chosen(settlement.complete(await running()))), 'ended', 'created'],
  [
    'was discarded',
    async () => {
      const { id, fence } = await running();
      await worker.settle({ id, fence, transition: 'discard', idWasChosen: true });
    },
    'ended',
    'created',
  ],
  [
    'was cancelled',
    async () => {
      await schedule();
      await test.jobs.cancel('mine');
    },
    'created',
    'created',
  ],
  [
    'was cancelled by its tag',
    async () => {
      await schedule({ tags: ['vip'] });
      await test.management.cancelTagged('vip', () => {});
    },
    'created',
    'created',
  ],
  [
    'was cancelled while it ran',
    async () => {
      const job = await running();
      await test.jobs.cancelRunning('mine');
      await worker.settle(chosen(settlement.complete(job)));
    },
    'created',
    'created',
  ],
  [
    'was removed',
    async () => {
      await schedule();
      await test.jobs.remove('mine');
    },
    'created',
    'created',
  ],
  [
    'was removed after it had completed',
    async () => {
      await worker.settle(chosen(settlement.complete(await running())));
      expect(await test.jobs.remove('mine')).toBe(true);
    },
    'created',
    'created',
  ],
  [
    'was removed after it had died',
    async () => {
      await worker.settle(chosen(settlement.dead(await running())));
      await test.jobs.remove('mine');
    },
    'created',
    'created',
  ],
  [
    'was purged',
    async () => {
      await worker.settle(chosen(settlement.dead(await running())));
      await test.management.purgeDead();
    },
    'created',
    'created',
  ],
  [
    'was cleared',
    async () => {
      await schedule();
      await test.management.clear();
    },
    'created',
    'created',
  ],
];

describe('an id whose job', () => {
  it.each(STATES)("%s says so under 'keep', and when its job is due", async (_, make, expected) => {
    await make();
    const before = await test.view.job('mine');
    const { status, dueAtMs } = await schedule();
    expect(status).toBe(expected);
    const job = await test.view.job('mine');
    expect(dueAtMs).toBe(status === 'ended' ? null : job!.dueAtMs);
    if (status !== 'created') expect(job).toEqual(before);
  });

  it.each(STATES)(
    "%s says so under 'replace', and the new job is in its place or behind it",
    async (_, make, __, expected) => {
      await make();
      const { status, dueAtMs } = await replace({ payload: 'new' });
      expect(status).toBe(expected);
      const job = (await test.view.job('mine'))!;
      expect(dueAtMs).toBe(status === 'queued' ? job.queuedDueAtMs : job.dueAtMs);
      if (status !== 'queued') {
        expect(job).toMatchObject({ state: 'scheduled', attempts: 0, failures: [] });
        expect(payloadOf(job)).toBe('new');
      }
      expect(await test.redis.exists(key('dead'), key('usedIds'), key('results'))).toBe(0);
    },
  );

  it('was pushed out of the dead is remembered from then on, where the caller had chosen it', async () => {
    await test.close();
    test = new TestStore({ keepDead: 1 }, undefined, test.prefix);
    worker = test.worker('w');
    await worker.settle(chosen(settlement.dead(await running())));
    await worker.settle(settlement.dead(await running({ id: undefined })));
    expect(await test.view.job('mine')).toBeUndefined();
    expect(await schedule()).toEqual({ id: 'mine', status: 'ended', dueAtMs: null });
    await worker.settle(settlement.dead(await running({ id: undefined })));
    expect(await test.redis.zcard(key('usedIds'))).toBe(1);
  });

  it('was replayed waits, and is remembered once it completes', async () => {
    await worker.settle(chosen(settlement.dead(await running())));
    await test.management.replayDead('mine', { delayMs: 0 });
    expect(await schedule()).toMatchObject({ status: 'waiting' });
    const [job] = await worker.claim();
    await worker.settle(chosen(settlement.complete(job!)));
    expect(await schedule()).toMatchObject({ status: 'ended' });
  });
});

describe("an id is 'taken'", () => {
  it.each<[string, () => Promise<unknown>]>([
    ['waits', () => schedule()],
    ['runs', () => running()],
    ['is dead', async () => worker.settle(settlement.dead(await running()))],
  ])('while a job of another name %s, under keep and replace', async (_, make) => {
    await make();
    const before = (await test.view.job('mine'))!;
    const taken = { id: 'mine', status: 'taken', takenBy: 'work', dueAtMs: before.dueAtMs };
    expect(await schedule({ name: 'any other' })).toEqual(taken);
    expect(await replace({ name: 'any other' })).toEqual(taken);
    expect(await test.view.job('mine')).toEqual(before);
  });

  it('and no longer once that job has ended', async () => {
    await worker.settle(chosen(settlement.complete(await running())));
    expect(await schedule({ name: 'other' })).toMatchObject({ status: 'ended' });
    expect(await replace({ name: 'other' })).toMatchObject({ status: 'created' });
  });

  it('by the first of two names in one call, whose names hold spaces', async () => {
    const jobs = ['send a mail', 'ring a bell', 'send a mail'].map((name) => ({ name, id: 'mine', due: LATER }));
    const answers = await Promise.all(jobs.map((job) => test.schedule(job)));
    expect(answers).toMatchObject([
      { status: 'created' },
      { status: 'taken', takenBy: 'send a mail' },
      { status: 'waiting' },
    ]);
    expect(new Set(answers.map(({ dueAtMs }) => dueAtMs)).size).toBe(1);
  });
});

it('a dead job that is replaced counts as pushed out, and its history is forgotten', async () => {
  await worker.settle(settlement.dead(await running({ tags: ['old'] })));
  expect(await replace({ tags: ['new'] })).toMatchObject({ status: 'created', pushedOut: true });
  expect(await test.view.stats()).toMatchObject({ scheduled: 2, dead: 1, deadDropped: 1 });
  expect(await test.redis.exists(key('tag:old'), key('failures'), key('claims'))).toBe(0);
});

it('a job that has crashed and is replaced keeps its crashes', async () => {
  await running();
  await test.redis.zadd(key('active'), Date.now() - 1, 'mine');
  await worker.turn({});
  expect(await test.view.job('mine')).toMatchObject({ state: 'due', crashes: 1 });
  expect(await replace({ due: { delayMs: 0 } })).toMatchObject({ status: 'replaced' });
  expect((await worker.claim())[0]).toMatchObject({ attempt: 1, crashes: 1 });
});

describe('a call that arrives twice is answered alike both times, whatever happened in between', () => {
  /** Each call of these scripts arrives a second time, whose answer counts, after `between`. */
  function arriveTwice(between: () => Promise<unknown>): void {
    RedisConnection.prototype.run = async function (this: RedisConnection, ...args) {
      const first = await run.apply(this, args);
      if (args[0] !== 'schedule' && args[0] !== 'replace') return first;
      RedisConnection.prototype.run = run;
      await between();
      const second = await run.apply(this, args);
      expect([(first as string[])[0], (second as string[])[0]]).toEqual(['done', 'replayed']);
      return second;
    };
  }

  it.each(
    STATES.flatMap(([state, make, keep, replace]) => [
      [state, 'keep', make, keep] as const,
      [state, 'replace', make, replace] as const,
    ]),
  )('where the job %s, under %s', async (_, how, make, status) => {
    await make();
    arriveTwice(async () => {
      await test.jobs.cancel('mine');
      await test.management.purgeDead();
    });
    expect(await (how === 'replace' ? replace() : schedule())).toMatchObject({
      status,
      dueAtMs: status === 'ended' ? null : expect.any(Number),
    });
  });

  it('where the id is taken by a job whose name holds spaces', async () => {
    await schedule({ name: 'send a mail' });
    for (const call of [replace, schedule]) {
      arriveTwice(async () => {});
      expect(await call()).toMatchObject({ status: 'taken', takenBy: 'send a mail' });
    }
  });
});
