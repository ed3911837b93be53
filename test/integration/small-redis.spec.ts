import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { toBytes } from '../../lib/testing/redis/bytes.js';
import { Status } from '../../lib/testing/redis/reply.js';
import { SmallRedis } from '../../lib/testing/redis/small-redis.js';
import { redisUrl } from '../support/queue-app.js';
import { seededRandom } from '../support/random.js';
import { randomCommand } from '../support/random-commands.js';

// The test kit runs the scripts over a small Redis of its own: whatever that answers, a real one answers too.

const SEEDS = Number(process.env.COMMAND_SEEDS ?? 5);
const STEPS = 2_000;
/** No other test uses it. */
const DATABASE = 13;

let redis: Redis;

beforeAll(() => {
  redis = new Redis(redisUrl(), { db: DATABASE });
});

afterAll(async () => {
  await redis.flushdb();
  redis.disconnect();
});

describe('the small Redis answers random commands as a real one does', () => {
  it.each(Array.from({ length: SEEDS }, (_, i) => i + 1))('seed %i', async (seed) => {
    await redis.flushdb();
    const small = new SmallRedis(Date.now);
    const random = seededRandom(seed);
    const commands = Array.from({ length: STEPS }, () => randomCommand(random));
    const pipeline = redis.pipeline();
    for (const [name, ...args] of commands)
      pipeline.callBuffer(name, ...args.map((arg) => Buffer.from(toBytes(arg), 'latin1')));
    const real = (await pipeline.exec())!;
    for (const [step, [name, ...args]] of commands.entries()) {
      const [error, reply] = real[step]!;
      const expected = error ? `error: ${error.message}` : inOneList(args, asBytes(reply));
      expect([step, name, ...args, inOrder(name, answer(small, name, args))]).toEqual([
        step,
        name,
        ...args,
        inOrder(name, expected),
      ]);
    }
  });
});

function answer(small: SmallRedis, name: string, args: readonly string[]): unknown {
  try {
    const reply = small.command(name, args.map(toBytes));
    return reply instanceof Status ? reply.text : reply;
  } catch (error) {
    return `error: ${(error as Error).message}`;
  }
}

function asBytes(reply: unknown): unknown {
  if (Buffer.isBuffer(reply)) return reply.toString('latin1');
  return Array.isArray(reply) ? reply.map(asBytes) : reply;
}

/** A client that speaks RESP3 gets members and scores in pairs; scripts do not. */
const inOneList = (args: readonly string[], reply: unknown): unknown =>
  args.includes('WITHSCORES') && Array.isArray(reply) ? reply.flat() : reply;

/** Redis promises no order of what a set or a hash holds. */
function inOrder(name: string, reply: unknown): unknown {
  return ['SMEMBERS', 'HGETALL'].includes(name) && Array.isArray(reply) ? [...reply].sort() : reply;
}
