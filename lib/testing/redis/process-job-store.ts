import { QueueClosedError } from '../../core/errors.js';
import { JobIdMaker } from '../../core/job/job-id.js';
import type { Log } from '../../core/log.js';
import type { QueueSettings } from '../../core/options/queue-options.js';
import { Codecs } from '../../core/payload/codecs.js';
import type { JobStore, QueueStore, SeenQueue } from '../../store/job-store.js';
import { RedisDirectory } from '../../store/redis/calls/directory.js';
import { ClockLog } from '../../store/redis/checks/clock-log.js';
import { openRedisQueue } from '../../store/redis/redis-queue.js';
import { ProcessLink } from './process-link.js';
import { ProcessListener } from './process-listener.js';
import { SmallRedis } from './small-redis.js';

export interface ProcessJobStoreOptions {
  prefix: string;
  /** The options of a queue, the defaults where it has none. */
  settingsOf(queue: string): QueueSettings;
  /** The time of its Redis, epoch ms. */
  now(): number;
  log: Log;
  /** Default: JSON alone. */
  codecs?: Pick<Codecs, 'decodes' | 'writes'>;
}

/** No call waits for a network, so none comes to the end of its time. */
const COMMAND_TIMEOUT_MS = 5_000;

/** Jobs in a Redis that lives in this process, as long as this object: calls, scripts and answers are those of production. */
export class ProcessJobStore implements JobStore {
  readonly redis: SmallRedis;
  private readonly link: ProcessLink;
  private readonly listener: ProcessListener;
  private readonly directory: RedisDirectory;
  private readonly clockLog: ClockLog;
  private readonly codecs: Pick<Codecs, 'decodes' | 'writes'>;
  private readonly ids = new JobIdMaker();
  private readonly opened = new Map<string, QueueStore>();
  private isClosed = false;

  constructor(private readonly options: ProcessJobStoreOptions) {
    this.codecs = options.codecs ?? new Codecs();
    this.redis = new SmallRedis(() => options.now());
    this.link = new ProcessLink(this.redis, this.codecs.decodes);
    this.listener = new ProcessListener(this.redis);
    this.directory = new RedisDirectory(this.link, options.prefix, COMMAND_TIMEOUT_MS);
    this.clockLog = new ClockLog(options.log);
  }

  connect(): void {}

  queue(name: string): QueueStore {
    const queue = this.opened.get(name) ?? this.open(name);
    this.opened.set(name, queue);
    return queue;
  }

  /** There are no replicas. */
  get confirmed(): this {
    return this;
  }

  queues(): Promise<SeenQueue[]> {
    return this.directory.list();
  }

  /** Its clock is the process's. */
  async clockOffsetMs(): Promise<number> {
    if (this.isClosed) throw new QueueClosedError('The connection is closed.');
    return 0;
  }

  async answering(queues: readonly string[]): Promise<string[]> {
    return this.isClosed ? [] : [...queues];
  }

  readonly trouble = undefined;

  async close(): Promise<void> {
    this.isClosed = true;
    this.link.close();
  }

  private open(name: string): QueueStore {
    const { prefix, settingsOf, log } = this.options;
    const links = {
      forCalls: this.link,
      forSessions: () => ({ connection: this.link, listener: this.listener }),
      forMessages: () => this.listener,
    };
    return openRedisQueue(name, settingsOf(name), links, this.ids, {
      prefix,
      commandTimeoutMs: COMMAND_TIMEOUT_MS,
      clustered: false,
      codec: this.codecs.writes,
      log,
      clockLog: this.clockLog,
      isUsed: this.directory.noteOf(name),
      // There is no fleet that would look in step.
      random: () => 0,
    });
  }
}
