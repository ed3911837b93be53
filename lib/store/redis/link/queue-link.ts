import type { QueueKeys } from '../keys.js';
import { annotated } from './call-error.js';
import type { RedisLink } from './redis-link.js';

/** What the calls of one queue are made by. */
export type QueueLink = Pick<RedisLink, 'run' | 'read' | 'now'>;

/** The same connection, but what it reads is of the queue, and the errors of its calls say so. */
export function linkOf(queue: string, connection: RedisLink, keys: QueueKeys): QueueLink {
  return {
    now: () => connection.now(),
    run: (...call) => annotated(connection.run(...call), { queue }),
    read: (kind, command, giveUpAt) => annotated(connection.read(kind, command, giveUpAt, keys.stats), { queue }),
  };
}
