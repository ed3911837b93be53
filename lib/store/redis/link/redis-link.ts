import type { RedisConnection } from './connection.js';
import type { LinkRate } from './link-rate.js';
import type { Uplink } from './uplink.js';
import type { WakeListener } from './wake-listener.js';

/** What calls need of a connection. In production `RedisConnection` is one; a test may run the scripts without a server. */
export interface RedisLink extends Pick<RedisConnection, 'run' | 'read' | 'now' | 'ready' | 'received' | 'trouble'> {
  readonly uplink: Pick<Uplink, 'most' | 'comesTooLate'>;
  readonly downlink: Pick<LinkRate, 'note' | 'bytesIn'>;
}

/** By what messages are heard. */
export type MessageLink = Pick<WakeListener, 'hears' | 'listen' | 'unlisten'>;
