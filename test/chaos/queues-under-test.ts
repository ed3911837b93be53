import type { Redis } from 'ioredis';
import { queueKeys } from '../../lib/store/redis/keys.js';
import { auditSnapshot } from '../support/audit.js';
import { type QueueSnapshot, snapshot } from '../support/snapshot.js';
import { type FinalLine, type History, monotonicMs } from './history.js';
import type { Connected } from './member.js';
import { PREFIX, QUEUE_NAMES, type QueueName } from './settings.js';

const CLOCK_EVERY_MS = 100;

/** Jobs under a lease, and of those that wait: ordinary ones, and suspects, which run alone in their processes. */
export interface Unfinished {
  active: number;
  ordinary: number;
  suspects: number;
}

/** What is there for groups alone, behind the base of a queue's keys. */
const OF_GROUPS =
  /^(groups|runningOfGroups|groupSettings|groupPauses|held|holders|levels:@|heads:.*:@|(turns|turning|left|rate):.*)$/;

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

/** What the harness asks of the queues, over connections of its own. */
export abstract class QueuesUnderTest {
  private clock?: NodeJS.Timeout;

  protected constructor(protected readonly history: History) {}

  /** How another process connects. */
  abstract connect(): Promise<Connected>;

  /** A connection to the server that has the queue. */
  abstract homeOf(queue: QueueName): Redis;

  /** From now on notes the clock of that server. */
  protected watchClock(client: Redis): void {
    this.clock = setInterval(() => void this.readClock(client), CLOCK_EVERY_MS);
  }

  /** Between which instants of the monotonic clock Redis' clock showed what: so the clocks can be compared afterwards. */
  private async readClock(client: Redis): Promise<void> {
    const from = monotonicMs();
    try {
      const [seconds, microseconds] = await client.time();
      this.history.note({ type: 'clock', from, time: Number(seconds) * 1_000 + Number(microseconds) / 1_000 });
    } catch {
      // Away, which is what this is all about.
    }
  }

  /** Throws while Redis is away. */
  async audit(): Promise<void> {
    for (const queue of QUEUE_NAMES) {
      const problems = auditSnapshot(await snapshot(this.homeOf(queue), PREFIX, queue));
      this.history.note({ type: 'audit', queue, problems });
    }
  }

  /** Jobs that wait or run, in all queues; undefined while Redis is away. */
  async unfinished(): Promise<Unfinished | undefined> {
    try {
      const counts = await Promise.all(
        QUEUE_NAMES.map((queue) => this.homeOf(queue).eval(COUNT_UNFINISHED, 1, queueKeys(PREFIX, queue).base)),
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
    for (const queue of QUEUE_NAMES) {
      const { base } = queueKeys(PREFIX, queue);
      const keys = (await this.homeOf(queue).keys(`${base}*`)).map((key) => key.slice(base.length));
      const groupKeys = keys.filter((key) => OF_GROUPS.test(key)).sort();
      this.history.note(finalState(queue, await snapshot(this.homeOf(queue), PREFIX, queue), groupKeys));
    }
  }

  stop(): Promise<void> {
    clearInterval(this.clock);
    return this.stopServers();
  }

  protected abstract stopServers(): Promise<void>;
}

function finalState(queue: QueueName, found: QueueSnapshot, groupKeys: string[]): FinalLine {
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
    groupKeys,
    stats: Object.fromEntries([...found.stats].map(([counter, count]) => [counter, Number(count)])),
  };
}

/** An envelope ends with the payload. */
function tokenIn(envelope = ''): string {
  return envelope.match(/"token":"([^"]+)"/)?.[1] ?? '';
}
