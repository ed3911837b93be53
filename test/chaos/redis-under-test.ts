import { Redis } from 'ioredis';
import { queueKeys } from '../../lib/store/redis/keys.js';
import { auditSnapshot } from '../support/audit.js';
import { type OwnRedisServer, startOwnServer } from '../support/redis-server.js';
import { type QueueSnapshot, snapshot } from '../support/snapshot.js';
import { until } from '../support/wait.js';
import { type FinalLine, type History, monotonicMs } from './history.js';
import { PREFIX, QUEUE_NAMES, type QueueName } from './settings.js';

const CLOCK_EVERY_MS = 100;
const ANSWERS_WITHIN_MS = 5_000;
/** Every write is on disk before it is answered, so that nothing that was answered may be missing after a kill. */
const OPTIONS = ['--appendonly', 'yes', '--appendfsync', 'always'];

/** Jobs under a lease, and of those that wait: ordinary ones, and suspects, which run alone in their processes. */
export interface Unfinished {
  active: number;
  ordinary: number;
  suspects: number;
}

/** As one script, because a job that moves between two questions would be counted twice or not at all. */
const COUNT_UNFINISHED = `
  local base = KEYS[1]
  local active, suspects = redis.call('ZCARD', base .. 'active'), 0
  for _, level in ipairs(redis.call('ZRANGE', base .. 'levels:!', 0, -1)) do
    for _, head in ipairs(redis.call('ZRANGE', base .. 'heads:' .. level .. ':!', 0, -1)) do
      suspects = suspects + redis.call('ZCARD', base .. 'lane:' .. string.match(head, '\\t(.*)$'))
    end
  end
  local unfinished = redis.call('HLEN', base .. 'jobs') - redis.call('ZCARD', base .. 'dead')
  return { active, unfinished - active - suspects, suspects }`;

/** The Redis that all processes use, and a connection of the harness that no fault but Redis' own stands in the way of. */
export class RedisUnderTest {
  private clock?: NodeJS.Timeout;

  private constructor(
    readonly server: OwnRedisServer,
    readonly client: Redis,
    private readonly history: History,
  ) {}

  static async start(history: History, logFile: string): Promise<RedisUnderTest> {
    const server = await startOwnServer(...OPTIONS, '--logfile', logFile);
    const client = new Redis(server.url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: 1_000,
      retryStrategy: () => 50,
    });
    client.on('error', () => {});
    const redis = new RedisUnderTest(server, client, history);
    redis.clock = setInterval(() => void redis.readClock(), CLOCK_EVERY_MS);
    return redis;
  }

  get url(): string {
    return this.server.url;
  }

  /** Between which instants of the monotonic clock Redis' clock showed what: so the clocks can be compared afterwards. */
  private async readClock(): Promise<void> {
    const from = monotonicMs();
    try {
      const [seconds, microseconds] = await this.client.time();
      this.history.note({ type: 'clock', from, time: Number(seconds) * 1_000 + Number(microseconds) / 1_000 });
    } catch {
      // Away, which is what this is all about.
    }
  }

  /** The connection of the harness, once Redis answers again. Throws where it does not come back. */
  async answering(): Promise<Redis> {
    const answers = () =>
      this.client.ping().then(
        () => true,
        () => false,
      );
    await until('Redis answers', answers, ANSWERS_WITHIN_MS);
    return this.client;
  }

  /** Throws while Redis is away. */
  async audit(): Promise<void> {
    for (const queue of QUEUE_NAMES) {
      const problems = auditSnapshot(await snapshot(this.client, PREFIX, queue));
      this.history.note({ type: 'audit', queue, problems });
    }
  }

  /** Jobs that wait or run, in all queues; undefined while Redis is away. */
  async unfinished(): Promise<Unfinished | undefined> {
    try {
      const counts = await Promise.all(
        QUEUE_NAMES.map((queue) => this.client.eval(COUNT_UNFINISHED, 1, queueKeys(PREFIX, queue).base)),
      );
      const of = (place: number) => (counts as number[][]).reduce((sum, each) => sum + each[place]!, 0);
      return { active: of(0), ordinary: of(1), suspects: of(2) };
    } catch {
      return undefined;
    }
  }

  /** Whether no job waits or runs. */
  async isQuiet(): Promise<boolean> {
    const left = await this.unfinished();
    return left !== undefined && left.active + left.ordinary + left.suspects === 0;
  }

  async noteFinalState(): Promise<void> {
    for (const queue of QUEUE_NAMES) this.history.note(finalState(queue, await snapshot(this.client, PREFIX, queue)));
  }

  async stop(): Promise<void> {
    clearInterval(this.clock);
    this.client.disconnect();
    this.server.process.kill('SIGCONT');
    await this.server.stop();
  }
}

function finalState(queue: QueueName, found: QueueSnapshot): FinalLine {
  return {
    type: 'final',
    queue,
    waiting: [...found.lanes.values()].flatMap((jobs) => jobs.map(([id]) => id)),
    active: found.active.map(([id]) => id),
    dead: found.dead.map(([id, diedAt]) => {
      const [, attempts, crashes, dueAt] = (found.claims.get(id) ?? '0 0 0 0').split(' ').map(Number);
      const last = found.failures.get(id)?.split('\n').at(-1) ?? '';
      const reason: string = JSON.parse(last.slice(last.indexOf('{')) || '{}').reason ?? 'unknown';
      const token = tokenIn(found.envelopes.get(id));
      return { id, token, reason, attempts: attempts!, crashes: crashes!, dueAt: dueAt!, diedAt: Number(diedAt) };
    }),
    completed: found.completed.map(([id]) => {
      const record = found.results.get(id) ?? '';
      return { id, token: tokenIn(record), result: record.split('\n')[1] ?? '' };
    }),
    stats: Object.fromEntries([...found.stats].map(([counter, count]) => [counter, Number(count)])),
  };
}

/** An envelope ends with the payload. */
function tokenIn(envelope = ''): string {
  return envelope.match(/"token":"([^"]+)"/)?.[1] ?? '';
}
