import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ClaimedJob, NewJob, Settlement } from '../../lib/store/job-store.js';
import { monitorOf } from '../support/monitor.js';
import { startOwnServer } from '../support/redis-server.js';
import { QUEUE, settlement, TestStore, type TestWorker } from '../support/store.js';
import { until } from '../support/wait.js';

const TAGS = ['vip', 'customer 7: a/b', 'c'];
const LATER = { delayMs: 3_600_000 };

let test: TestStore;
let worker: TestWorker;

function open(options = {}): void {
  test = new TestStore({ leaseMs: 1_000, ...options });
  worker = test.worker('w');
}

beforeEach(() => open());

afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

const key = (name: string) => `${test.prefix}:{${QUEUE}}:${name}`;
const cancel = ({ id, fence }: ClaimedJob): Settlement => ({ id, fence, transition: 'cancel' });

async function tagKeys(): Promise<string[]> {
  return (await test.redis.keys(key('tag:*'))).map((found) => found.slice(key('tag:').length)).sort();
}

async function claimed(job: Partial<NewJob> = {}): Promise<ClaimedJob> {
  await test.schedule({ tags: TAGS, ...job });
  return (await worker.claim())[0]!;
}

async function recovered(by: TestWorker): Promise<void> {
  await until('it is recovered', async () => (await by.turn({ limit: 0 })).recovered.length > 0);
}

describe('no index of a tag outlives its last job, which', () => {
  const ENDS: Record<string, () => Promise<unknown>> = {
    completes: async () => worker.settle(settlement.complete(await claimed())),
    'completes, and its id is remembered': async () =>
      worker.settle({ ...settlement.complete(await claimed({ id: 'r7' })), idWasChosen: true } as Settlement),
    'completes, and is kept': async () => {
      await test.close();
      open({ keepCompleted: 5 });
      await worker.settle(settlement.complete(await claimed()));
    },
    'completes at its second attempt': async () => {
      await worker.settle(settlement.retry(await claimed(), 0));
      await worker.settle(settlement.complete((await worker.claim())[0]!));
    },
    'is discarded': async () => {
      const { id, fence } = await claimed();
      await worker.settle({ id, fence, transition: 'discard', idWasChosen: false });
    },
    'is discarded as it is late': async () => {
      await test.schedule({ tags: TAGS, lateness: { maxLatenessMs: 0, onLate: 'discard' } });
      await until('it is late', async () => (await worker.turn({ limit: 1 })).late.length > 0);
    },
    'is cancelled while it waits': async () => test.jobs.cancel((await test.schedule({ tags: TAGS })).id),
    'is cancelled while it waits to be retried': async () => {
      const job = await claimed();
      await worker.settle(settlement.retry(job, 1_000));
      expect(await test.jobs.cancel(job.id)).toBe(true);
    },
    'is cancelled while it runs': async () => {
      const job = await claimed();
      await test.jobs.cancelRunning(job.id);
      await worker.settle(cancel(job));
    },
    'was to be cancelled when it completed': async () => {
      const job = await claimed();
      await test.jobs.cancelRunning(job.id);
      await worker.settle(settlement.complete(job));
    },
    'was to be cancelled when its worker died': async () => {
      await test.jobs.cancelRunning((await claimed()).id);
      await recovered(test.worker('other'));
    },
    'is dead and pushed out': async () => {
      await test.close();
      open({ keepDead: 0 });
      await worker.settle(settlement.dead(await claimed()));
    },
    'is dead and purged': async () => {
      await worker.settle(settlement.dead(await claimed()));
      expect(await tagKeys()).toEqual([...TAGS].sort());
      await test.management.purgeDead();
    },
    'has lost its envelope, is dead and purged': async () => {
      await worker.settle(settlement.retry(await claimed(), 0));
      await test.redis.del(key('jobs'));
      await until('it is told as broken', async () => (await worker.turn({ limit: 1 })).brokenJobs.length > 0);
      expect(await tagKeys()).toEqual([...TAGS].sort());
      expect(await test.audit()).toEqual([]);
      await test.management.purgeDead();
    },
    'is replaced by one without tags': async () => {
      await test.schedule({ id: 'r7', due: LATER, tags: TAGS });
      await test.replace({ id: 'r7', due: LATER });
    },
    'is removed while it waits': async () => test.jobs.remove((await test.schedule({ tags: TAGS })).id),
    'is dead and removed': async () => {
      const job = await claimed();
      await worker.settle(settlement.dead(job));
      expect(await test.jobs.remove(job.id)).toBe(true);
    },
    'has lost its envelope, is dead and removed': async () => {
      const job = await claimed();
      await worker.settle(settlement.dead(job));
      await test.redis.hdel(key('jobs'), job.id);
      expect(await test.jobs.remove(job.id)).toBe(true);
    },
    'is cleared': async () => {
      await test.schedule({ tags: TAGS });
      expect(await test.management.clear()).toBe(1);
    },
    'is cancelled by one of its tags': async () => {
      await test.schedule({ tags: TAGS });
      expect(await test.management.cancelTagged('c', () => {})).toBe(1);
    },
  };

  it.each(Object.entries(ENDS))('%s', async (_, end) => {
    await end();
    expect(await tagKeys()).toEqual([]);
  });
});

it('a job without tags costs no command more, from its schedule to any of its ends', async () => {
  // Others' traffic would drown what is listened for.
  const server = await startOwnServer();
  const own = new TestStore({}, server.url);
  const monitor = await monitorOf(own.redis);
  const about: string[] = [];
  monitor.on('monitor', (_time: string, args: string[]) => {
    if (args.some((arg) => arg.includes('}:tag:'))) about.push(args[0]!.toUpperCase());
  });
  try {
    const holder = own.worker('w');
    for (const end of [settlement.complete, settlement.dead]) {
      await own.schedule();
      await holder.settle(end((await holder.claim())[0]!));
    }
    await own.jobs.cancel((await own.schedule({ id: 'r7', tags: [] })).id);
    // What is tagged is heard of after them.
    await own.schedule({ tags: ['vip'], due: LATER });
    await until('the index is written', () => about.includes('ZADD'));
    expect(about).toEqual(['ZRANGE', 'ZADD']);
  } finally {
    monitor.disconnect();
    await own.close();
    await server.stop();
  }
});

it('a job whose tags cannot be indexed is refused before anything is written; one that has ended goes all the same', async () => {
  const job = await claimed({ tags: ['vip', 'broken'] });
  await test.redis.del(key('tag:broken'));
  await test.redis.set(key('tag:broken'), 'text');
  await expect(test.schedule({ id: 'r7', tags: ['vip', 'broken'] })).rejects.toMatchObject({ outcome: 'refused' });
  expect(await test.view.job('r7')).toBeUndefined();
  expect(await worker.settle(settlement.complete(job))).toEqual([true]);
  expect(await test.view.stats()).toMatchObject({ scheduled: 1, completed: 1 });
  await test.redis.del(key('tag:broken'));
  expect(await tagKeys()).toEqual([]);
});

it('the envelope of a job without tags is what it was before there were any', async () => {
  const { id } = await test.schedule({ id: 'r7', due: LATER });
  expect(await test.redis.hget(key('jobs'), id)).toMatch(/^5::work\n\d{13} c\n\n\{\}$/);
  const tagged = await test.schedule({ id: 'r8', due: LATER, tags: ['a', 'b'] });
  expect(await test.redis.hget(key('jobs'), tagged.id)).toMatch(/^5::work\n\d{13} c\ta\tb\n\n\{\}$/);
});
