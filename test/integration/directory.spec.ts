import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { RedisConnection } from '../../lib/store/redis/link/connection.js';
import { startOwnServer } from '../support/redis-server.js';
import { TestStore } from '../support/store.js';

const START = 1_700_000_000_000;
const MOST_A_READ = 5_000;

const readOnce = RedisConnection.prototype.read;
let test: TestStore;

beforeEach(() => {
  test = new TestStore();
});

afterEach(async () => {
  RedisConnection.prototype.read = readOnce;
  await test.redis.del(directory());
  await test.close();
});

const directory = () => `${test.prefix}:{*}:queues`;
const nameOf = (i: number) => `queue-${String(i).padStart(5, '0')}`;

/** Notes so many queues, each at its time. */
async function note(count: number, seenAt: (i: number) => number): Promise<void> {
  const entries = Array.from({ length: count }, (_, i) => [seenAt(i), nameOf(i)]);
  for (let i = 0; i < count; i += 1_000) await test.redis.zadd(directory(), ...entries.slice(i, i + 1_000).flat());
}

/** How many queues each read has answered from now on. `afterFirst` runs between the first read and the next. */
function watchReads(afterFirst: () => Promise<unknown> = async () => {}): number[] {
  const sizes: number[] = [];
  RedisConnection.prototype.read = async function <T>(
    this: RedisConnection,
    ...call: Parameters<typeof readOnce<T>>
  ): Promise<T> {
    const reply = await readOnce.apply(this, call as Parameters<typeof readOnce>);
    if (!Array.isArray(reply)) return reply as T;
    sizes.push((reply as unknown as [string, unknown[]])[1].length / 2);
    if (sizes.length === 1) await afterFirst();
    return reply as T;
  };
  return sizes;
}

it('twelve thousand queues are read some thousand at a time, and told once each, by name', async () => {
  const seenAt = (i: number) => START + ((i * 7_919) % 12_000);
  await note(12_000, seenAt);
  const sizes = watchReads();
  const expected = Array.from({ length: 12_000 }, (_, i) => ({ name: nameOf(i), lastSeenAtMs: seenAt(i) }));
  expect(await test.store.queues()).toEqual(expected);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(MOST_A_READ);
});

it('no queue is left out where others are noted between two reads', async () => {
  await note(12_000, (i) => START + i);
  const sizes = watchReads(() => test.redis.zadd(directory(), START + 20_000, nameOf(3), START + 20_001, nameOf(4)));
  expect((await test.store.queues()).map(({ name }) => name)).toEqual(
    Array.from({ length: 12_000 }, (_, i) => nameOf(i)),
  );
  expect(sizes.length).toBeGreaterThan(2);
});

it('no queue is left out where Redis is restarted between two reads', async () => {
  const server = await startOwnServer();
  await test.close();
  test = new TestStore({}, server.url);
  try {
    await note(12_000, (i) => START + i);
    const sizes = watchReads(async () => {
      await test.redis.save();
      await server.kill();
      await server.restart();
    });
    expect(await test.store.queues()).toHaveLength(12_000);
    expect(sizes.length).toBeGreaterThan(2);
    await test.redis.del(directory());
  } finally {
    await test.close();
    await server.stop();
    test = new TestStore();
  }
});
