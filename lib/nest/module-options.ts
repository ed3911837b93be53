import { hostname } from 'node:os';
import type { Role } from '../api/scheduled-queue.consumer.js';
import { invalidOptions as refuse } from '../core/errors.js';
import { newMaker } from '../core/job/job-id.js';
import {
  QUEUE_OPTION_NAMES,
  type QueueOptions,
  type QueueSettings,
  readQueueOptions,
} from '../core/options/queue-options.js';
import { codecsById, type PayloadCodec, payloadCodec, payloadCodecs } from '../core/payload/codec.js';
import { Codecs } from '../core/payload/codecs.js';
import type { ValidationOptions } from '../core/payload/payload-class.js';
import { propertyNames, Redaction } from '../core/payload/redaction.js';
import { describe } from '../core/read/describe.js';
import type { Duration } from '../core/read/duration.js';
import { keyPart, keyPrefix, queueNames } from '../core/read/names.js';
import {
  anything,
  type Check,
  duration,
  flag,
  integer,
  isRecord,
  oneOf,
  readOne,
  readOptions,
  type Shape,
} from '../core/read/shape.js';
import { type ConnectionOption, DEFAULT_CONNECTION } from '../store/redis/link/client.js';
import { type JobOverride, type JobOverrides, readJobs } from './job-overrides.js';

/** The options of `RedisScheduledQueueModule.forRoot` and `forRootAsync`. */
export interface RedisScheduledQueueModuleOptions {
  /**
   * Where Redis is: a URL, options of ioredis, `{ cluster: { nodes, options } }`, or your own `Redis` or `Cluster` client, which
   * is duplicated and never closed. `undefined` is an error; leave the option out for the default, `redis://localhost:6379`.
   */
  connection?: ConnectionOption;
  /**
   * The first part of every key. Applications that share a Redis need one each. 1 to 64 of the characters `A-Z a-z 0-9 . _ -`, with `:`
   * allowed inside, as in `shop:prod`. Default `'sq'`.
   */
  prefix?: string;
  /** `'both'` schedules and runs jobs, `'producer'` only schedules them, `'worker'` is the same as `'both'`. Default `'both'`. */
  role?: Role;
  /**
   * The queues whose jobs this process runs, of those that its handlers name: `['video']` for a deployment of its own that does slow work.
   * It schedules into all queues; `pop` and `relay` do not ask this option. The recurrences that handlers of other queues declare, it does
   * not declare. Throws `InvalidOptionsError` at the start for an empty list, for a name that no handler of the application has, and beside
   * `role: 'producer'`. `undefined`: all queues. Default: all queues.
   */
  runs?: readonly string[];
  /** The name of this process. It must differ from that of every other running process. Default: host, pid and a random part. */
  workerId?: string;
  /** Options for each queue, by name; a queue that is not named here gets the defaults. */
  queues?: Record<string, QueueOptions>;
  /** Overrides for each job, by name, for example from configuration. */
  jobs?: Record<string, JobOverrides>;
  /**
   * How long running handlers may go on at shutdown before their `signal` aborts and their jobs go back. 0 sends them back
   * at once. Nest calls no `onModuleDestroy` before that. A second SIGINT or SIGTERM ends the wait, where the application has
   * called `enableShutdownHooks`. Keep it below what your platform waits before it kills (Kubernetes: 30 s). Default 20 000.
   */
  shutdownTimeoutMs?: Duration;
  /** `true`: the global guards, pipes, interceptors and filters of the app also run around handlers. Default `false`. */
  inheritAppConfig?: boolean;
  /** Options of class-validator, or `false` to skip validation. Default: unknown properties are kept. */
  validation?: ValidationOptions;
  /**
   * How payloads are stored, for example `messagePackCodec` or one of your own that encrypts. Payloads are validated before they are
   * encoded. The codec's `id` is stored with each job. Results, headers and the values of `progress` stay JSON. Default: JSON.
   */
  codec?: PayloadCodec;
  /**
   * Further codecs that this process reads, so that it understands jobs which other processes have written. `codec` and JSON are
   * always known. An attempt to run a job of an unknown codec fails with `UnknownCodecError` and is retried by the backoff. Default: none.
   */
  codecs?: readonly PayloadCodec[];
  /** Larger payloads, as they are stored, are refused when scheduling, and larger results of handlers are not kept. Default 1 MiB. */
  maxPayloadBytes?: number;
  /**
   * How long a call may wait for Redis before it throws `QueueUnavailableError`, and how long a codec may take to answer. At least 100.
   * Default 5 000.
   */
  commandTimeoutMs?: Duration;
  /**
   * How many replicas must have confirmed a changing call of the producer before it resolves, so that a failover to one of them loses nothing
   * of it. With fewer connected the call is refused, and nothing is written. Without their confirmation within `commandTimeoutMs` its
   * outcome is `'unknown'`: call again with the ids that the error names. Default 0: none is waited for.
   */
  minReplicas?: number;
  /**
   * Names of properties that people must not read: `['password']`. At any depth of payloads, results, headers and progress they read
   * `'[redacted]'` on the dashboard, and of class-validator's findings about them log lines tell only which property is meant. Exact
   * names, not paths. Handlers and the inspector get everything; the messages of errors are not searched. Default `[]`.
   */
  redact?: readonly string[];
  /**
   * Whose recurrences the decorators of this application declare. Several applications may share a queue. 1 to 64 of the characters
   * `A-Z a-z 0-9 . _ -`. Default `'app'`.
   */
  app?: string;
  /**
   * Which build declares these recurrences: a number, such as that of the release. Where live processes declare
   * different rules under one id, the higher number wins. Without it the process that started last wins, so an old build that crashes
   * and starts again and again makes the rule change to and fro. Default: none, which is below any.
   */
  revision?: number;
  /**
   * What becomes of a recurrence that a decorator of this `app` once declared, and that none of its live processes has declared for
   * `orphanAfterMs`: `'report'` names it in one log line, `'remove'` deletes it, and needs `app`. Default `'report'`.
   */
  orphanedRecurrences?: 'report' | 'remove';
  /**
   * After how long without a live process that declares it a recurrence is an orphan, and another declaration of it takes over. Longer
   * than a deploy takes. At least 1 000. Default 600 000, ten minutes.
   */
  orphanAfterMs?: Duration;
  /** `true`: workers start after bootstrap. `false`: they start when you call `ScheduledQueueConsumer.start()`. Default `true`. */
  autoStart?: boolean;
  /**
   * `true`: `currentScheduledJob()` answers the job anywhere below its handler. `false`: it answers `undefined`, and no
   * AsyncLocalStorage is made. Default `true`.
   */
  trackCurrentJob?: boolean;
}

/** Module options that have been read, with every default in its place. */
export interface ModuleSettings {
  connection: unknown;
  prefix: string;
  role: Role;
  /** As it was given; without it all queues. */
  runs?: readonly string[];
  workerId: string;
  jobs: ReadonlyMap<string, JobOverride>;
  shutdownTimeoutMs: number;
  inheritAppConfig: boolean;
  validation: ValidationOptions;
  codecs: Codecs;
  maxPayloadBytes: number;
  commandTimeoutMs: number;
  minReplicas: number;
  redaction: Redaction;
  app: string;
  revision?: number;
  orphanedRecurrences: 'report' | 'remove';
  orphanAfterMs: number;
  autoStart: boolean;
  trackCurrentJob: boolean;
  queues: ReadonlyMap<string, QueueSettings>;
  settingsOf(queue: string): QueueSettings;
  /** Whether this process runs the jobs that its handlers of a queue handle. */
  runsQueue(queue: string): boolean;
}

type ReadModuleOptions = Omit<
  ModuleSettings,
  'jobs' | 'queues' | 'settingsOf' | 'runsQueue' | 'codecs' | 'redaction'
> & {
  jobs: unknown;
  queues: unknown;
  codec: PayloadCodec;
  codecs: readonly PayloadCodec[];
  redact: readonly string[];
};

const object: Check<object> = (value) =>
  isRecord(value) ? { value } : { problem: `got ${describe(value)}, expected an object` };

const SHAPE: Shape<ReadModuleOptions> = {
  connection: anything,
  prefix: keyPrefix,
  role: oneOf('both', 'producer', 'worker'),
  runs: queueNames,
  workerId: keyPart,
  queues: object,
  jobs: object,
  shutdownTimeoutMs: duration(),
  inheritAppConfig: flag,
  validation: (value) =>
    value === false ? { value } : (object(value) as { value: Record<string, unknown> } | { problem: string }),
  codec: payloadCodec,
  codecs: payloadCodecs,
  maxPayloadBytes: integer(1, 512 * 1024 * 1024),
  commandTimeoutMs: duration(100),
  minReplicas: integer(0),
  redact: propertyNames,
  app: keyPart,
  revision: (value) =>
    Number.isFinite(value) ? { value: value as number } : { problem: `got ${describe(value)}, expected a number` },
  orphanedRecurrences: oneOf('report', 'remove'),
  orphanAfterMs: duration(1_000),
  autoStart: flag,
  trackCurrentJob: flag,
};

/** Options that belong elsewhere, and the place to name in the error. */
const ELSEWHERE: Record<string, string> = {
  name: 'give it to forRoot or forRootAsync itself, beside useFactory',
  isGlobal: 'give it to forRoot or forRootAsync itself, beside useFactory',
  ...Object.fromEntries(
    QUEUE_OPTION_NAMES.map((option) => [option, `it belongs to a queue: queues: { default: { ${option} } }`]),
  ),
};

/** Reads the module's options and fills in the defaults. Throws `InvalidOptionsError`. */
export function readModuleOptions(options: unknown, where: string): ModuleSettings {
  if (options === undefined)
    throw refuse(`${where}: got undefined, expected an object of options. Does the factory return them?`);
  for (const [name, hint] of Object.entries(ELSEWHERE)) {
    if (hasOwn(options, name)) throw refuse(`${where}: unknown option "${name}": ${hint}.`);
  }
  if (hasOwn(options, 'connection') && options.connection == null) {
    throw refuse(
      `${where}: connection: got ${describe(options.connection)}, expected a URL, options of ioredis, { cluster } or a client. Is an environment variable missing? Leave the option out for ${DEFAULT_CONNECTION}.`,
    );
  }
  const given = readOptions(options, SHAPE, where, refuse);
  const { codec, codecs, commandTimeoutMs = 5_000, redact, ...read } = given;
  if (read.orphanedRecurrences === 'remove' && read.app === undefined) {
    throw refuse(
      `${where}: orphanedRecurrences: got 'remove' and no app, expected app as well: else this application would delete the recurrences of each other one that has no app either. Give each application of the queue its own app.`,
    );
  }
  const { role = 'both', runs } = read;
  if (role === 'producer' && runs) {
    throw refuse(
      `${where}: runs: got ${describe(runs)} beside role: 'producer', which runs no jobs, expected one of the two. Leave out runs, or give role: 'worker'.`,
    );
  }
  const queues = readQueues(read.queues ?? {});
  const defaults = readQueueOptions('*', {});
  return {
    connection: DEFAULT_CONNECTION,
    prefix: 'sq',
    role,
    workerId: defaultWorkerId(),
    shutdownTimeoutMs: 20_000,
    inheritAppConfig: false,
    validation: {},
    maxPayloadBytes: 1024 * 1024,
    commandTimeoutMs,
    minReplicas: 0,
    app: 'app',
    orphanedRecurrences: 'report',
    orphanAfterMs: 600_000,
    autoStart: true,
    trackCurrentJob: true,
    ...read,
    jobs: readJobs(read.jobs ?? {}, where),
    codecs: new Codecs(codecsById([...(codec ? [codec] : []), ...(codecs ?? [])], where), codec, commandTimeoutMs),
    redaction: new Redaction(redact),
    queues,
    settingsOf: (queue) => queues.get(queue) ?? defaults,
    runsQueue: (queue) => role !== 'producer' && (!runs || runs.includes(queue)),
  };
}

function hasOwn<K extends string>(value: unknown, name: K): value is Record<K, unknown> {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name);
}

function readQueues(given: object): Map<string, QueueSettings> {
  return new Map(
    Object.entries(given).map(([queue, options]) => {
      return [readOne(keyPart, queue, 'queues', refuse), readQueueOptions(queue, options)];
    }),
  );
}

function defaultWorkerId(): string {
  const host =
    hostname()
      .replace(/[^A-Za-z0-9._-]/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 40) || 'host';
  return `${host}-${process.pid}-${newMaker()}`;
}
