import type { RedisConnection } from './connection.js';

/**
 * By how many ms the clock of Redis is ahead of this process's. The answer is taken to have been given halfway of the round trip, so it is
 * wrong by half of that at most. On a cluster one of the nodes is asked. `giveUpAt` is a time of `performance.now()`. Throws
 * `QueueUnavailableError`.
 */
export async function clockOffsetOf(connection: Pick<RedisConnection, 'read'>, giveUpAt: number): Promise<number> {
  let sentAt = 0;
  const [seconds, micros] = await connection.read(
    'time',
    (client) => {
      sentAt = performance.now();
      return client.time();
    },
    giveUpAt,
  );
  const underWayMs = performance.now() - sentAt;
  return Number(seconds) * 1_000 + Number(micros) / 1_000 - (Date.now() - underWayMs / 2);
}
