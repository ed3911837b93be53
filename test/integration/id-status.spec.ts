import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ClaimedJob, NewJob, Settlement } from '../../lib/store/job-store.js';
import { RedisConnection } from '../../lib/store/redis/link/connection.js';
import { settlement, TestStore, type TestWorker } from '../support/store.js';

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
