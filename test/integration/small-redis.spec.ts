import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { toBytes } from '../../lib/testing/redis/bytes.js';
import type { Command } from '../../lib/testing/redis/commands/command.js';
import { COMMANDS } from '../../lib/testing/redis/commands/index.js';
import { type Reply, Status } from '../../lib/testing/redis/reply.js';
import { SmallRedis } from '../../lib/testing/redis/small-redis.js';
import { redisUrl } from '../support/queue-app.js';
import { seededRandom } from '../support/random.js';
import { type RandomCommand, randomCommand } from '../support/random-commands.js';

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
    const commands = commandsOf(seed);
    expect(differenceOf(commands, await answersOf(commands))).toBeUndefined();
  });
});

describe('a command that answers otherwise is found', () => {
  const commands = commandsOf(1);
  let real: unknown[];

  beforeAll(async () => {
    real = await answersOf(commands);
  });

  // The time is another one with each question, and nobody hears what is published here.
  const names = Object.keys(COMMANDS).filter((name) => name !== 'TIME');
  it.each(names)('%s', (name) => {
    const right = COMMANDS[name]!;
    COMMANDS[name] = (keys, args) => otherThan(right(keys, args));
    try {
      expect(differenceOf(commands, real)).toMatch(new RegExp(`^${name} `, 'i'));
    } finally {
      COMMANDS[name] = right;
    }
  });
});

function commandsOf(seed: number): RandomCommand[] {
  const random = seededRandom(seed);
  return Array.from({ length: STEPS }, () => randomCommand(random));
}

/** What a real Redis answers to these commands in turn. */
async function answersOf(commands: readonly RandomCommand[]): Promise<unknown[]> {
  await redis.flushdb();
  const pipeline = redis.pipeline();
  for (const [name, ...args] of commands)
    pipeline.callBuffer(name, ...args.map((arg) => Buffer.from(toBytes(arg), 'latin1')));
  const replies = (await pipeline.exec())!;
  return replies.map(([error, reply], step) =>
    error ? `error: ${error.message}` : inOneList(commands[step]!.slice(1), asBytes(reply)),
  );
}

/** The first command to which the small Redis answers otherwise, with both answers. */
function differenceOf(commands: readonly RandomCommand[], real: readonly unknown[]): string | undefined {
  const small = new SmallRedis(Date.now);
  for (const [step, [name, ...args]] of commands.entries()) {
    const [ours, theirs] = [answer(small, name, args), real[step]].map((reply) => JSON.stringify(inOrder(name, reply)));
    if (ours !== theirs) return `${name} ${JSON.stringify(args)} (step ${step}): ${ours} instead of ${theirs}`;
  }
  return undefined;
}

function answer(small: SmallRedis, name: string, args: readonly string[]): unknown {
  try {
    const reply = small.command(name, args.map(toBytes));
    return reply instanceof Status ? reply.text : reply;
  } catch (error) {
    return `error: ${(error as Error).message}`;
  }
}

function otherThan(reply: ReturnType<Command>): Reply {
  if (Array.isArray(reply)) return [...reply, 'planted'];
  return typeof reply === 'number' ? reply + 1 : 'planted';
}

function asBytes(reply: unknown): unknown {
  if (Buffer.isBuffer(reply)) return reply.toString('latin1');
  return Array.isArray(reply) ? reply.map(asBytes) : reply;
}

/** A client that speaks RESP3 gets members and scores in pairs; scripts do not. */
const inOneList = (args: readonly string[], reply: unknown): unknown =>
  args.includes('WITHSCORES') && Array.isArray(reply) ? reply.flat() : reply;

/** Redis promises no order of what a set or a hash holds. */
const UNORDERED = new Set(['SMEMBERS', 'HGETALL', 'HSCAN', 'ZSCAN']);

function inOrder(name: string, reply: unknown): unknown {
  return UNORDERED.has(name) && Array.isArray(reply) ? reply.flat().sort() : reply;
}
