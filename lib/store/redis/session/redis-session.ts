import { hostname } from 'node:os';
import { QueueClosedError, QueueUnavailableError } from '../../../core/errors.js';
import type { QueueSettings } from '../../../core/options/queue-options.js';
import type { RelayTarget } from '../../../core/options/relay-options.js';
import type { Session, SessionHints, Turn, TurnAnswer } from '../../job-store.js';
import { CallSlot } from '../calls/call-slot.js';
import { rateWindowMs } from '../calls/gate.js';
import { absentKey, handlesKey, type QueueKeys, sleepersKey } from '../keys.js';
import { causeOf } from '../link/call-error.js';
import type { RedisConnection, ScriptArgument } from '../link/connection.js';
import type { ServerClock } from '../link/server-clock.js';
import type { WakeListener } from '../link/wake-listener.js';
import { HintChannel } from './hint-channel.js';
import { decodeTurn, encodeTurn } from './turn-codec.js';

/** One reply carries at most this much, so that neither Redis nor the process stalls on it. */
const BYTES_A_CLAIM = 8 * 1024 * 1024;
/** A claim also asks for no more than the link should carry in a lease divided by this. */
const CLAIMS_A_LEASE = 3;
const NAMES_A_CALL = 1_000;
/** How long Redis remembers which names a group handles; a session that finds them gone notes them again. */
const KEEP_NAMES_MS = 24 * 3_600_000;
/** A turn's record must outlive every copy of the call that is still on its way. */
const KEEP_TURN_RECORD_MS = 600_000;
/** How long one try of a turn may take, longer only while the connection shows signs of life; then it is sent again, under the same number. */
const TRY_MS = 5_000;
/** Where this process runs, as others see it. */
const LOCATION = `${process.pid} ${hostname()}`;

/** What all sessions of this process share: a connection, and one more for messages. */
export interface SessionLink {
  readonly connection: RedisConnection;
  readonly listener: WakeListener;
}

/** Who takes part in a session, as Redis knows it. */
export interface SessionIdentity {
  /** The worker's; behind a '~', what tells it from other sessions of the process. */
  readonly id: string;
  /** All sessions that take the same names. */
  readonly group: string;
  readonly names: readonly string[];
  /** Of a relay: where the jobs go that its turns have capacity for. */
  readonly target?: RelayTarget;
}

interface TurnInFlight {
  readonly turn: Turn;
  readonly slot: CallSlot;
  /** Where it goes on looking, or '' for the start. */
  readonly cursor: string;
}

/** The talk of one consumer in this process with one queue in Redis. */
export class RedisSession implements Session {
  private readonly fixedKeys: string[];
  private readonly hints: HintChannel;
  /** When its presence must be noted again, a time of `performance.now()`. */
  private presentUntil = 0;
  private hasLeft = false;
  /** Turns that have been sent and not been answered, two at most: the same again is the same call. */
  private readonly inFlight: TurnInFlight[] = [];
  private readonly freeSlots: CallSlot[] = [];
  /** Where the last turn that was answered stopped looking. */
  private cursor = '';

  constructor(
    private readonly link: SessionLink,
    private readonly clock: ServerClock,
    private readonly keys: QueueKeys,
    private readonly who: SessionIdentity,
    private readonly settings: QueueSettings,
    private readonly clustered: boolean,
  ) {
    const { id, group, target } = who;
    this.hints = new HintChannel(link.listener, clock, keys, id);
    this.fixedKeys = [
      keys.jobs,
      keys.claims,
      keys.failures,
      keys.active,
      keys.dead,
      keys.completed,
      keys.results,
      keys.usedIds,
      keys.stats,
      keys.levels,
      keys.sleeping,
      keys.served,
      keys.fence,
      keys.workers,
      keys.paused,
      keys.rate,
      keys.reservations,
      keys.offers,
      handlesKey(keys, group),
      sleepersKey(keys, group),
      target?.key ?? absentKey(keys.jobs),
      keys.queued,
    ];
  }

  async turn(turn: Turn, signal: AbortSignal): Promise<TurnAnswer> {
    const sent = this.inFlight.find((each) => each.turn === turn) ?? this.begin(turn);
    const args = this.arguments(sent);
    for (let registered = 0; ; ) {
      try {
        const reply = await this.send(sent, args);
        if (reply[0] === 'refused') throw this.targetError(String(reply[2]));
        if (reply[0] !== 'unregistered') {
          this.inFlight.splice(this.inFlight.indexOf(sent), 1);
          this.freeSlots.push(sent.slot);
          const { answer, cursor } = decodeTurn(reply, turn, this.settings);
          this.cursor = cursor;
          return answer;
        }
        // Twice where names of others had to go first.
        if (++registered > 5)
          throw new Error(`${this.keys.base}handles:${this.who.group} does not keep what is written to it.`);
        await this.register();
      } catch (error) {
        // Only Redis being away is waited out; what it refuses for good is for the caller to tell.
        if (signal.aborted || error instanceof QueueClosedError || !mayPass(error)) throw error;
      }
    }
  }

  private async send({ slot }: TurnInFlight, args: readonly ScriptArgument[]): Promise<unknown[]> {
    const { connection } = this.link;
    const sentAt = performance.now();
    const before = connection.received;
    const reply = await slot.send('turn', this.fixedKeys, args, sentAt + TRY_MS, { isPatient: true });
    connection.downlink.note(connection.received - before, performance.now() - sentAt);
    return reply;
  }

  /** Each turn in flight has a slot of its own, as one answers for its last call only. */
  private begin(turn: Turn): TurnInFlight {
    const { link, clock, keys, who } = this;
    const slot = this.freeSlots.pop() ?? new CallSlot(link.connection, clock, keys, `${who.id}.`);
    slot.begin();
    const sent = { turn, slot, cursor: turn.looksAnew ? '' : this.cursor };
    this.inFlight.push(sent);
    return sent;
  }

  listen(hints: SessionHints): void {
    this.hints.listen(hints);
  }

  get trouble(): Error | undefined {
    const { trouble } = this.link.connection;
    return trouble && causeOf(trouble);
  }

  leave(): void {
    this.hints.leave();
  }

  /** Nothing has moved. */
  private targetError(found: string): Error {
    const { key, type } = this.who.target!;
    return new Error(`relay: the key '${key}' is a ${found}, expected a ${type} or nothing. No job has been moved.`);
  }

  private async register(): Promise<void> {
    const { keys, link } = this;
    const { names, group } = this.who;
    for (let i = 0; i < names.length; i += NAMES_A_CALL) {
      const args = [KEEP_NAMES_MS, i === 0 ? names.length : 0, ...names.slice(i, i + NAMES_A_CALL)];
      await link.connection.run('register', [keys.sleeping, handlesKey(keys, group)], args, performance.now() + TRY_MS);
    }
  }

  private arguments({ turn, cursor }: TurnInFlight): ScriptArgument[] {
    const { settings } = this;
    const { id, group, names, target } = this.who;
    return [
      KEEP_TURN_RECORD_MS,
      this.clustered ? 1 : 0,
      id,
      group,
      names.length,
      settings.leaseMs,
      settings.maxSleepMs,
      turn.limit,
      this.bytesToClaim(),
      cursor,
      this.standing(turn),
      settings.keepIdsMs,
      settings.keepCompleted.count,
      settings.keepCompleted.ageMs,
      settings.keepDead.count,
      settings.keepDead.ageMs,
      settings.maxCrashes,
      this.presence(turn.isLast),
      settings.ordering.mode === 'aging' ? settings.ordering.msPerLevel : 0,
      settings.stealAfterMs,
      Number.isFinite(settings.globalConcurrency) ? settings.globalConcurrency : 0,
      settings.rateLimit?.max ?? 0,
      settings.rateLimit ? rateWindowMs(settings.rateLimit) : 0,
      target?.type ?? '',
      target?.maxLength ?? 0,
      turn.suspects,
      ...encodeTurn(turn, settings),
    ];
  }

  /** Jobs that are claimed have to come over the link, well within their leases. Jobs that a relay moves stay in Redis. */
  private bytesToClaim(): number {
    if (this.who.target) return BYTES_A_CLAIM;
    return this.link.connection.downlink.bytesIn(this.settings.leaseMs / CLAIMS_A_LEASE, BYTES_A_CLAIM);
  }

  /** What becomes of its place among the sleepers. */
  private standing({ standing }: Turn): ScriptArgument {
    const { hears } = this.hints;
    if (standing === 'stays') return hears ? 1 : 0;
    return hears && standing === 'until-claimed' ? 'wait' : 'go';
  }

  /** Noted a few times a lease, so that one who was not here for a lease is taken for gone. */
  private presence(isLast: boolean): string {
    this.hasLeft ||= isLast;
    // Also in turns after that one, which only settle and renew: what they put back waits for it no longer.
    if (this.hasLeft) return `gone ${LOCATION}`;
    const now = performance.now();
    if (now < this.presentUntil) return '';
    this.presentUntil = now + this.settings.leaseMs / 4;
    return `here ${LOCATION}`;
  }
}

function mayPass(error: unknown): boolean {
  return error instanceof QueueUnavailableError && error.redisCode === undefined;
}
