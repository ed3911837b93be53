import { hostname } from 'node:os';
import { QueueClosedError, QueueUnavailableError } from '../../../core/errors.js';
import type { QueueSettings } from '../../../core/options/queue-options.js';
import type { RelayTarget } from '../../../core/options/relay-options.js';
import type { Turn, TurnAnswer, WorkerHints, WorkerSeat } from '../../job-store.js';
import { Caller } from '../calls/caller.js';
import { rateWindowMs } from '../calls/gate.js';
import { processOf, type QueueKeys, wakeChannel } from '../keys.js';
import { causeOf } from '../link/call-error.js';
import type { RedisConnection } from '../link/connection.js';
import type { ServerClock } from '../link/server-clock.js';
import type { Hear, WakeListener } from '../link/wake-listener.js';
import { ask } from '../scripts/bound-script.js';
import {
  type RelayArguments,
  type RelayReply,
  registerScript,
  relayScript,
  type TurnArguments,
  type TurnReply,
  turnScript,
} from '../scripts/contracts.js';
import { decodeRelay, decodeTurn, encodeTurn } from './turn-codec.js';

/** One reply carries at most this much, so that neither Redis nor the worker stalls on it. */
const BYTES_A_CLAIM = 8 * 1024 * 1024;
/** A claim also asks for no more than the link should carry in a lease divided by this. */
const CLAIMS_A_LEASE = 3;
const NAMES_A_CALL = 1_000;
/** How long Redis remembers which names a group handles; a worker that finds them gone notes them again. */
const KEEP_NAMES_MS = 24 * 3_600_000;
/** A turn's receipt must outlive every copy of the call that is still on its way. */
const KEEP_TURN_RECEIPT_MS = 600_000;
/** How long one try of a turn may take, longer only while the connection shows signs of life; then it is sent again, under the same number. */
const TRY_MS = 5_000;
/** Where this process runs, as others see it. */
const HOST = `${process.pid} ${hostname()}`;

interface TurnUnderWay {
  readonly turn: Turn;
  readonly caller: Caller;
}

/** What one turn of either script says. */
type SessionArguments = { turn: TurnArguments; relay?: undefined } | { relay: RelayArguments };

/** A worker's place at one queue in Redis. */
export class RedisWorkerSeat implements WorkerSeat {
  private readonly turnScript;
  /** Of a relay, which moves jobs instead of running them. */
  private readonly relayScript;
  private readonly registerScript;
  private readonly channel: string;
  /** What it hears by: its own channel, and that of its process, where jobs are told that prefer it. */
  private readonly channels: ReadonlySet<string>;
  private hear?: Hear;
  /** When its presence must be noted again, a time of `performance.now()`. */
  private presentUntil = 0;
  private hasLeft = false;
  /** Turns that have been sent and not been answered, two at most: the same again is the same call. */
  private readonly underWay: TurnUnderWay[] = [];
  private readonly freeCallers: Caller[] = [];

  constructor(
    private readonly connection: RedisConnection,
    private readonly listener: WakeListener,
    private readonly clock: ServerClock,
    private readonly keys: QueueKeys,
    private readonly worker: string,
    private readonly group: string,
    private readonly names: readonly string[],
    private readonly settings: QueueSettings,
    private readonly clustered: boolean,
    /** Of a relay: where the jobs go that its turns have room for. */
    private readonly target?: RelayTarget,
  ) {
    this.channel = wakeChannel(keys, worker);
    this.channels = new Set([this.channel, wakeChannel(keys, processOf(worker))]);
    this.registerScript = registerScript(keys, { group });
    this.turnScript = turnScript(keys, { group });
    this.relayScript = target && relayScript(keys, { group, target: target.key });
  }

  async turn(turn: Turn, signal: AbortSignal): Promise<TurnAnswer> {
    const sent = this.underWay.find((each) => each.turn === turn) ?? this.begin(turn);
    const args = this.writeArguments(turn);
    for (let registered = 0; ; ) {
      try {
        const reply = await this.send(sent, args);
        if (reply[0] === 'refused') throw this.targetError(String(reply[2]));
        if (reply[0] !== 'unregistered') {
          this.underWay.splice(this.underWay.indexOf(sent), 1);
          this.freeCallers.push(sent.caller);
          return this.target ? decodeRelay(reply as RelayReply) : decodeTurn(reply as TurnReply, turn, this.settings);
        }
        // Twice where names of others had to go first.
        if (++registered > 5)
          throw new Error(`${this.keys.base}handles:${this.group} does not keep what is written to it.`);
        await this.register();
      } catch (error) {
        // Only Redis being away is waited out; what it refuses for good is for the worker to tell.
        if (signal.aborted || error instanceof QueueClosedError || !mayPass(error)) throw error;
      }
    }
  }

  private async send({ caller }: TurnUnderWay, args: SessionArguments): Promise<TurnReply | RelayReply> {
    const { connection } = this;
    const sentAt = performance.now();
    const before = connection.received;
    const giveUpAt = sentAt + TRY_MS;
    const reply = args.relay
      ? await caller.send(this.relayScript!, args.relay, giveUpAt, { isPatient: true })
      : await caller.send(this.turnScript, args.turn, giveUpAt, { isPatient: true });
    connection.downlink.note(connection.received - before, performance.now() - sentAt);
    return reply;
  }

  /** Each turn under way has a caller of its own, as one answers for its last call only. */
  private begin(turn: Turn): TurnUnderWay {
    const { connection, clock, keys } = this;
    const caller =
      this.freeCallers.pop() ?? new Caller(connection, clock, keys, KEEP_TURN_RECEIPT_MS, `${this.worker}.`);
    caller.begin();
    const sent = { turn, caller };
    this.underWay.push(sent);
    return sent;
  }

  listen(hints: WorkerHints): void {
    this.hear = (message) => {
      // Heard anew: whatever was said meanwhile was said to nobody.
      if (message === undefined || message === 'cancel') hints.renew();
      if (message === 'cancel') return;
      const atMs = Number(message ?? 0);
      // What is no time comes from somebody else.
      if (Number.isNaN(atMs)) return;
      hints.look(this.clock.known ? Math.max(0, this.clock.until(atMs)) : 0);
    };
    for (const channel of this.channels) this.listener.listen(channel, this.hear);
  }

  get trouble(): Error | undefined {
    const { trouble } = this.connection;
    return trouble && causeOf(trouble);
  }

  leave(): void {
    for (const channel of this.channels) if (this.hear) this.listener.unlisten(channel, this.hear);
  }

  /** Nothing has moved. */
  private targetError(found: string): Error {
    const { key, type } = this.target!;
    return new Error(`relay: the key '${key}' is a ${found}, expected a ${type} or nothing. No job has been moved.`);
  }

  private async register(): Promise<void> {
    const { names } = this;
    for (let i = 0; i < names.length; i += NAMES_A_CALL) {
      const size = i === 0 ? names.length : 0;
      const args = { keepMs: KEEP_NAMES_MS, size, names: names.slice(i, i + NAMES_A_CALL) };
      await ask(this.connection, this.registerScript, args, performance.now() + TRY_MS);
    }
  }

  private writeArguments(turn: Turn): SessionArguments {
    const { settings, target } = this;
    const common = {
      clustered: this.clustered,
      session: this.worker,
      group: this.group,
      groupSize: this.names.length,
      leaseMs: settings.leaseMs,
      maxSleepMs: settings.maxSleepMs,
      limit: turn.room,
      maxBytes: this.bytesToClaim(),
      cursor: turn.lookFrom,
      canHear: this.listener.hears(this.channel),
      keepIdsMs: settings.keepIdsMs,
      keepCompletedCount: settings.keepCompleted.count,
      keepCompletedAgeMs: settings.keepCompleted.ageMs,
      keepDeadCount: settings.keepDead.count,
      keepDeadAgeMs: settings.keepDead.ageMs,
      maxCrashes: settings.maxCrashes,
      presence: this.presence(turn.leaving),
      host: HOST,
      msPerLevel: settings.ordering.mode === 'aging' ? settings.ordering.msPerLevel : 0,
      stealAfterMs: settings.stealAfterMs,
      globalConcurrency: Number.isFinite(settings.globalConcurrency) ? settings.globalConcurrency : 0,
      rateMax: settings.rateLimit?.max ?? 0,
      rateWindowMs: settings.rateLimit ? rateWindowMs(settings.rateLimit) : 0,
    };
    if (target) {
      const { type, maxLength = 0 } = target;
      const standing = turn.pull ? 'goes' : 'stays';
      return { relay: { ...common, standing, targetType: type, maxLength } };
    }
    const standing = this.standing(turn, common.canHear);
    return { turn: { ...common, standing, wish: turn.suspects, ...encodeTurn(turn, settings) } };
  }

  /** Jobs that are claimed have to come over the link, well within their leases. Jobs that a relay moves stay in Redis. */
  private bytesToClaim(): number {
    if (this.target) return BYTES_A_CLAIM;
    return this.connection.downlink.bytesIn(this.settings.leaseMs / CLAIMS_A_LEASE, BYTES_A_CLAIM);
  }

  /** A pull that cannot hear is not worth waiting for: it goes after this turn. */
  private standing({ pull }: Turn, canHear: boolean): TurnArguments['standing'] {
    if (pull === undefined) return 'stays';
    return canHear && pull === 'waits' ? 'until-claimed' : 'goes';
  }

  /** Noted a few times a lease, so that one who was not here for a lease is taken for gone. */
  private presence(leaving: boolean): TurnArguments['presence'] {
    this.hasLeft ||= leaving;
    // Also in turns after that one, which only settle and renew: what they put back waits for it no longer.
    if (this.hasLeft) return 'gone';
    const now = performance.now();
    if (now < this.presentUntil) return '';
    this.presentUntil = now + this.settings.leaseMs / 4;
    return 'here';
  }
}

function mayPass(error: unknown): boolean {
  return error instanceof QueueUnavailableError && error.redisCode === undefined;
}
