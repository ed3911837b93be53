import type { QueueSettings } from '../../../core/options/queue-options.js';
import type { RelayTarget } from '../../../core/options/relay-options.js';
import type { CallSize } from '../../call-size.js';
import type { QueueSessions, Session, SessionNames } from '../../job-store.js';
import { ALL_VERSIONS, crewOf, EVERY_NAME, LIMITED } from '../codec/crew-name.js';
import type { ListedOptions } from '../codec/listed-options.js';
import { versionedNames } from '../codec/versioned-name.js';
import { encodeTraits } from '../codec/worker-traits.js';
import type { QueueKeys } from '../keys.js';
import { ServerClock } from '../link/server-clock.js';
import { checkRelayKey } from '../relay-key.js';
import type { GivenArguments } from '../scripts/bound-script.js';
import { RedisSession, type SessionLink } from './redis-session.js';

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

  worker(workerId: string, { names, limited, versions, calls }: SessionNames): Session {
    const handled = versionedNames(names, versions);
    const traits = this.traits(this.settings.concurrency, names, calls);
    return this.open(workerId, crewOf(handled, limited ? LIMITED : ''), handled, traits);
  }

  /** Under a name of its own, as each session numbers its own calls; no worker's id has a '~'. */
  pull(workerId: string, names: readonly string[] | undefined): Session {
    const crew = names ? crewOf(names, ALL_VERSIONS) : EVERY_NAME;
    return this.open(`${workerId}~pull-${crew}`, crew, names ?? [EVERY_NAME], this.traits(0, []));
  }

  /** Each under a name of its own: several may move the same names to different targets. */
  relay(workerId: string, names: readonly string[] | undefined, target: RelayTarget): Session {
    const { queue, prefix, given } = this.options;
    checkRelayKey(target.key, queue, prefix, given.clustered);
    const crew = names ? crewOf(names, ALL_VERSIONS) : EVERY_NAME;
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
