import { createHash } from 'node:crypto';
import type { QueueSettings } from '../../../core/options/queue-options.js';
import type { RelayTarget } from '../../../core/options/relay-options.js';
import type { SeatNames } from '../../job-store.js';
import { queueKeys } from '../keys.js';
import type { RedisConnection } from '../link/connection.js';
import { ServerClock } from '../link/server-clock.js';
import type { WakeListener } from '../link/wake-listener.js';
import { checkRelayKey } from '../relay-key.js';
import { RedisWorkerSeat } from './worker-seat.js';

/** The group, and the one name, of those that take every name; the scripts know it. */
const EVERY_NAME = '*';

/** The places at queues that this process takes. They share a connection, and one more for messages. */
export class RedisSeats {
  private relays = 0;

  constructor(
    private readonly connection: RedisConnection,
    private readonly listener: WakeListener,
    private readonly prefix: string,
    private readonly clustered: boolean,
  ) {}

  forWorker(queue: string, worker: string, { names, limited }: SeatNames, settings: QueueSettings): RedisWorkerSeat {
    return this.take(queue, worker, groupOf(names, limited), names, settings);
  }

  /** Under a name of its own, as each seat numbers its own calls; no worker's id has a '~'. */
  forPuller(
    queue: string,
    worker: string,
    names: readonly string[] | undefined,
    settings: QueueSettings,
  ): RedisWorkerSeat {
    const group = names ? groupOf(names, false) : EVERY_NAME;
    return this.take(queue, `${worker}~pull-${group}`, group, names ?? [EVERY_NAME], settings);
  }

  /** Each under a name of its own: several may move the same names to different targets. Throws `InvalidOptionsError`. */
  forRelay(
    queue: string,
    worker: string,
    names: readonly string[] | undefined,
    target: RelayTarget,
    settings: QueueSettings,
  ): RedisWorkerSeat {
    checkRelayKey(target.key, queue, this.prefix, this.clustered);
    const group = names ? groupOf(names, false) : EVERY_NAME;
    return this.take(queue, `${worker}~relay-${++this.relays}`, group, names ?? [EVERY_NAME], settings, target);
  }

  close(): void {
    this.connection.close();
    this.listener.close();
  }

  private take(
    queue: string,
    seat: string,
    group: string,
    names: readonly string[],
    settings: QueueSettings,
    target?: RelayTarget,
  ): RedisWorkerSeat {
    const keys = queueKeys(this.prefix, queue);
    const clock = new ServerClock(keys);
    const { connection, listener, clustered } = this;
    return new RedisWorkerSeat(connection, listener, clock, keys, seat, group, names, settings, clustered, target);
  }
}

/** Workers with the same names are one group, whatever order the names come in; an 'l' says that handlers have limits there. */
function groupOf(names: readonly string[], limited: boolean): string {
  const hash = createHash('sha1')
    .update([...names].sort().join('\n'))
    .digest('hex');
  return `${hash.slice(0, 12)}${limited ? 'l' : ''}`;
}
