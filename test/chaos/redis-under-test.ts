import { Redis } from 'ioredis';
import { queueKeys } from '../../lib/store/keys.js';
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

  /** Whether no job waits or runs. */
  async isQuiet(): Promise<boolean> {
    const unfinished = QUEUE_NAMES.map(async (queue) => {
      const keys = queueKeys(PREFIX, queue);
      return (await this.client.hlen(keys.jobs)) - (await this.client.zcard(keys.dead));
    });
    // One that dies between the two questions is counted as gone twice.
    return Promise.all(unfinished).then(
      (counts) => counts.every((count) => count <= 0),
      () => false,
    );
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
      const record = found.finished.get(id) ?? '';
      return { id, token: tokenIn(record), result: record.split('\n')[1] ?? '' };
    }),
    stats: Object.fromEntries([...found.stats].map(([counter, count]) => [counter, Number(count)])),
  };
}

/** An envelope ends with the payload. */
function tokenIn(envelope = ''): string {
  return envelope.match(/"token":"([^"]+)"/)?.[1] ?? '';
}
