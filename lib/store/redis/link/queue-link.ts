import { annotated } from './call-error.js';
import type { RedisConnection } from './connection.js';

/** What the calls of one queue are made by. */
export type QueueLink = Pick<RedisConnection, 'run' | 'read'>;

/** The same connection, but the errors of its calls say which queue they are about. */
export function linkOf(queue: string, connection: RedisConnection): QueueLink {
  return {
    run: (...call) => annotated(connection.run(...call), { queue }),
    read: (...call) => annotated(connection.read(...call), { queue }),
  };
}
