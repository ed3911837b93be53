import { expect, it } from '@jest/globals';
import { queueKeys } from '../../../../../lib/store/redis/keys.js';
import type { RedisConnection } from '../../../../../lib/store/redis/link/connection.js';
import type { ScriptName } from '../../../../../lib/store/redis/scripts/embedded.js';
import { RedisInspection } from '../../../../../lib/store/redis/view/inspection.js';

const NOW = 1_700_000_000_000;

/** A Redis with one job of a lane, and the time by which each call to it is given up. */
function slowRedis() {
  const deadlines: number[] = [];
  const replies: Partial<Record<ScriptName, unknown>> = {
    clock: String(NOW),
    heads: ['0', ['a\t5::ping', String(NOW - 1)], []],
    lanes: [[]],
    jobs: [[]],
  };
  const answer = async (reply: unknown, giveUpAt: number) => {
    deadlines.push(giveUpAt);
    await new Promise((resolve) => setTimeout(resolve, 5));
    return reply;
  };
  const connection = {
    now: () => performance.now(),
    read: (_kind: unknown, _command: unknown, giveUpAt: number) => answer(['5'], giveUpAt),
    run: (script: ScriptName, _keys: unknown, _args: unknown, giveUpAt: number) => answer(replies[script], giveUpAt),
  } as unknown as RedisConnection;
  return { connection, deadlines };
}

it.each([
  ['list', (inspection: RedisInspection) => inspection.list('due', 0, 10, { mode: 'strict' }, (job) => job)],
  ['peek', (inspection: RedisInspection) => inspection.peek(10, { mode: 'strict' }, (job) => job)],
])('all calls that a %s makes share one time by which they are given up', async (_, look) => {
  const { connection, deadlines } = slowRedis();
  await look(new RedisInspection(connection, queueKeys('sq', 'mail'), 5_000));
  expect(deadlines.length).toBeGreaterThan(4);
  expect(new Set(deadlines).size).toBe(1);
});
