import { hostname } from 'node:os';
import { BYTES_A_CLAIM, MOST_JOBS_OF_GROUPS } from '../../../core/constants.js';
import type { QueueSettings } from '../../../core/options/queue-options.js';
import { rateWindowMs } from '../../../core/options/rate-limit.js';
import type { RelayTarget } from '../../../core/options/relay-options.js';
import type { StuckHandlers, Turn } from '../../job-store.js';
import { encodeGroupsRule } from '../codec/group-text.js';
import type { ListedOptions } from '../codec/listed-options.js';
import { encodeStuck } from '../codec/worker-traits.js';
import type { RedisLink } from '../link/redis-link.js';
import type { ServerClock } from '../link/server-clock.js';
import type { InOrderArguments, OrdinaryArguments, RelayArguments, TurnArguments } from '../scripts/turn/contract.js';
import type { HintChannel } from './hint-channel.js';
import { encodeTurn, goesOn, leavesNothing, leavesNothingToTrim } from './turn-lists.js';

/** A claim also asks for no more than the link should carry in a lease divided by this. */
const CLAIMS_A_LEASE = 3;
/** A crew whose names have more characters than this, with a line break around each, does not send them with each turn: `handles:<crew>` is asked. */
const LONG_NAMES = 200;
/** Two instants of Redis' time that were computed after different replies and are no further apart count as one. */
const SAME_INSTANT_MS = 1_000;

/** Who takes part in a session, as Redis knows it. */
export interface SessionIdentity {
  /** The worker's; behind a '~', what tells it from other sessions of the process. */
  readonly id: string;
  /** All sessions that take the same names. */
  readonly crew: string;
  /** With their versions, where the crew does not take all of these. */
  readonly names: readonly string[];
  /** See codec/worker-traits.ts. */
  readonly traits: string;
  readonly options: ListedOptions;
  /** Of a relay: where the jobs go that its turns have capacity for. */
  readonly target?: RelayTarget;
}

/** Whether a turn lists its session, and as what: arguments of turn.lua. */
export type Listing = Pick<TurnArguments, 'presence' | 'host' | 'options'>;

/** Writes the arguments of a session's turns: who it is, the settings of its queue, and what the turn itself says. */
export class SessionArguments {
  /** When its presence must be noted again, a time of the link. */
  private presentUntil = 0;
  private hasLeft = false;
  /** Of the handlers that are stuck: what is listed, and since when the longest of them is, by Redis' clock. */
  private stuck = '';
  private stuckSinceMs = 0;

  /** Whether it was heard when it was listed last: only then others know that its crew may sleep. */
  private heardAsListed = false;

  private readonly groupsRule: string;
  private readonly names: string;
  /**
   * No option of the queue needs a whole turn. An option that `ordinary.lua` does not know belongs here; a use that begins and ends in Redis
   * belongs in `turn/uses.lua` and `turn/uses-beside-groups.lua`.
   */
  private readonly isOrdinaryQueue: boolean;

  constructor(
    private readonly connection: RedisLink,
    private readonly hints: HintChannel,
    private readonly who: SessionIdentity,
    private readonly settings: QueueSettings,
    private readonly clock: ServerClock,
  ) {
    this.groupsRule = encodeGroupsRule(settings);
    const names = `\n${who.names.join('\n')}\n`;
    this.names = names.length > LONG_NAMES ? '' : names;
    this.isOrdinaryQueue =
      settings.ordering.mode === 'strict' && !settings.rateLimit && !Number.isFinite(settings.globalConcurrency);
  }

  /** Whether ordinary.lua may take this turn, as far as this process knows. */
  isOrdinary(turn: Turn, cursor: string, { presence }: Listing): boolean {
    return (
      this.isOrdinaryQueue &&
      cursor === '' &&
      turn.standing === 'stays' &&
      // What `keepEnded` keeps for too long, whole turns drop.
      (presence !== 'here' || this.settings.keepEnded.count === 0) &&
      // A reservation that is held or given up needs a whole turn. The other wishes matter only where there are suspects, and uses.lua then
      // sends the turn on.
      (turn.suspects === '' || turn.suspects === 'take' || turn.suspects === 'reserve') &&
      turn.settlements.every((settlement) => leavesNothingToTrim(settlement, this.settings))
    );
  }

  /** Whether in-order.lua may take a turn that `isOrdinary`, in a queue that uses groups and nothing else. */
  isInOrder({ limit, settlements, renewals, reports, handlers }: Turn, { presence }: Listing): boolean {
    const { settings } = this;
    return (
      settings.groups.order === 'fifo' &&
      !settings.groups.rateLimit &&
      presence === '' &&
      limit > 0 &&
      limit < MOST_JOBS_OF_GROUPS &&
      renewals.length === 0 &&
      !reports?.length &&
      handlers.length === 0 &&
      settlements.every((settlement) => leavesNothing(settlement, settings) && !goesOn(settlement))
    );
  }

  ofInOrder(turn: Turn): InOrderArguments {
    const { settings, who } = this;
    return {
      session: who.id,
      crew: who.crew,
      leaseMs: settings.leaseMs,
      maxSleepMs: settings.maxSleepMs,
      limit: turn.limit,
      maxBytes: this.maxBytes(),
      canHear: this.hints.hears,
      completed: encodeTurn(turn, settings).completed,
    };
  }

  ofOrdinary(turn: Turn, listing: Listing): OrdinaryArguments {
    const { settings, who } = this;
    return Object.assign(
      {
        session: who.id,
        crew: who.crew,
        crewSize: who.names.length,
        names: this.names,
        leaseMs: settings.leaseMs,
        maxSleepMs: settings.maxSleepMs,
        limit: turn.limit,
        maxBytes: this.maxBytes(),
        canHear: this.hints.hears,
        keepIdsMs: settings.keepIdsMs,
        listing: listing.presence === '' ? '' : this.listingText(listing),
      },
      encodeTurn(turn, settings),
    );
  }

  /** One argument, as most turns list nothing: what the queue keeps, or that the session is gone; the options, and the host, which may have two lines. */
  private listingText({ presence, host, options }: Listing): string {
    const { keepCompleted, keepDead } = this.settings;
    const keeps = `${keepCompleted.count} ${keepCompleted.ageMs} ${keepDead.count} ${keepDead.ageMs}`;
    return `${presence === 'gone' ? presence : keeps}\n${options}\n${host}`;
  }

  ofTurn(turn: Turn, cursor: string, listing: Listing): TurnArguments {
    const { settings, hints } = this;
    const maxBytes = this.maxBytes();
    // A pull that cannot hear is not worth waiting for: it goes after this turn.
    const standing = turn.standing === 'stays' || hints.hears ? turn.standing : 'goes';
    // Assigned rather than spread: a literal that spreads objects of this size made 3.5 KB of garbage a turn that young collections did
    // not free, and the longer pauses doubled the lateness of one job in a hundred (2.1 ms became 3.5 at 2 000 jobs a second).
    return Object.assign(
      this.ofAny(turn, cursor, listing),
      { maxBytes, standing, wish: turn.suspects },
      encodeTurn(turn, settings),
    );
  }

  /** Jobs that are claimed have to come over the link, well within their leases. */
  private maxBytes(): number {
    return this.connection.downlink.bytesIn(this.settings.leaseMs / CLAIMS_A_LEASE, BYTES_A_CLAIM);
  }

  /** Jobs that a relay moves stay in Redis, so the link does not bound them. */
  ofRelay(turn: Turn, cursor: string, listing: Listing, { type, maxLength = 0 }: RelayTarget): RelayArguments {
    const standing: RelayArguments['standing'] = turn.standing === 'stays' ? 'stays' : 'goes';
    return Object.assign(this.ofAny(turn, cursor, listing), {
      maxBytes: BYTES_A_CLAIM,
      standing,
      targetType: type,
      maxLength,
    });
  }

  private ofAny(turn: Turn, cursor: string, { presence, host, options }: Listing) {
    const { settings, who } = this;
    return {
      session: who.id,
      crew: who.crew,
      crewSize: who.names.length,
      leaseMs: settings.leaseMs,
      maxSleepMs: settings.maxSleepMs,
      limit: turn.limit,
      cursor,
      canHear: this.hints.hears,
      keepIdsMs: settings.keepIdsMs,
      keepCompletedCount: settings.keepCompleted.count,
      keepCompletedAgeMs: settings.keepCompleted.ageMs,
      keepDeadCount: settings.keepDead.count,
      keepDeadAgeMs: settings.keepDead.ageMs,
      maxCrashes: settings.maxCrashes,
      presence,
      host,
      options,
      msPerLevel: settings.ordering.mode === 'aging' ? settings.ordering.msPerLevel : 0,
      globalConcurrency: Number.isFinite(settings.globalConcurrency) ? settings.globalConcurrency : 0,
      rateMax: settings.rateLimit?.max ?? 0,
      rateWindowMs: settings.rateLimit ? rateWindowMs(settings.rateLimit) : 0,
      groupsRule: this.groupsRule,
    };
  }

  /**
   * Whether a turn is to list this session, and as what; to be asked once a turn, as the answer counts as listed. A session is listed a few times
   * a lease, so that one who was not here for a lease is taken for gone; and at once where handlers got stuck or have returned, with the entry
   * that this one replaces.
   */
  listingOf({ isLast, stuck }: Turn): Listing {
    this.hasLeft ||= isLast;
    // Also in turns after the last one, which only settle and renew: jobs that they put back must not wait for this worker.
    if (this.hasLeft) return { presence: 'gone', host: this.host(this.stuck), options: '' };
    const now = this.connection.now();
    const text = stuck ? this.stuckText(stuck, now) : '';
    const isAsListed = text === this.stuck;
    const { hears } = this.hints;
    if (isAsListed && now < this.presentUntil && hears === this.heardAsListed)
      return { presence: '', host: '', options: '' };
    const listed = this.host(this.stuck);
    this.presentUntil = now + this.settings.leaseMs / 4;
    this.stuck = text;
    this.heardAsListed = hears;
    const { digest, text: json } = this.who.options;
    return {
      presence: 'here',
      host: isAsListed ? listed : `${this.host(text)}\n${listed}`,
      options: `${digest} ${json}`,
    };
  }

  /** Where this session runs and what it is, as others see it. */
  private host(stuck: string): string {
    return `${process.pid} ${this.who.traits}${stuck} ${hostname()}`;
  }

  private stuckText({ forMs, ...stuck }: StuckHandlers, now: number): string {
    const sinceMs = this.clock.at(now - forMs);
    // What is known of Redis' time moves by a moment with every reply; the entry is only replaced where something has changed.
    if (Math.abs(sinceMs - this.stuckSinceMs) > SAME_INSTANT_MS) this.stuckSinceMs = sinceMs;
    return encodeStuck({ ...stuck, sinceMs: this.stuckSinceMs }, this.who.names);
  }
}
