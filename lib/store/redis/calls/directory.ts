import { outsideJobs } from '../../../core/job/current-job.js';
import type { SeenQueue } from '../../job-store.js';
import { DIRECTORY, type QueueKeys, queueKeys } from '../keys.js';
import type { RedisLink } from '../link/redis-link.js';
import { ask } from '../scripts/bound-script.js';
import { noteQueuesScript } from '../scripts/server/contract.js';

/** How often a process notes a queue that it goes on using, and after how long it tries again where that failed. */
const NOTED_AGAIN_MS = 600_000;
const TRIED_AGAIN_MS = 10_000;
const NAMES_A_CALL = 500;
/** About how many queues one read answers, so that it takes Redis 1 to 2 ms. */
const QUEUES_A_READ = 2_500;
/** How often at most a walk is made anew. */
const WALKS_AGAIN = 3;

/** A queue that this process uses. `noteAt`: when its next use is noted, a time of the link. */
interface UsedQueue {
  readonly name: string;
  noteAt: number;
}

/**
 * Which queues there are: one sorted set for all queues of a prefix, since nobody may search a database for its keys. A process notes a queue
 * when it first schedules or works there, again once Redis was away, and every ten minutes as long as it goes on; in between that costs a
 * comparison.
 */
export class RedisDirectory {
  private readonly keys: QueueKeys;
  private readonly noting = new Set<Promise<unknown>>();
  private readonly used = new Set<UsedQueue>();

  constructor(
    private readonly connection: RedisLink,
    prefix: string,
    private readonly commandTimeoutMs: number,
  ) {
    this.keys = queueKeys(prefix, DIRECTORY);
  }

  /** What notes one queue: to be called at each use. It never throws, and waits for nothing. */
  noteOf(name: string): () => void {
    const queue = { name, noteAt: Number.NEGATIVE_INFINITY };
    return () => {
      if (this.connection.now() < queue.noteAt) return;
      this.used.add(queue);
      outsideJobs(() => this.note([queue]));
    };
  }

  /** Redis is back, and may have lost the directory. What is used lately is noted at once: a call that waited for Redis has been there before. */
  noteAgain(): void {
    const now = this.connection.now();
    const lately = [...this.used].filter(({ noteAt }) => now < noteAt);
    for (let i = 0; i < lately.length; i += NAMES_A_CALL) this.note(lately.slice(i, i + NAMES_A_CALL));
  }

  private note(queues: readonly UsedQueue[]): void {
    const setNext = (inMs: number) => {
      for (const queue of queues) queue.noteAt = this.connection.now() + inMs;
    };
    setNext(NOTED_AGAIN_MS);
    const names = queues.map(({ name }) => name);
    const noted: Promise<unknown> = ask(this.connection, noteQueuesScript(this.keys), { names }, this.giveUpAt())
      // Whoever uses the queue hears of an outage by their own calls.
      .catch(() => setNext(TRIED_AGAIN_MS))
      .finally(() => this.noting.delete(noted));
    this.noting.add(noted);
  }

  /** By name, those that this process uses among them. */
  async list(): Promise<SeenQueue[]> {
    await Promise.all(this.noting);
    const giveUpAt = this.giveUpAt();
    const found = new Map<string, number>();
    let steps = await this.walk(found, giveUpAt);
    // Places in a walk are those of one server: one that goes on after a restart or a failover leaves some queues out.
    for (let again = 0; again < WALKS_AGAIN && steps > 1 && found.size < (await this.count(giveUpAt)); again++)
      steps = await this.walk(found, giveUpAt);
    return [...found]
      .map(([name, lastSeenAtMs]) => ({ name, lastSeenAtMs }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Adds to `found`, and answers in how many steps. A walk tells each queue, also one that is noted meanwhile; some twice. */
  private async walk(found: Map<string, number>, giveUpAt: number): Promise<number> {
    const { queues } = this.keys;
    let cursor = '0';
    let steps = 0;
    do {
      const [next, some] = await this.connection.read(
        'step',
        (client) => client.zscan(queues, cursor, 'COUNT', QUEUES_A_READ),
        giveUpAt,
      );
      for (let i = 0; i < some.length; i += 2) found.set(some[i]!, Number(some[i + 1]));
      cursor = next;
      steps++;
    } while (cursor !== '0');
    return steps;
  }

  private async count(giveUpAt: number): Promise<number> {
    return Number(await this.connection.read('count', (client) => client.zcard(this.keys.queues), giveUpAt));
  }

  private giveUpAt(): number {
    return this.connection.now() + this.commandTimeoutMs;
  }
}
