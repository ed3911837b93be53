import type { QueueKeys } from '../keys.js';
import type { SlotPool } from './slot-pool.js';

/** About how many jobs one call looks at; each may be the first of a lane of its own. */
const FIRST_STEP = 10;
const LONGEST_STEP = 200;
/** Steps grow while what they read stays below this: a script reads payloads too. */
const LARGE_BYTES = 512 * 1024;

/** Empties one queue of the jobs that wait in it or are queued behind running ones, in bounded steps. */
export class RedisClearing {
  constructor(
    private readonly slots: SlotPool,
    private readonly keys: QueueKeys,
    private readonly options: { keepRecordMs: number },
  ) {}

  /**
   * Walks through the queue until a walk has found nothing: one may leave jobs out where a failover or a slot that moves puts
   * another server in the place of the first, with another order. It ends, as it only takes jobs that were scheduled before it
   * began.
   */
  async clear(): Promise<number> {
    const walk = { madeBy: 0, step: FIRST_STEP };
    for (let cleared = 0; ; ) {
      const found = await this.walk(walk);
      if (found === 0) return cleared;
      cleared += found;
    }
  }

  private async walk(walk: { madeBy: number; step: number }): Promise<number> {
    const { keys, options } = this;
    const fixed = [keys.jobs, keys.claims, keys.failures, keys.queued, keys.stats, keys.levels];
    let found = 0;
    let goOn = '0';
    do {
      const args = [options.keepRecordMs, goOn, walk.step, walk.madeBy];
      const reply = await this.slots.call('clear', fixed, args);
      const [count, next = '0', bytes, madeBy] = String(reply[2]).split(' ');
      found += Number(count);
      goOn = next;
      // By the clock of the first call, so that what is scheduled after it stays.
      walk.madeBy = Number(madeBy);
      walk.step = Number(bytes) > LARGE_BYTES ? Math.ceil(walk.step / 4) : Math.min(2 * walk.step, LONGEST_STEP);
    } while (goOn !== '0');
    return found;
  }
}
