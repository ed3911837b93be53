import type { Redis } from 'ioredis';

/**
 * A connection that hears every command of a Redis. Where others are busy there, lines of theirs may come together with the answer to
 * MONITOR. ioredis takes these for answers to no command, and tells an error for each; `redis.monitor()` fails by it.
 */
export async function monitorOf(redis: Redis): Promise<Redis> {
  const monitor = redis.duplicate({ monitor: true });
  monitor.on('error', () => {});
  await new Promise((resolve) => monitor.once('monitoring', resolve));
  return monitor;
}
