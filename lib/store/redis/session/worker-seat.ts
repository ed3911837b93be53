import { hostname } from 'node:os';
import { QueueClosedError, QueueUnavailableError } from '../../../core/errors.js';
import type { QueueSettings } from '../../../core/options/queue-options.js';
import type { RelayTarget } from '../../../core/options/relay-options.js';
import type { Turn, TurnAnswer, WorkerHints, WorkerSeat } from '../../job-store.js';
import { CallSlot } from '../calls/call-slot.js';
import { rateWindowMs } from '../calls/gate.js';
import { handlesKey, processOf, type QueueKeys, sleepersKey, wakeChannel } from '../keys.js';
import { causeOf } from '../link/call-error.js';
import type { RedisConnection, ScriptArgument } from '../link/connection.js';
import type { ServerClock } from '../link/server-clock.js';
import type { Hear, WakeListener } from '../link/wake-listener.js';
import { decodeRelay, decodeTurn, encodeTurn } from './turn-codec.js';

/** One reply carries at most this much, so that neither Redis nor the worker stalls on it. */
const BYTES_A_CLAIM = 8 * 1024 * 1024;
/** A claim also asks for no more than the link should carry in a lease divided by this. */
const CLAIMS_A_LEASE = 3;
const NAMES_A_CALL = 1_000;
/** How long Redis remembers which names a group handles; a worker that finds them gone notes them again. */
const KEEP_NAMES_MS = 24 * 3_600_000;
/** A turn's record must outlive every copy of the call that is still on its way. */
const KEEP_TURN_RECORD_MS = 600_000;
/** How long one try of a turn may take, longer only while the connection shows signs of life; then it is sent again, under the same number. */
const TRY_MS = 5_000;
/** Where this process runs, as others see it. */
const PLACE = `${process.pid} ${hostname()}`;

interface TurnUnderWay {
  readonly turn: Turn;
  readonly slot: CallSlot;
}

/** A worker's place at one queue in Redis. */
export class RedisWorkerSeat implements WorkerSeat {
  private readonly fixedKeys: string[];
  private readonly channel: string;
  /** What it hears by: its own channel, and that of its process, where jobs are told that prefer it. */
  private readonly channels: ReadonlySet<string>;
  private hear?: Hear;
  /** When its presence must be noted again, a time of `performance.now()`. */
  private presentUntil = 0;
  private hasLeft = false;
  /** Turns that have been sent and not been answered, two at most: the same again is the same call. */
  private readonly underWay: TurnUnderWay[] = [];
  private readonly freeSlots: CallSlot[] = [];

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
      ...(target ? [] : [keys.fence]),
      keys.workers,
      keys.gate,
      keys.rate,
      ...(target ? [] : [keys.reservations]),
      keys.offers,
      keys.queued,
      handlesKey(keys, this.group),
      sleepersKey(keys, this.group),
      ...(target ? [target.key] : []),
    ];
  }

  async turn(turn: Turn, signal: AbortSignal): Promise<TurnAnswer> {
    const sent = this.underWay.find((each) => each.turn === turn) ?? this.begin(turn);
    const args = this.arguments(turn);
    for (let registered = 0; ; ) {
      try {
        const reply = await this.send(sent, args);
        if (reply[0] === 'refused') throw this.targetError(String(reply[2]));
        if (reply[0] !== 'unregistered') {
          this.underWay.splice(this.underWay.indexOf(sent), 1);
          this.freeSlots.push(sent.slot);
          return this.target ? decodeRelay(reply) : decodeTurn(reply, turn, this.settings);
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

  private async send({ slot }: TurnUnderWay, args: readonly ScriptArgument[]): Promise<unknown[]> {
    const { connection } = this;
    const sentAt = performance.now();
    const before = connection.received;
    const reply = await slot.send(this.target ? 'relay' : 'turn', this.fixedKeys, args, sentAt + TRY_MS, { isPatient: true });
    connection.downlink.note(connection.received - before, performance.now() - sentAt);
    return reply;
  }

  /** Each turn under way has a slot of its own, as one answers for its last call only. */
  private begin(turn: Turn): TurnUnderWay {
    const { connection, clock, keys } = this;
    const slot = this.freeSlots.pop() ?? new CallSlot(connection, clock, keys, `${this.worker}.`);
    slot.begin();
    const sent = { turn, slot };
    this.underWay.push(sent);
    return sent;
  }

  listen(hints: WorkerHints): void {
    this.hear = (message) => {
      // Heard anew: whatever was said meanwhile was said to nobody.
      if (message === undefined || message === 'renew') hints.renew();
      if (message === 'renew') return;
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
    const { keys, names, group } = this;
    for (let i = 0; i < names.length; i += NAMES_A_CALL) {
      const args = [KEEP_NAMES_MS, i === 0 ? names.length : 0, ...names.slice(i, i + NAMES_A_CALL)];
      await this.connection.run('register', [keys.sleeping, handlesKey(keys, group)], args, performance.now() + TRY_MS);
    }
  }

  private arguments(turn: Turn): ScriptArgument[] {
    const { settings } = this;
    return [
      KEEP_TURN_RECORD_MS,
      this.clustered ? 1 : 0,
      this.worker,
      this.group,
      this.names.length,
      settings.leaseMs,
      settings.maxSleepMs,
      turn.room,
      this.bytesToClaim(),
      turn.lookFrom,
      this.listener.hears(this.channel) ? 1 : 0,
      this.standing(turn),
      settings.keepIdsMs,
      settings.keepCompleted.count,
      settings.keepCompleted.ageMs,
      settings.keepDead.count,
      settings.keepDead.ageMs,
      settings.maxCrashes,
      this.presence(turn.leaving),
      PLACE,
      settings.ordering.mode === 'aging' ? settings.ordering.msPerLevel : 0,
      settings.stealAfterMs,
      Number.isFinite(settings.globalConcurrency) ? settings.globalConcurrency : 0,
      settings.rateLimit?.max ?? 0,
      settings.rateLimit ? rateWindowMs(settings.rateLimit) : 0,
      ...(this.target ? [this.target.type, this.target.maxLength ?? 0] : [turn.suspects, ...encodeTurn(turn, settings)]),
    ];
  }

  /** Jobs that are claimed have to come over the link, well within their leases. Jobs that a relay moves stay in Redis. */
  private bytesToClaim(): number {
    if (this.target) return BYTES_A_CLAIM;
    return this.connection.downlink.bytesIn(this.settings.leaseMs / CLAIMS_A_LEASE, BYTES_A_CLAIM);
  }

  /** What becomes of its place among the sleepers. */
  private standing({ pull }: Turn): ScriptArgument {
    if (pull === undefined) return 'stays';
    return this.listener.hears(this.channel) && pull === 'waits' ? 'until-claimed' : 'goes';
  }

  /** Noted a few times a lease, so that one who was not here for a lease is taken for gone. */
  private presence(leaving: boolean): string {
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
