import type { Clock } from '../../core/clock.js';
import { InvalidOptionsError, InvalidScheduleError, QueueClosedError } from '../../core/errors.js';
import { JobIdMaker } from '../../core/job/job-id.js';
import type { QueueSettings } from '../../core/options/queue-options.js';
import { Codecs } from '../../core/payload/codecs.js';
import { isReadable } from '../../store/envelope.js';
import type {
  CompletionJob,
  JobStore,
  QueueEvents,
  QueueSessions,
  QueueStore,
  SeenQueue,
} from '../../store/job-store.js';
import { RedisDirectory } from '../../store/redis/calls/directory.js';
import { ClockLog } from '../../store/redis/checks/clock-log.js';
import { decodeEnvelope } from '../../store/redis/codec/envelope-text.js';
import { ownerOf, queueKeys } from '../../store/redis/keys.js';
import { openRedisQueue } from '../../store/redis/redis-queue.js';
import type { ScriptName } from '../../store/redis/scripts/embedded.js';
import { CancelledJobs, NONE_CANCELLED } from './cancelled-jobs.js';
import { Outage } from './outage.js';
import { ProcessLink } from './process-link.js';
import { ProcessListener } from './process-listener.js';
import { ProcessSession } from './process-session.js';
import { PullSession } from './pull-session.js';
import { QueueInside } from './queue-inside.js';
import { SmallRedis } from './small-redis.js';

export interface ProcessJobStoreOptions {
  /** The options of a queue, the defaults where it has none. */
  settingsOf(queue: string): QueueSettings;
  clock: Pick<Clock, 'now' | 'wallNow'>;
  /** Pops sleep until time or somebody changes something: see `PullSession`. Default `false`: they look as often as in production. */
  popsSleepOn?: boolean;
  /** Default: JSON alone. */
  codecs?: Pick<Codecs, 'decodes' | 'writes'>;
}

/** A store of its own for each, so the prefix tells nobody apart. */
const PREFIX = 'test';
/** By the clock of the store, which stands still while a call is under way. */
const COMMAND_TIMEOUT_MS = 5_000;
/** What the library logs of Redis is about servers. */
const NO_LOG = { log() {}, warn() {}, error() {} };

interface OpenedQueue {
  readonly store: QueueStore;
  readonly inside: QueueInside;
}

/** Jobs in a Redis that lives in this process, as long as this object: calls, scripts and answers are those of production. */
export class ProcessJobStore implements JobStore {
  /** Told of each waiting job that is cancelled or deleted, by whatever call. */
  onCancel?: (job: { queue: string; id: string; name: string }) => void;
  /** While it is on, each call fails. */
  readonly outage = new Outage();
  private readonly redis: SmallRedis;
  private readonly link: ProcessLink;
  private readonly listener: ProcessListener;
  private readonly directory: RedisDirectory;
  private readonly codecs: Pick<Codecs, 'decodes' | 'writes'>;
  private readonly ids = new JobIdMaker();
  private readonly opened = new Map<string, OpenedQueue>();
  private readonly cancelled = new CancelledJobs();
  /** The names of jobs that a script has taken out, by key and id: read before they are gone. */
  private readonly names = new Map<string, string>();
  private readonly pulls = new Set<PullSession>();
  private completed?: (queue: string, job: CompletionJob) => void;
  private isClosed = false;

  constructor(private readonly options: ProcessJobStoreOptions) {
    const { clock, codecs = new Codecs() } = options;
    this.codecs = codecs;
    this.redis = new SmallRedis(() => clock.wallNow());
    const hasRun = (script: ScriptName) => {
      this.tellCancelled(script);
      for (const session of this.pulls) session.hasRun(script);
    };
    const watch = (name: string, args: readonly string[]) => this.noteRemoved(name, args);
    const watchOf = (script: ScriptName) => (NONE_CANCELLED.has(script) || !this.onCancel ? undefined : watch);
    this.link = new ProcessLink(this.redis, () => clock.now(), this.outage, codecs.decodes, hasRun, watchOf);
    this.listener = new ProcessListener(this.redis);
    this.directory = new RedisDirectory(this.link, PREFIX, COMMAND_TIMEOUT_MS);
  }

  connect(): void {}

  queue(name: string): QueueStore {
    return this.openedQueue(name).store;
  }

  /** There are no replicas. */
  get confirmed(): this {
    return this;
  }

  transaction(): never {
    throw new InvalidScheduleError(
      'in: the test kit has no Redis that could run a MULTI, expected a real one: test what schedules in a MULTI against Redis, or prepare the job.',
    );
  }

  /** What the kit sees of a queue, also while it is away. */
  inside(name: string): QueueInside {
    return this.openedQueue(name).inside;
  }

  /** The queues that have been opened. */
  openedQueues(): QueueInside[] {
    return [...this.opened.values()].map(({ inside }) => inside);
  }

  hearCompletions(listener: (queue: string, job: CompletionJob) => void): void {
    this.completed = listener;
  }

  queues(): Promise<SeenQueue[]> {
    return this.directory.list();
  }

  /** Its clock is the process's. */
  async clockOffsetMs(): Promise<number> {
    if (this.isClosed) throw new QueueClosedError('The connection is closed.');
    this.outage.requireThere();
    return 0;
  }

  async answering(queues: readonly string[]): Promise<string[]> {
    return this.isClosed || this.outage.isOn ? [] : [...queues];
  }

  get trouble(): Error | undefined {
    return this.outage.trouble;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.link.close();
  }

  private openedQueue(name: string): OpenedQueue {
    const queue = this.opened.get(name) ?? this.open(name);
    this.opened.set(name, queue);
    return queue;
  }

  private open(name: string): OpenedQueue {
    const { settingsOf, clock } = this.options;
    const settings = settingsOf(name);
    const links = {
      forCalls: this.link,
      forSessions: () => ({ connection: this.link, listener: this.listener }),
      forMessages: () => this.listener,
    };
    const queue = openRedisQueue(name, settings, links, this.ids, {
      prefix: PREFIX,
      commandTimeoutMs: COMMAND_TIMEOUT_MS,
      clustered: false,
      codec: this.codecs.writes,
      log: NO_LOG,
      clockLog: new ClockLog(NO_LOG),
      isUsed: this.directory.noteOf(name),
      // There is no fleet that would look in step.
      random: () => 0,
      completed: (jobs) => {
        for (const job of jobs) this.completed?.(name, job);
      },
    });
    const keys = queueKeys(PREFIX, name);
    const inside = new QueueInside(name, settings, this.outage, keys, this.link, () => clock.wallNow());
    return { store: { ...queue, sessions: this.sessions(inside, queue), events: this.events(queue) }, inside };
  }

  private sessions(inside: QueueInside, { sessions }: QueueStore): QueueSessions {
    return {
      worker: (...given) => new ProcessSession(sessions.worker(...given), this.outage),
      pull: (...given) => {
        const session = sessions.pull(...given);
        if (!this.options.popsSleepOn) return new ProcessSession(session, this.outage);
        const pull = new PullSession(session, inside);
        this.pulls.add(pull);
        return pull;
      },
      relay: () => {
        throw noTargets(inside.name);
      },
    };
  }

  /** Written and told at once, as no timer of the machine is to matter to a test. */
  private events({ events }: QueueStore): QueueEvents {
    const watching = new Set<() => void>();
    const tell = () => {
      for (const look of watching) look();
    };
    return {
      add: (event) => {
        events.add(event);
        void events.flush().then(tell);
      },
      flush: () => events.flush(),
      read: (from) => events.read(from),
      watch: (look) => {
        watching.add(look);
        return () => void watching.delete(look);
      },
    };
  }

  private noteRemoved(name: string, args: readonly string[]): void {
    if (name !== 'HDEL' && name !== 'ZREM') return;
    this.cancelled.note(name, args);
    if (name === 'ZREM') return;
    const [key, ...ids] = args;
    if (!key!.endsWith('}:jobs')) return;
    for (const id of ids) {
      const text = this.redis.command('HGET', [key!, id]) as string | null;
      const envelope = text === null ? undefined : decodeEnvelope(Buffer.from(text, 'latin1'));
      if (envelope && isReadable(envelope)) this.names.set(`${key} ${id}`, envelope.name);
    }
  }

  private tellCancelled(script: ScriptName): void {
    if (!this.onCancel || NONE_CANCELLED.has(script)) return;
    for (const { key, id } of this.cancelled.told()) {
      const { queue } = ownerOf(Buffer.from(key, 'latin1').toString())!;
      const name = this.names.get(`${key} ${id}`);
      if (name !== undefined) this.onCancel({ queue, id: Buffer.from(id, 'latin1').toString(), name });
    }
    this.names.clear();
  }
}

const noTargets = (queue: string) =>
  new InvalidOptionsError(
    `relay: the queue '${queue}' lies in the Redis of the test kit, where nobody can read the target; expected a queue in Redis.`,
    { queue },
  );
