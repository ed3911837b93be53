import { QueueClosedError, QueueUnavailableError } from '../../../core/errors.js';
import { Observers } from '../../../core/observe/observers.js';
import type { OutageLog } from '../checks/outage-log.js';
import type { ReadyCheck } from '../checks/ready-check.js';
import { declaredKeys } from '../keys.js';
import type { ScriptArgument } from '../scripts/bound-script.js';
import type { ScriptName } from '../scripts/embedded.js';
import { checked, isPlainReply, type PlainReply } from '../scripts/reply-shape.js';
import {
  answerOf,
  firstLine,
  isPermission,
  NO_CONNECTION,
  NOT_NOW,
  NOT_SENT,
  REFUSED,
  type Reason,
  refused,
  SAID_BY_REDIS,
  unavailable,
} from './call-error.js';
import { type Client, databaseOf, dropConnections } from './client.js';
import { LinkRate } from './link-rate.js';
import { Reachability } from './reachability.js';
import { type CallTraits, sendScript } from './send-script.js';
import { receivedBytes, SignsOfLife } from './signs-of-life.js';
import { Uplink } from './uplink.js';
import { NONE_YET, Waits } from './waits.js';

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;
/** Where there is no other node to find, others that call over the connection lose no more than a reconnect in this time. */
const RENEW_EVERY_MS = 5_000;
/** A patient call waits no longer than this beyond its time: where the client has lost track of a call, no answer ever comes. */
const LONGEST_ANSWER_MS = 120_000;

/**
 * One connection to Redis. A script may run more than once, but takes effect once: each is safe to repeat, so a call whose
 * reply was lost is sent again here, until it is answered or its time is over.
 * No promise of the client is ever awaited without a timer of our own: after some disconnects they never settle.
 */
export class RedisConnection {
  /** How fast data comes from Redis, and how much may go there. */
  readonly downlink = new LinkRate();
  readonly uplink: Uplink;
  private closed = false;
  private renewedAt = Number.NEGATIVE_INFINITY;
  private readonly life: SignsOfLife;
  private readonly reachability: Reachability;
  /** All end when the connection is closed. */
  private readonly waits = new Waits();

  constructor(
    private readonly client: Client,
    outages: OutageLog,
    /** How long Redis may keep silent before the connection counts as dead. */
    private readonly silenceMs: number,
    /** Checks each connection before calls go over it. */
    private readonly check?: ReadyCheck,
    /** Called with the address each time that the connection can be used again, the first time included. */
    reached: (address: string) => void = () => {},
    /** Whether this process reads payloads that are no text. */
    private readonly readsBytes = false,
    /** Who measures its calls. */
    private readonly observers = new Observers(),
  ) {
    this.uplink = new Uplink(silenceMs, this.waits);
    this.life = new SignsOfLife(client, silenceMs, this.uplink);
    // Every queue of the process may wait for the same connection.
    client.setMaxListeners(0);
    this.reachability = new Reachability(client, outages, reached);
    client.on('ready', () => this.opened());
  }

  /** Connects without waiting for it, and tries until there is a connection: the log tells what comes of it. */
  connect(): void {
    this.isReadyBy(Number.POSITIVE_INFINITY).catch(() => {});
  }

  /** The time by which calls are given up, and Redis' clock is carried on: that of `performance.now()`. */
  now(): number {
    return performance.now();
  }

  /** Why Redis cannot be reached; `undefined` where it can, or where nothing was heard of it. */
  get trouble(): Reason | undefined {
    return this.reachability.trouble;
  }

  /** Resolves when the connection can take commands. Throws `QueueUnavailableError` (`refused`) at `giveUpAt`, a time of `performance.now()`. */
  async ready(giveUpAt: number): Promise<void> {
    if (!(await this.isReadyBy(giveUpAt))) throw unavailable(NO_CONNECTION, false, this.trouble);
  }

  /**
   * Whether it can take commands by then. A connection that is made and never becomes ready is dropped once it counts as dead, for which
   * the age of its silence counts and not the time that this call has: no event would ever tell. Throws `QueueClosedError`.
   */
  private async isReadyBy(giveUpAt: number): Promise<boolean> {
    while (this.client.status !== 'ready') {
      this.refuseWhenClosed();
      if (this.client.status === 'wait') this.client.connect().catch(() => {});
      await this.nextReady(Math.min(giveUpAt, performance.now() + this.life.lookEveryMs));
      if ((this.client.status as string) === 'ready') return true;
      if (this.client.status === 'connect' && this.life.isDead()) dropConnections(this.client);
      if (performance.now() >= giveUpAt) return false;
    }
    return true;
  }

  /**
   * Runs a script, again where its reply was lost. Throws `QueueUnavailableError` at `giveUpAt`, a time of
   * `performance.now()`: `unknown` where it may have run, `refused` where it cannot have.
   */
  run(
    script: ScriptName,
    keys: readonly string[],
    args: readonly ScriptArgument[],
    giveUpAt: number,
    traits: CallTraits = {},
  ): Promise<unknown> {
    const { bytes = 0, fromBytes } = traits;
    const declared = declaredKeys(keys, this.client.isCluster);
    const take = this.readsBytes ? fromBytes : undefined;
    const attempt = () => sendScript(this.client, script, declared, args, take);
    const call = () => this.repeat(attempt, giveUpAt, keys[0], traits);
    return Uplink.isLarge(bytes) ? this.uplink.carry(bytes, call, giveUpAt) : call();
  }

  /** In which database its calls run. */
  get database(): number {
    return databaseOf(this.client);
  }

  /**
   * Resolves once calls about the queue of this key may go over this connection, as each call waits for it; at once where that is known.
   * Throws as a call does.
   */
  async passed(key: string, giveUpAt: number): Promise<void> {
    this.refuseWhenClosed();
    if (this.client.status === 'ready' && this.check?.isPassed(key)) return;
    await this.read('text', async () => null, giveUpAt, key);
  }

  /** How many bytes have come from Redis on the connections that stand. */
  get received(): number {
    return receivedBytes(this.client);
  }

  /** Runs a plain reading command, in the same way. `key`: one of the queue that it reads. */
  read<T>(kind: PlainReply, command: (client: Client) => Promise<T>, giveUpAt: number, key?: string): Promise<T> {
    const attempt = async () => checked(await command(this.client), isPlainReply[kind], 'a command');
    return this.repeat(attempt, giveUpAt, key);
  }

  private async repeat<T>(
    attempt: () => Promise<T>,
    giveUpAt: number,
    key?: string,
    traits: CallTraits = {},
  ): Promise<T> {
    const { check } = this;
    let mayHaveRun = false;
    this.refuseWhenClosed();
    if (performance.now() >= giveUpAt) throw unavailable(NOT_SENT, false);
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      // A client reports `ready` until its socket has ended, even while it is being closed.
      this.refuseWhenClosed();
      if (this.client.status !== 'ready' && !(await this.isReadyBy(giveUpAt)))
        throw unavailable(NO_CONNECTION, mayHaveRun, this.trouble);
      let message: string;
      try {
        if (check && !check.isPassed(key)) await this.fit(check, key, giveUpAt);
        return await this.answered(attempt(), giveUpAt, traits);
      } catch (cause) {
        if (cause instanceof QueueClosedError) throw cause;
        message = answerOf(cause);
        if (SAID_BY_REDIS.test(message)) traits.heard?.();
        if (message.startsWith('READONLY')) this.reachability.wasDemoted(message);
        if (!(cause instanceof QueueUnavailableError) && !NOT_NOW.test(message)) {
          if (isPermission(message) && check) {
            check.doubt();
            if (key !== undefined) message = await check.named(message, key);
          }
          if (REFUSED.test(message)) throw refused(message, mayHaveRun);
          mayHaveRun = true;
        }
      }
      if (performance.now() + pauseMs >= giveUpAt) throw unavailable(message, mayHaveRun, this.trouble);
      await this.waits.pause(pauseMs);
    }
  }

  /**
   * Asks anew where the node is: by another connection, for which sentinels are asked again, or on a cluster for the slots. To be called
   * where the node may have been replaced without a word. At most every five seconds; calls that are under way are sent again.
   */
  renew(): void {
    if (this.client.status !== 'ready' || performance.now() < this.renewedAt + RENEW_EVERY_MS) return;
    this.renewedAt = performance.now();
    this.reachability.renew();
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.reachability.close();
    this.client.disconnect();
    this.waits.endAll();
  }

  private refuseWhenClosed(): void {
    if (this.closed)
      throw new QueueClosedError(
        'The queue is closed: its connection to Redis has ended, as the application has closed. End what calls it before that.',
      );
  }

  /** Runs the check before the first call over each connection. Where it throws, that call has not been sent. */
  private async fit(check: ReadyCheck, key: string | undefined, giveUpAt: number): Promise<void> {
    const lacked = !check.hasDatabase;
    try {
      await this.answered(check.pass(key), giveUpAt, {});
    } catch (error) {
      if (error instanceof QueueClosedError || REFUSED.test((error as Error).message)) throw error;
      throw new QueueUnavailableError((error as Error).message, 'refused');
    } finally {
      if (lacked && check.hasDatabase) this.reachability.found();
    }
  }

  /** Waits for an answer, until its time is over or the connection counts as dead. */
  private async answered<T>(answer: Promise<T>, giveUpAt: number, { isPatient, heard }: CallTraits): Promise<T> {
    const { life } = this;
    life.begin();
    const { meter } = this.observers;
    const sentAt = meter ? performance.now() : 0;
    const sentBy = life.connection;
    let { arrivals } = life;
    const stands = isPatient ? life.whetherItStands() : undefined;
    const timeIsOver = (now: number) => now >= (stands?.() ? giveUpAt + LONGEST_ANSWER_MS : giveUpAt);
    try {
      for (;;) {
        const lookAt = performance.now() + life.lookEveryMs;
        const value = await this.waits.answer(answer, isPatient ? lookAt : Math.min(giveUpAt, lookAt));
        if (value !== NONE_YET) {
          life.answered();
          meter?.redisAnswered(performance.now() - sentAt);
          if (this.reachability.isDemoted) this.reachability.found();
          return value;
        }
        if (this.closed) throw new QueueClosedError('The queue was closed while a call was under way.');
        if (life.connection !== sentBy) throw new Silence('the connection was lost');
        const isDead = life.isDead();
        if (isDead) dropConnections(this.client);
        // Replies come in the order of their calls, so any data is a part of this reply or of one before it.
        else if (heard && !this.client.isCluster && life.arrivals !== arrivals) heard();
        arrivals = life.arrivals;
        if (isDead || timeIsOver(performance.now())) throw new Silence('no answer in time');
      }
    } catch (error) {
      if (!(error instanceof Silence)) life.answered();
      if (isAnswer(error)) meter?.redisAnswered(performance.now() - sentAt);
      throw error;
    } finally {
      life.end();
    }
  }

  /** A connection whose database cannot be used is as good as none. */
  private opened(): void {
    if (this.check === undefined || this.check.hasDatabase) this.reachability.found();
    else
      this.fit(this.check, undefined, performance.now() + this.silenceMs).catch((error: Error) => {
        this.reachability.lost({ message: firstLine(error.message) });
      });
  }

  private nextReady(giveUpAt: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        stopWaiting();
        this.client.off('ready', done);
        resolve();
      };
      const stopWaiting = this.waits.until(giveUpAt, done);
      this.client.on('ready', done);
    });
  }
}

class Silence extends Error {}

/** Whether Redis itself said no; a lost connection is no answer. By name: the client may be of another copy of ioredis. */
function isAnswer(error: unknown): boolean {
  return (error as Error).name === 'ReplyError';
}
