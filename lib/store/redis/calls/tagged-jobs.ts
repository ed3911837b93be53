import { QueueUnavailableError, restated } from '../../../core/errors.js';
import type { QueueKeys } from '../keys.js';
import type { RedisTending } from '../recur/redis-tending.js';
import { cancelTaggedScript, shiftTaggedScript } from '../scripts/contracts.js';
import type { CallerPool } from './caller-pool.js';

/** How many jobs of a tag one call looks at: about as long a script as that of a full schedule. */
const JOBS_A_CALL = 200;

/** What is done to the waiting jobs of a tag and to those queued behind running ones, in bounded steps. */
export class RedisTaggedJobs {
  constructor(
    private readonly callers: CallerPool,
    private readonly keys: QueueKeys,
    private readonly options: { clustered: boolean; stealAfterMs: number; tending: RedisTending },
  ) {}

  /** `told` hears the ids of each step, once Redis has confirmed it. */
  cancel(tag: string, told: (ids: readonly string[]) => void): Promise<number> {
    const script = cancelTaggedScript(this.keys, { tag });
    return this.walk(async (from, last) => {
      const [, , result] = await this.callers.call(script, { from, last, limit: JOBS_A_CALL });
      const [walked, ...ids] = result.split('\t');
      told(ids);
      await this.options.tending.afterCancel(ids);
      return [...walked!.split(' '), ids.length] as Step;
    });
  }

  shift(tag: string, byMs: number): Promise<number> {
    const script = shiftTaggedScript(this.keys, { tag });
    const { clustered, stealAfterMs } = this.options;
    return this.walk(async (from, last) => {
      const args = { clustered, stealAfterMs, from, last, limit: JOBS_A_CALL, byMs };
      const [, , result] = await this.callers.call(script, args);
      const [next, end, moved] = result.split(' ');
      return [next!, end!, Number(moved)];
    });
  }

  /** From the first job to the one that was the last at the first step: what is tagged meanwhile cannot make it endless. */
  private async walk(step: (from: string, last: string) => Promise<Step>): Promise<number> {
    let sum = 0;
    let from = '0';
    let last = '';
    while (from !== last) {
      try {
        const [next, end, count] = await step(from, last);
        from = next;
        last = end;
        sum += count;
      } catch (error) {
        throw sum > 0 ? partlyDone(error, sum) : error;
      }
    }
    return sum;
  }
}

/** Where to go on, the last index, how many were cancelled or moved. */
type Step = [next: string, last: string, count: number];

/** That the last step was refused does not mean that nothing has happened. */
function partlyDone(error: unknown, count: number): unknown {
  if (!(error instanceof QueueUnavailableError)) return error;
  return restated(
    error,
    {},
    { message: `${error.message} Before that, ${count} jobs had been done.`, outcome: 'unknown' },
  );
}
