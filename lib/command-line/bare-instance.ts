import { PayloadWriter } from '../api/payload-writer.js';
import { ScheduledQueueInspector } from '../api/scheduled-queue.inspector.js';
import { ScheduledQueueProducer } from '../api/scheduled-queue.producer.js';
import { SystemClock } from '../core/clock.js';
import type { EventSink } from '../core/job/events.js';
import type { Log } from '../core/log.js';
import { Observers } from '../core/observe/observers.js';
import { type QueueSettings, readQueueOptions } from '../core/options/queue-options.js';
import { settingsOfShared } from '../core/options/shared-options.js';
import type { PayloadCodec } from '../core/payload/codec.js';
import { Codecs } from '../core/payload/codecs.js';
import { PayloadChecker } from '../core/payload/payload-class.js';
import type { JobStore } from '../store/job-store.js';
import { RedisJobStore } from '../store/redis/redis-job-store.js';

/** A worker that stopped without a word stays listed for an hour, and its options with it. */
const LISTED_MS = 3_600_000;
/** How long a call may take, and so how long a command goes on while Redis is away. */
const COMMAND_TIMEOUT_MS = 5_000;
/** Nothing schedules here, so nothing is too large. */
const MAX_PAYLOAD_BYTES = Number.POSITIVE_INFINITY;

/** A command says once what went wrong. What a process logs that goes on for days would be a second line. */
const SILENT = { log() {}, warn() {}, error() {} };

/**
 * The services of an instance of the module, without Nest. What depends on the options of a queue goes by those of its worker that was seen
 * last: whoever types a command has given no options.
 */
export class BareInstance {
  readonly store: RedisJobStore;
  readonly inspector: ScheduledQueueInspector;
  readonly producer: ScheduledQueueProducer;
  /** Sees workers that the other store takes for dead: it needs the options of a worker to know how long a lease is. */
  private readonly scout: JobStore;
  private readonly settings = new Map<string, QueueSettings>();
  private readonly told = new Set<string>();

  /** Connects to nothing yet. `log`: what happens to the connection of `store`. Throws `InvalidOptionsError`. */
  constructor(
    readonly connection: unknown,
    readonly prefix: string,
    log: Log = SILENT,
    /** Which payloads are read beside JSON. */
    known: readonly PayloadCodec[] = [],
  ) {
    const codecs = new Codecs(new Map(known.map((codec) => [codec.id, codec])), undefined, COMMAND_TIMEOUT_MS);
    const settingsOf = (queue: string) => this.settings.get(queue) ?? readQueueOptions(queue, {});
    const common = { connection, prefix, commandTimeoutMs: COMMAND_TIMEOUT_MS };
    this.store = new RedisJobStore({ ...common, settingsOf, log, codecs });
    this.scout = new RedisJobStore({
      ...common,
      log: SILENT,
      settingsOf: (queue) => readQueueOptions(queue, { leaseMs: LISTED_MS }),
    });
    const events: EventSink = {
      wants: (queue) => settingsOf(queue).streamEvents !== false,
      tell: (event) => {
        this.told.add(event.queue);
        this.store.queue(event.queue).events.add(event);
      },
    };
    const payloads = new PayloadWriter(codecs, new PayloadChecker(false), MAX_PAYLOAD_BYTES);
    this.inspector = new ScheduledQueueInspector(this.store, events, settingsOf, codecs);
    this.producer = new ScheduledQueueProducer(
      this.store,
      payloads,
      events,
      codecs,
      SILENT,
      new Observers(),
      new SystemClock(),
    );
  }

  /** Learns the options of a queue. To be called before anything else is asked about it. */
  async learn(queue: string): Promise<void> {
    const workers = await this.scout.queue(queue).view.workers();
    const [last] = workers.sort((a, b) => b.lastSeenAtMs - a.lastSeenAtMs);
    this.settings.set(queue, settingsOfShared(last?.options ?? {}));
  }

  /** Whether a worker of the queue tells its events to other processes. */
  async streams(queue: string): Promise<boolean> {
    const workers = await this.inspector.workers({ queue });
    return workers.some(({ options }) => options.streamEvents);
  }

  /** The time of day by the clock of Redis, by which jobs are due. */
  async now(): Promise<number> {
    return Date.now() + (await this.store.clockOffsetMs(COMMAND_TIMEOUT_MS));
  }

  /** Ends the connections, once the events that were told lie in Redis. */
  async close(): Promise<void> {
    await Promise.all([...this.told].map((queue) => this.store.queue(queue).events.flush()));
    await Promise.all([this.store.close(), this.scout.close()]);
  }
}
