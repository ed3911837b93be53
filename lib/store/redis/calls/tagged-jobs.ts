import { QueueUnavailableError, restated } from '../../../core/errors.js';
import { type CompletionListener, completionsOf } from '../codec/completion-fields.js';
import type { QueueKeys } from '../keys.js';
import type { RedisTending } from '../recur/redis-tending.js';
import { cancelTaggedScript, shiftTaggedScript } from '../scripts/change/contract.js';
import type { CallerPool } from './caller-pool.js';

/** How many jobs of a tag one call looks at: about as long a script as that of a full schedule. */
const JOBS_A_CALL = 200;

/** What is done to the waiting jobs of a tag and to those queued behind running ones, in bounded steps. */
export class RedisTaggedJobs {
  constructor(
    private readonly callers: CallerPool,
    private readonly keys: QueueKeys,
    private readonly tending: RedisTending,
    private readonly completed: CompletionListener,
  ) {}

  /** `told` hears the ids of each step, once Redis has confirmed it. */
  cancel(tag: string, told: (ids: readonly string[]) => void): Promise<number> {
    const script = cancelTaggedScript(this.keys, { tag });
    return this.walk(async (place) => {
      const [, , result, ...completions] = await this.callers.call(script, { ...place, limit: JOBS_A_CALL });
      const [walked = '', ...ids] = result.split('\t');
      told(ids);
      this.completed(completionsOf(completions));
      await this.tending.afterCancel(ids);
      return { ...readPlace(walked.split(' ')), count: ids.length };
    });
  }

  shift(tag: string, byMs: number): Promise<number> {
    const script = shiftTaggedScript(this.keys, { tag });
    return this.walk(async (place) => {
      const [, , result] = await this.callers.call(script, { ...place, limit: JOBS_A_CALL, byMs });
      const walked = result.split(' ');
      return { ...readPlace(walked), count: Number(walked.at(-1)) };
    });
  }

  /** Through the jobs that are there at the first step: what is tagged meanwhile is spared, and cannot make it endless. */
  private async walk(take: (place: Place) => Promise<Step>): Promise<number> {
    let sum = 0;
    let place: Place = { from: '0', last: '', began: 0 };
    while (place.from !== place.last) {
      try {
        const { count, ...next } = await take(place);
        place = next;
        sum += count;
      } catch (error) {
        throw sum > 0 ? partlyDone(error, sum) : error;
      }
    }
    return sum;
  }
}

/** After which position in the tag to go on, at which one to end, and when the first step was taken. */
interface Place {
  readonly from: string;
  readonly last: string;
  readonly began: number;
}

interface Step extends Place {
  /** How many were cancelled or moved. */
  readonly count: number;
}

function readPlace([from = '', last = '', began]: readonly string[]): Place {
  return { from, last, began: Number(began) };
}

/** That the last step was refused does not mean that nothing has happened. */
function partlyDone(error: unknown, count: number): unknown {
  if (!(error instanceof QueueUnavailableError)) return error;
  return restated(
    error,
    { queue: error.queue },
    { message: `${error.message} Before that, ${count} jobs had been done.`, outcome: 'unknown' },
  );
}
