import { type CompletionListener, completionsOf } from '../codec/completion-fields.js';
import type { QueueKeys } from '../keys.js';
import type { RedisTending } from '../recur/redis-tending.js';
import { clearScript } from '../scripts/change/contract.js';
import type { CallerPool } from './caller-pool.js';

/** About how many jobs one call looks at; each may be the first of a lane of its own. */
const FIRST_STEP = 10;
const LONGEST_STEP = 200;
/** Steps grow while what they read stays below this: a script reads payloads too. */
const LARGE_BYTES = 512 * 1024;

interface Walk {
  scheduledBy: number;
  step: number;
  /** Recurrences whose armed jobs were cleared away. */
  readonly skipped: string[];
}

/** Empties one queue of the jobs that wait in it or are queued behind running ones, in bounded steps. */
export class RedisClearing {
  private readonly script;

  constructor(
    private readonly callers: CallerPool,
    keys: QueueKeys,
    private readonly tending: RedisTending,
    private readonly completed: CompletionListener,
  ) {
    this.script = clearScript(keys);
  }

  /**
   * Walks through the queue until a walk has found nothing: one may leave jobs out where a failover or a slot that moves puts
   * another server in the place of the first, with another order. It ends, as it only takes jobs that were scheduled before it
   * began.
   */
  async clear(): Promise<number> {
    const walk: Walk = { scheduledBy: 0, step: FIRST_STEP, skipped: [] };
    try {
      for (let cleared = 0; ; ) {
        const found = await this.walk(walk);
        if (found === 0) return cleared;
        cleared += found;
      }
    } finally {
      // Not before the end: what is armed meanwhile would be cleared as well.
      await this.tending.afterSkip(walk.skipped);
    }
  }

  private async walk(walk: Walk): Promise<number> {
    let found = 0;
    let cursor = '0';
    do {
      const args = { cursor, limit: walk.step, scheduledBy: walk.scheduledBy };
      const [, , result, ...completions] = await this.callers.call(this.script, args);
      this.completed(completionsOf(completions));
      const [walked = '', ...recurrences] = result.split('\t');
      const [count, next = '0', bytes, scheduledBy] = walked.split(' ');
      found += Number(count);
      cursor = next;
      walk.skipped.push(...recurrences);
      // By the clock of the first call, so that what is scheduled after it stays.
      walk.scheduledBy = Number(scheduledBy);
      walk.step = Number(bytes) > LARGE_BYTES ? Math.ceil(walk.step / 4) : Math.min(2 * walk.step, LONGEST_STEP);
    } while (cursor !== '0');
    return found;
  }
}
