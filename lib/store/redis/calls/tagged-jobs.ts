import { QueueUnavailableError, restated } from '../../../core/errors.js';
import { type QueueKeys, tagKey } from '../keys.js';
import type { ScriptArgument } from '../link/connection.js';
import type { ScriptName } from '../scripts/embedded.js';
import type { SlotPool } from './slot-pool.js';

/** How many jobs of a tag one call looks at: about as long a script as that of a full schedule. */
const JOBS_A_CALL = 500;

/** What is done to the waiting jobs of a tag and to those queued behind running ones, in bounded steps. */
export class RedisTaggedJobs {
  constructor(
    private readonly slots: SlotPool,
    private readonly keys: QueueKeys,
    private readonly options: { clustered: boolean; keepRecordMs: number; stealAfterMs: number },
  ) {}

  /** `told` hears the ids of each step, once Redis has confirmed it. */
  cancel(tag: string, told: (ids: readonly string[]) => void): Promise<number> {
    const { keys, options } = this;
    const fixed = [keys.jobs, keys.claims, keys.failures, keys.queued, keys.stats, keys.levels, tagKey(keys, tag)];
    return this.walk(async (from, last) => {
      const args = [options.keepRecordMs, from, last, JOBS_A_CALL];
      const [place, ...ids] = (await this.call('cancel-tagged', fixed, args)).split('\t');
      told(ids);
      return [...place!.split(' '), ids.length] as Step;
    });
  }

  shift(tag: string, byMs: number): Promise<number> {
    const { keys, options } = this;
    const fixed = [keys.jobs, keys.levels, keys.sleeping, tagKey(keys, tag), keys.queued];
    return this.walk(async (from, last) => {
      const { keepRecordMs, clustered, stealAfterMs } = options;
      const args = [keepRecordMs, clustered ? 1 : 0, from, last, JOBS_A_CALL, byMs, stealAfterMs];
      const [next, end, moved] = (await this.call('shift-tagged', fixed, args)).split(' ');
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

  private async call(script: ScriptName, keys: readonly string[], rest: readonly ScriptArgument[]): Promise<string> {
    return String((await this.slots.call(script, keys, rest))[2]);
  }
}

/** Where to go on, the last place, how many were cancelled or moved. */
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
