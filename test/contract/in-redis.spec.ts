import { it } from '@jest/globals';
import { whyNoStoppedRedis } from '../support/stopped-redis.js';
import { holdToContract } from './all-cases.js';
import { RedisWorld } from './redis-world.js';

const missing = whyNoStoppedRedis();
if (missing) {
  process.stdout.write(`The contract is not held against Redis: ${missing}.\n`);
  it.todo('holds the store in Redis to its contract');
} else {
  holdToContract('Redis', (clock) => RedisWorld.start(clock));
}
