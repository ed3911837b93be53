import { QueueClosedError, QueueUnavailableError } from '../../core/errors.js';
import { absentKey } from '../keys.js';
import type { ScriptName } from '../scripts/embedded.js';
import { isPermission, reasonOf, refused, unavailable } from './call-error.js';
import { type Client, dropConnections } from './client.js';
import type { OutageLog } from './outage-log.js';
import type { ReadyCheck } from './ready-check.js';
import { type ScriptArgument, sendScript } from './send-script.js';
import { Waits } from './waits.js';

export type { ScriptArgument };

/** Answers that mean "not now": the script did not run, and may when sent again. */
const NOT_NOW =
  /^(LOADING|BUSY|READONLY|CLUSTERDOWN|TRYAGAIN|MASTERDOWN|MOVED|ASK|UNBLOCKED)\b|^Stream isn't writeable|non local key in a cluster|Cluster isn't ready|None of startup nodes|Failed to refresh slots cache|Too many Cluster redirections/;
/** Answers that mean "no": the script did not run and sending it again would not help. */
const REFUSED = /^(OOM|MISCONF|NOREPLICAS|NOPERM|NOAUTH|WRONGPASS|WRONGTYPE|NOPROTO|ERR|CROSSSLOT|DENIED)\b/;

const NO_CONNECTION = 'no connection in time';

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

/**
 * One connection to Redis. A script may run more than once, but takes effect once: each is safe to repeat, so a call whose
 * reply was lost is sent again here, until it is answered or its time is over.
 * No promise of the client is ever awaited without a timer of our own: after some disconnects they never settle.
 */
export class RedisConnection {
  private closed = false;
  /** Since when calls have been waiting without any answer, a time of `performance.now()`. */
  private silentSince?: number;
  private unanswered = 0;
  /** The server answers and takes no writes, as one that a failover has made a replica: as good as away. */
  private demoted = false;
  /** All end when the connection is closed. */
  private readonly waits = new Waits();

  constructor(
    private readonly client: Client,
    private readonly outages: OutageLog,
    /** How long Redis may keep silent before the connection counts as dead. */
    private readonly silenceMs: number,
    /** What is asked of each connection before calls go over it. */
    private readonly check?: ReadyCheck,
  ) {
    // Every queue of the process may wait for the same connection.
    client.setMaxListeners(0);
    let reason = 'no connection';
    client.on('error', (error: Error) => {
      reason = reasonOf(error) || reason;
      if (client.status !== 'ready' && !this.closed) outages.lost(this, reason);
    });
    client.on('close', () => this.closed || outages.lost(this, reason));
    client.on('ready', () => this.opened());
  }

  /** Resolves when the connection can take commands. Throws `QueueUnavailableError` (`refused`) at `giveUpAt`, a time of `performance.now()`. */
  async ready(giveUpAt: number): Promise<void> {
    if (!(await this.isReadyBy(giveUpAt))) throw unavailable(NO_CONNECTION, false);
  }

  /** Whether it can take commands by then. Throws `QueueClosedError`. */
  private async isReadyBy(giveUpAt: number): Promise<boolean> {
    while (this.client.status !== 'ready') {
      this.refuseWhenClosed();
      if (this.client.status === 'wait') this.client.connect().catch(() => {});
      const triedFrom = this.client.status;
      await this.nextReady(Math.min(giveUpAt, performance.now() + 2 * this.silenceMs));
      if ((this.client.status as string) === 'ready') return true;
      if (performance.now() >= giveUpAt) return false;
      // Connected, and no word since: no event would ever tell.
      if (triedFrom === 'connect' && this.client.status === 'connect') dropConnections(this.client);
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
  ): Promise<unknown> {
    const declared = this.client.isCluster ? [...keys, absentKey(keys[0]!)] : keys;
    return this.repeat(() => sendScript(this.client, script, declared, args), giveUpAt, keys[0]);
  }

  /** Runs a plain reading command, in the same way. */
  read<T>(command: (client: Client) => Promise<T>, giveUpAt: number): Promise<T> {
    return this.repeat(() => command(this.client), giveUpAt);
  }

  private async repeat<T>(attempt: () => Promise<T>, giveUpAt: number, key?: string): Promise<T> {
    const { check } = this;
    let mayHaveRun = false;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      // A client that is being closed calls itself ready until its socket has ended.
      this.refuseWhenClosed();
      if (this.client.status !== 'ready' && !(await this.isReadyBy(giveUpAt)))
        throw unavailable(NO_CONNECTION, mayHaveRun);
      let message: string;
      try {
        if (check && !check.isPassed(key !== undefined)) await this.fit(check, key, giveUpAt);
        return await this.answered(attempt(), giveUpAt);
      } catch (cause) {
        if (cause instanceof QueueClosedError) throw cause;
        message = (cause as Error).message ?? '';
        if (message.startsWith('READONLY')) this.noteDemotion(message);
        if (!(cause instanceof QueueUnavailableError) && !NOT_NOW.test(message)) {
          if (isPermission(message)) check?.doubt();
          if (REFUSED.test(message)) throw refused(message, mayHaveRun);
          mayHaveRun = true;
        }
      }
      if (performance.now() + pauseMs >= giveUpAt) throw unavailable(message, mayHaveRun);
      await this.pause(pauseMs);
    }
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.outages.forget(this);
    this.client.disconnect();
    this.waits.endAll();
  }

  private refuseWhenClosed(): void {
    if (this.closed) throw new QueueClosedError('The queue is closed: its connection to Redis has ended.');
  }

  /** Before the first call over each connection; that call has not been sent where this throws. */
  private async fit(check: ReadyCheck, key: string | undefined, giveUpAt: number): Promise<void> {
    const lacked = !check.hasDatabase;
    try {
      await this.answered(check.pass(key), giveUpAt);
    } catch (error) {
      if (error instanceof QueueClosedError || REFUSED.test((error as Error).message)) throw error;
      throw new QueueUnavailableError((error as Error).message, 'refused');
    } finally {
      if (lacked && check.hasDatabase) this.found();
    }
  }

  /**
   * Waits for an answer, until `giveUpAt` or until Redis has kept silent for so long that the connection counts as dead.
   * A call that has little time left says nothing about the connection, so the silence is that of all calls together.
   */
  private async answered<T>(answer: Promise<T>, giveUpAt: number): Promise<T> {
    this.silentSince ??= performance.now();
    this.unanswered++;
    try {
      const value = await this.before(Math.min(giveUpAt, performance.now() + this.silenceMs), answer);
      this.heard();
      if (this.demoted) this.found();
      return value;
    } catch (error) {
      if (!(error instanceof Silence)) this.heard();
      else if (this.silentSince !== undefined && performance.now() - this.silentSince >= this.silenceMs) {
        this.silentSince = undefined;
        dropConnections(this.client);
      }
      throw error;
    } finally {
      this.unanswered--;
    }
  }

  /** Others may wait on: their silence begins now. */
  private heard(): void {
    this.silentSince = this.unanswered > 1 ? performance.now() : undefined;
  }

  /** Where its database cannot be used the connection is as good as none. */
  private opened(): void {
    if (this.check === undefined || this.check.hasDatabase) this.found();
    else
      this.fit(this.check, undefined, performance.now() + this.silenceMs).catch((error: Error) => {
        if (!this.closed) this.outages.lost(this, error.message);
      });
  }

  /** On a cluster the others go on, and the client is told where the slot is now. */
  private noteDemotion(message: string): void {
    if (this.client.isCluster || this.closed) return;
    this.demoted = true;
    this.outages.lost(this, message);
  }

  /** A connection to a replica is made again and again until it is a primary; it is back when it is one, or does not say. */
  private found(): void {
    if (!this.demoted) {
      this.outages.found(this);
      return;
    }
    const back = (info = '') => {
      if (this.client.status !== 'ready' || /^role:slave/m.test(info)) return;
      this.demoted = false;
      this.outages.found(this);
    };
    this.client.info('replication').then(back, () => back());
  }

  private before<T>(giveUpAt: number, answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const stopWaiting = this.waits.until(giveUpAt, () =>
        reject(
          this.closed
            ? new QueueClosedError('The queue was closed while a call was under way.')
            : new Silence('no answer in time'),
        ),
      );
      answer.then(
        (value) => {
          stopWaiting();
          resolve(value);
        },
        (error) => {
          stopWaiting();
          reject(error);
        },
      );
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

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.waits.until(performance.now() + ms, resolve);
    });
  }
}

class Silence extends Error {}
