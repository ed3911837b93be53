import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { QueueOptions } from '../../lib/core/options/queue-options.js';
import type { RelayTarget } from '../../lib/core/options/relay-options.js';
import { relayKey } from '../../lib/index.js';
import { startOwnServer } from '../support/redis-server.js';
import { listElements, streamEntries } from '../support/relayed.js';
import { newJob, QUEUE, settlement, TestStore, TestWorker } from '../support/store.js';
import { until } from '../support/wait.js';

let test: TestStore;
let key: string;

function open(options: QueueOptions = {}, url?: string, prefix?: string): void {
  test = new TestStore(options, url, prefix);
  key = relayKey(QUEUE, test.prefix);
}

/** Its claims are moved to the target. */
function relay(type: RelayTarget['type'], names?: string[], maxLength = 0): TestWorker {
  return new TestWorker(test.sessions.relay('w', names, { type, key, maxLength }));
}

const schedule = (...ids: string[]) => test.scheduleAll(ids.map((id) => newJob({ id, payload: `"${id}"` })));
const queueKey = (name: string) => `${test.prefix}:{${QUEUE}}:${name}`;
const moved = async () => (await streamEntries(test.redis, key)).map(({ id }) => id);

beforeEach(() => open());

afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.redis.del(key);
  await test.close();
});

describe('a turn of a relay', () => {
  it.each(['stream', 'list'] as const)(
    'moves what is due to a %s, and leaves nothing of it in the queue',
    async (type) => {
      await schedule('a', 'b', 'c');
      await test.schedule({ id: 'later', due: { delayMs: 3_600_000 } });
      const answer = await relay(type).turn({ limit: 10 });
      expect(answer.claimed).toEqual([]);
      const out = type === 'stream' ? await streamEntries(test.redis, key) : await listElements(test.redis, key);
      expect(out.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
      expect(await test.view.counts()).toEqual({ scheduled: 1, due: 0, active: 0, completed: 0, dead: 0 });
      expect(await test.view.stats()).toMatchObject({ scheduled: 4, started: 3, completed: 3 });
      for (const hash of ['jobs', 'claims', 'failures']) expect(await test.redis.hexists(queueKey(hash), 'a')).toBe(0);
      expect(await test.redis.exists(queueKey('fence'))).toBe(0);
    },
  );

  it('moves at most what it has room for, and says to look again at once where there is more', async () => {
    await schedule('a', 'b', 'c');
    const session = relay('stream');
    expect((await session.turn({ limit: 2 })).sleepMs).toBeUndefined();
    expect(await moved()).toEqual(['a', 'b']);
    expect((await session.turn({ limit: 2 })).sleepMs).toBeGreaterThan(1_000);
    expect(await moved()).toEqual(['a', 'b', 'c']);
  });

  it('cuts a batch that grows too large for one step', async () => {
    const payload = JSON.stringify('x'.repeat(1_000_000));
    await test.scheduleAll(Array.from({ length: 10 }, () => newJob({ payload })));
    const session = relay('list');
    expect((await session.turn({ limit: 10 })).sleepMs).toBe(0);
    expect(await test.redis.llen(key)).toBe(8);
    await session.turn({ limit: 10 });
    expect((await listElements(test.redis, key)).map((job) => JSON.stringify(job.payload) === payload)).toEqual(
      Array(10).fill(true),
    );
  });

  it('remembers ids that were chosen, forgets tags, and keeps no completed jobs', async () => {
    await test.close();
    open({ keepCompleted: 10, keepIdsMs: 60_000 });
    await schedule('chosen');
    await test.schedule({ tags: ['t1', 't2'] });
    expect(await test.redis.zcard(queueKey('tag:t1'))).toBe(1);
    await relay('stream').turn({ limit: 10 });
    expect(await test.schedule({ id: 'chosen' })).toMatchObject({ status: 'ended' });
    expect(await test.view.counts()).toMatchObject({ due: 0, completed: 0 });
    expect(await test.redis.zcard(queueKey('usedIds'))).toBe(1);
    for (const tag of ['t1', 't2']) expect(await test.redis.exists(queueKey(`tag:${tag}`))).toBe(0);
  });

  it('says which attempt it would be', async () => {
    await schedule('a');
    const worker = test.worker('w1');
    const [job] = await worker.claim();
    await worker.settle(settlement.retry(job!, 0));
    await relay('stream').turn({ limit: 10 });
    expect(await streamEntries(test.redis, key)).toMatchObject([{ id: 'a', attempt: '2' }]);
  });

  it('obeys a pause and the rate, and neither waits for nor takes a place of the limit over all processes', async () => {
    await test.close();
    open({ globalConcurrency: 1, rateLimit: { max: 4, perMs: 60_000 } });
    await schedule('a', 'b', 'c', 'd', 'e', 'f');
    const worker = test.worker('w1');
    expect(await worker.claim(1)).toHaveLength(1);
    await test.redis.hset(queueKey('gate'), 'pausedUntil', 'inf');
    const session = relay('stream');
    await session.turn({ limit: 10 });
    expect(await moved()).toEqual([]);
    await test.redis.hdel(queueKey('gate'), 'pausedUntil');
    await session.turn({ limit: 10 });
    expect(await moved()).toEqual(['b', 'c', 'd']);
    expect(await test.view.counts()).toMatchObject({ active: 1, due: 2 });
  });

  it('meets the late rules, and turns away what nobody could read', async () => {
    const lateness = (onLate: 'run' | 'discard' | 'dead-letter') => ({ maxLatenessMs: 0, onLate });
    await test.schedule({ id: 'ok' });
    await test.schedule({ id: 'gone' });
    await test.schedule({ id: 'unreadable' });
    let lastDueAt = 0;
    for (const onLate of ['run', 'discard', 'dead-letter'] as const)
      lastDueAt = (await test.schedule({ id: onLate, lateness: lateness(onLate), due: { delayMs: 1 } })).dueAtMs!;
    await test.redis.hdel(queueKey('jobs'), 'gone');
    await test.redis.hset(queueKey('jobs'), 'unreadable', '5::work\nno number');
    await until('they are late', async () => {
      const [seconds, micros] = await test.redis.time();
      return Number(seconds) * 1_000 + Number(micros) / 1_000 > lastDueAt + 1;
    });
    const { brokenJobs, late } = await relay('stream').turn({ limit: 10 });
    expect(brokenJobs).toEqual([
      { id: 'gone', name: 'work', attempt: 0, reason: 'envelope-missing' },
      { id: 'unreadable', name: 'work', attempt: 0, reason: 'unreadable' },
    ]);
    expect(late.map(({ id, onLate }) => `${id}: ${onLate}`).sort()).toEqual([
      'dead-letter: dead-letter',
      'discard: discard',
      'run: run',
    ]);
    expect(await moved()).toEqual(['ok', 'run']);
    expect(await test.view.stats()).toMatchObject({ started: 2, completed: 2, discarded: 1, dead: 3 });
    await test.redis.hset(queueKey('jobs'), 'unreadable', '5::work\n0 \n\n');
  });

  it.each([
    ['stream', 'list', () => test.redis.rpush(key, 'mine')],
    ['list', 'stream', () => test.redis.xadd(key, '*', 'a', 'b')],
    ['list', 'hash', () => test.redis.hset(key, 'a', 'b')],
  ] as const)('to a %s moves nothing where the key is a %s', async (type, found, make) => {
    await make();
    await schedule('a');
    const session = relay(type);
    await expect(session.turn({ limit: 10 })).rejects.toThrow(
      `relay: the key '${key}' is a ${found}, expected a ${type} or nothing. No job has been moved.`,
    );
    expect(await test.view.counts()).toMatchObject({ due: 1 });
    expect(await test.view.stats()).toEqual({ scheduled: 1 });
    await test.redis.del(key);
    await session.turn({ limit: 10 });
    expect(await test.redis.exists(key)).toBe(1);
  });

  it('recovers the jobs of the dead as any worker does', async () => {
    await test.close();
    open({ leaseMs: 1_000 });
    await schedule('a');
    await test.worker('dies').claim();
    const session = relay('stream');
    const recovered: string[] = [];
    await until('it is found', async () => {
      recovered.push(...(await session.turn({ limit: 10 })).recovered.map(({ id }) => id));
      return recovered.length > 0;
    });
    expect(recovered).toEqual(['a']);
    await session.turn({ limit: 10 });
    expect(await streamEntries(test.redis, key)).toMatchObject([{ id: 'a', attempt: '2' }]);
  });
});

it.each(['stream', 'list'] as const)(
  'a relay to a %s goes on where Redis has no memory left, and loses nothing',
  async (type) => {
    await test.close();
    const server = await startOwnServer();
    open({}, server.url);
    try {
      const ids = Array.from({ length: 50 }, (_, i) => `j${String(i).padStart(2, '0')}`);
      await schedule(...ids);
      const session = relay(type);
      await session.turn({ limit: 10 });
      await test.redis.config('SET', 'maxmemory', '1');
      while ((await session.turn({ limit: 10 })).sleepMs === undefined);
      const out = type === 'stream' ? await streamEntries(test.redis, key) : await listElements(test.redis, key);
      expect(out.map(({ id }) => id)).toEqual(ids);
      expect(await test.view.counts()).toMatchObject({ due: 0, active: 0 });
      await test.redis.config('SET', 'maxmemory', '0');
      expect(await test.audit()).toEqual([]);
    } finally {
      await test.close();
      await server.stop();
      open();
    }
  },
);

it('a relay without the permission to write to its target moves nothing', async () => {
  await test.close();
  const server = await startOwnServer();
  const admin = new TestStore({}, server.url);
  try {
    await admin.redis.call('ACL', 'SETUSER', 'relay', 'on', '>secret', '~*', '&*', '+@all', '-xadd', '-rpush');
    open({}, server.url.replace('redis://', 'redis://relay:secret@'), admin.prefix);
    await Promise.all(['a', 'b'].map((id) => admin.schedule({ id })));
    for (const type of ['stream', 'list'] as const)
      await expect(relay(type).turn({ limit: 10 })).rejects.toThrow(
        // Redis 7, and those after it.
        /can't run this command|has no permissions to run the '(xadd|rpush)' command/,
      );
    expect(await admin.view.counts()).toMatchObject({ due: 2 });
    expect(await admin.view.stats()).toEqual({ scheduled: 2 });
    expect(await admin.audit()).toEqual([]);
  } finally {
    await admin.close();
    await test.close();
    await server.stop();
    open();
  }
});
