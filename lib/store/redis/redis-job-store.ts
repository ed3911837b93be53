import { JobIdMaker } from '../../core/job/job-id.js';
import type { Log } from '../../core/log.js';
import { Observers } from '../../core/observe/observers.js';
import type { QueueSettings } from '../../core/options/queue-options.js';
import { Codecs } from '../../core/payload/codecs.js';
import type { CompletionJob, JobStore, QueueStore, SeenQueue, Transaction } from '../job-store.js';
import { RedisDirectory } from './calls/directory.js';
import { ClockLog } from './checks/clock-log.js';
import { OutageLog } from './checks/outage-log.js';
import { PermissionLog } from './checks/permission-log.js';
import { Preflight } from './checks/preflight.js';
import { ReadyCheck } from './checks/ready-check.js';
import { RedisServers } from './checks/servers.js';
import { Replicas } from './confirm/replicas.js';
import { queueKeys } from './keys.js';
import { answersAnew } from './link/answers-anew.js';
import { causeOf } from './link/call-error.js';
import { ClientFactory } from './link/client.js';
import { clockOffsetOf } from './link/clock-offset.js';
import { RedisConnection } from './link/connection.js';
import { linkOf } from './link/queue-link.js';
import { WakeListener } from './link/wake-listener.js';
import { keepReceiptMsOf, openRedisQueue } from './redis-queue.js';
import { RedisTransactions } from './schedule/redis-transactions.js';
import { RedisInspection } from './view/inspection.js';

export interface RedisJobStoreOptions {
  connection: unknown;
  prefix: string;
  commandTimeoutMs: number;
  /** How many replicas must have confirmed what producers change. Default 0. */
  minReplicas?: number;
  /** The options of a queue, the defaults where it has none. */
  settingsOf(queue: string): QueueSettings;
  log: Log;
  /** `decodes`: this process reads payloads that are no text; `writes`: the codec that it writes with. Default: JSON alone. */
  codecs?: Pick<Codecs, 'decodes' | 'writes'>;
  /** Who measures the calls. */
  observers?: Observers;
  /** By this, the sessions of a fleet look at different times. Default `Math.random`. */
  random?: () => number;
  /** Called with the address, never with a password, whenever a connection for commands can be used again, the first time included. */
  reached?(address: string): void;
}

/** Redis may be busy with somebody's long script for as long as this. */
const LEAST_SILENCE_MS = 1_000;

/** Jobs in Redis. Connects and closes; calls and sessions have a connection each, so that neither waits behind the other. */
export class RedisJobStore implements JobStore {
  private readonly clients: ClientFactory;
  private readonly outages: OutageLog;
  private readonly preflight: Preflight;
  private readonly clockLog: ClockLog;
  private readonly permissions: PermissionLog;
  private readonly silenceMs: number;
  private readonly ids = new JobIdMaker();
  private readonly codecs: Pick<Codecs, 'decodes' | 'writes'>;
  private readonly openedQueues = new Map<string, QueueStore>();
  private readonly confirmedQueues = new Map<string, QueueStore>();
  private closed = false;
  private calling?: RedisConnection;
  private sessionLink?: { connection: RedisConnection; listener: WakeListener };
  private listener?: WakeListener;
  private confirming?: RedisConnection;
  private readonly replicas?: Replicas;
  private transactions?: RedisTransactions;
  private completed?: (queue: string, job: CompletionJob) => void;
  private openedDirectory?: RedisDirectory;

  /** Connects to nothing yet. Throws `InvalidOptionsError`. */
  constructor(private readonly options: RedisJobStoreOptions) {
    this.codecs = options.codecs ?? new Codecs();
    // Half of a call's time: one that meets a dead connection can still be sent again on a new one.
    this.silenceMs = Math.max(LEAST_SILENCE_MS, options.commandTimeoutMs / 2);
    this.clients = new ClientFactory(options.connection, this.silenceMs);
    this.outages = new OutageLog(options.log);
    this.preflight = new Preflight(options.log);
    this.clockLog = new ClockLog(options.log);
    this.permissions = new PermissionLog(options.log);
    const { minReplicas = 0 } = options;
    if (minReplicas > 0) this.replicas = this.atLeast(minReplicas);
  }

  connect(): void {
    if (!this.closed) this.forCalls().connect();
  }

  queue(name: string): QueueStore {
    const queue = this.openedQueues.get(name) ?? this.openQueue(name);
    this.openedQueues.set(name, queue);
    return queue;
  }

  get confirmed(): Pick<JobStore, 'queue' | 'transaction'> {
    const { replicas } = this;
    if (!replicas) return this;
    // EXEC is the caller's, and waits for no replicas.
    return {
      queue: (name) => this.confirmedQueue(name, replicas),
      transaction: (multi) => this.transaction(multi),
    };
  }

  transaction(multi: unknown): Transaction {
    this.transactions ??= this.openTransactions();
    return this.transactions.of(multi);
  }

  hearCompletions(listener: (queue: string, job: CompletionJob) => void): void {
    this.completed = listener;
  }

  queues(): Promise<SeenQueue[]> {
    return this.directory().list();
  }

  clockOffsetMs(withinMs: number): Promise<number> {
    return clockOffsetOf(this.forCalls(), performance.now() + withinMs);
  }

  get isClustered(): boolean {
    return this.clients.clustered;
  }

  /** The servers behind this store, each to be asked by itself. */
  get servers(): RedisServers {
    const another = () => new RedisConnection(this.clients.subscriber(), this.outages, this.silenceMs);
    return new RedisServers(this.forCalls(), another, { ...this.options, clustered: this.clients.clustered });
  }

  /** One queue, by all that can be read of it here. */
  inspection(queue: string): RedisInspection {
    const { prefix, commandTimeoutMs } = this.options;
    const keys = queueKeys(prefix, queue);
    return new RedisInspection(linkOf(queue, this.forCalls(), keys), keys, commandTimeoutMs);
  }

  async answering(queues: readonly string[], withinMs: number): Promise<string[]> {
    if (this.closed || queues.length === 0) return [];
    const keys = new Map(queues.map((queue) => [queue, queueKeys(this.options.prefix, queue).gate]));
    return answersAnew(this.clients.commands(), keys, withinMs);
  }

  get trouble(): Error | undefined {
    const trouble = this.calling?.trouble;
    return trouble && causeOf(trouble);
  }

  async close(): Promise<void> {
    this.closed = true;
    this.calling?.close();
    this.confirming?.close();
    this.sessionLink?.connection.close();
    this.listener?.close();
  }

  private confirmedQueue(name: string, replicas: Replicas): QueueStore {
    const queue = this.confirmedQueues.get(name) ?? this.openQueue(name, replicas);
    this.confirmedQueues.set(name, queue);
    return queue;
  }

  private atLeast(minReplicas: number): Replicas {
    const confirming = () => {
      // Its calls wait for replicas, so their times say nothing of Redis.
      this.confirming ??= this.open(new Observers());
      return this.confirming;
    };
    const links = { forCalls: () => this.forCalls(), forConfirmations: confirming };
    const { prefix } = this.options;
    return new Replicas(links, minReplicas, { prefix, clustered: this.clients.clustered, silenceMs: this.silenceMs });
  }

  private forCalls(): RedisConnection {
    this.calling ??= this.open();
    return this.calling;
  }

  private open(observers = this.options.observers ?? new Observers()): RedisConnection {
    const client = this.clients.commands();
    this.preflight.watch(client);
    const connection = new RedisConnection(
      client,
      this.outages,
      this.silenceMs,
      new ReadyCheck(client, this.permissions),
      this.told(),
      this.codecs.decodes,
      observers,
    );
    // First used after the application has closed: its calls say so, and no connection is left open.
    if (this.closed) connection.close();
    return connection;
  }

  /** What one connection calls whenever it can be used again. */
  private told(): (address: string) => void {
    let isBack = false;
    return (address) => {
      if (isBack) this.openedDirectory?.noteAgain();
      this.replicas?.forget();
      isBack = true;
      this.options.reached?.(address);
    };
  }

  private openTransactions(): RedisTransactions {
    const { prefix, commandTimeoutMs, settingsOf } = this.options;
    const connection = this.forCalls();
    const home = { clustered: this.clients.clustered, database: connection.database };
    const traitsOf = (queue: string) => ({
      keys: queueKeys(prefix, queue),
      stealAfterMs: settingsOf(queue).stealAfterMs,
      keepReceiptMs: keepReceiptMsOf(settingsOf(queue), commandTimeoutMs),
      isUsed: this.directory().noteOf(queue),
    });
    return new RedisTransactions(connection, home, traitsOf, commandTimeoutMs);
  }

  private directory(): RedisDirectory {
    const { prefix, commandTimeoutMs } = this.options;
    this.openedDirectory ??= new RedisDirectory(this.forCalls(), prefix, commandTimeoutMs);
    return this.openedDirectory;
  }

  private forSessions() {
    this.sessionLink ??= {
      connection: this.open(),
      listener: this.forMessages(),
    };
    return this.sessionLink;
  }

  private forMessages(): WakeListener {
    this.listener ??= new WakeListener(this.clients.subscriber(), this.outages);
    return this.listener;
  }

  private openQueue(name: string, replicas?: Replicas): QueueStore {
    const { prefix, commandTimeoutMs, settingsOf, log, random = Math.random } = this.options;
    const { clustered } = this.clients;
    const links = {
      forCalls: this.forCalls(),
      forSessions: () => this.forSessions(),
      forMessages: () => this.forMessages(),
    };
    return openRedisQueue(name, settingsOf(name), links, this.ids, {
      prefix,
      commandTimeoutMs,
      clustered,
      codec: this.codecs.writes,
      log,
      clockLog: this.clockLog,
      isUsed: this.directory().noteOf(name),
      random,
      completed: (jobs) => {
        for (const job of jobs) this.completed?.(name, job);
      },
      replicas: replicas?.of(name),
    });
  }
}
