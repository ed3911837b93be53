import { createHash } from 'node:crypto';
import type { QueueSettings } from '../../../core/options/queue-options.js';
import type { RelayTarget } from '../../../core/options/relay-options.js';
import type { CallSize } from '../../call-size.js';
import type { QueueSessions, Session, SessionNames } from '../../job-store.js';
import type { ListedOptions } from '../codec/listed-options.js';
import { encodeTraits } from '../codec/worker-traits.js';
import type { QueueKeys } from '../keys.js';
import { ServerClock } from '../link/server-clock.js';
import { checkRelayKey } from '../relay-key.js';
import type { GivenArguments } from '../scripts/bound-script.js';
import { RedisSession, type SessionLink } from './redis-session.js';

/** The crew, and the one name, of those that take every name; the scripts know it. */
const EVERY_NAME = '*';

/** The part of the longest sleep by which a session may look earlier. */
const EARLIER = 0.2;

/** The sessions of one queue. */
export class RedisSessions implements QueueSessions {
  private relays = 0;

  constructor(
    private readonly link: () => SessionLink,
    private readonly keys: QueueKeys,
    private readonly settings: QueueSettings,
    private readonly options: {
      queue: string;
      prefix: string;
      given: GivenArguments;
      listedOptions: ListedOptions;
      /** As of `ServerClock`. */
      jumped(byMs: number): void;
      isUsed(): void;
      /** A session says with its next turn that it is here. */
      isListed(session: string): void;
      random(): number;
    },
  ) {}

  worker(workerId: string, { names, limited, calls }: SessionNames): Session {
    return this.open(workerId, crewOf(names, limited), names, this.traits(this.settings.concurrency, names, calls));
  }

  /** Under a name of its own, as each session numbers its own calls; no worker's id has a '~'. */
  pull(workerId: string, names: readonly string[] | undefined): Session {
    const crew = names ? crewOf(names, false) : EVERY_NAME;
    return this.open(`${workerId}~pull-${crew}`, crew, names ?? [EVERY_NAME], this.traits(0, []));
  }

  /** Each under a name of its own: several may move the same names to different targets. */
  relay(workerId: string, names: readonly string[] | undefined, target: RelayTarget): Session {
    const { queue, prefix, given } = this.options;
    checkRelayKey(target.key, queue, prefix, given.clustered);
    const crew = names ? crewOf(names, false) : EVERY_NAME;
    return this.open(`${workerId}~relay-${++this.relays}`, crew, names ?? [EVERY_NAME], this.traits(0, []), target);
  }

  private traits(concurrency: number, names: readonly string[], calls?: ReadonlyMap<string, CallSize>): string {
    return encodeTraits(this.options.listedOptions.digest, concurrency, names, calls);
  }

  private open(id: string, crew: string, names: readonly string[], traits: string, target?: RelayTarget): Session {
    const { keys, options } = this;
    const link = this.link();
    const clock = new ServerClock(link.connection, keys, options.jumped);
    // Those that begin together, or return together after an outage, would look together from then on. So each has a pace of its own.
    const longestMs = Math.min(this.settings.maxSleepMs, this.settings.leaseMs / 3);
    const settings = { ...this.settings, maxSleepMs: Math.ceil(longestMs * (1 - EARLIER * options.random())) };
    const who = { id, crew, names, traits, options: options.listedOptions, target };
    return new RedisSession(link, clock, keys, who, settings, options);
  }
}

/** Workers with the same names are one crew, whatever order the names come in; an 'l' says that handlers have limits there. */
function crewOf(names: readonly string[], limited: boolean): string {
  const hash = createHash('sha1')
    .update([...names].sort().join('\n'))
    .digest('hex');
  return `${hash.slice(0, 12)}${limited ? 'l' : ''}`;
}
