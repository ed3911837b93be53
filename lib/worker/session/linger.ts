import type { Clock } from '../../core/clock.js';
import type { TurnAnswer } from '../../store/job-store.js';
import type { EndedRun } from '../run/settlement-builder.js';
import { AT_ONCE, NEVER } from './turn-plan.js';

/** How long a settlement lingers at the most. If the process is killed meanwhile, the job runs again, as it would a moment earlier. */
const LINGER_MS = 10;
/** How many turns with settlements go at once after one that has lingered in vain, and after many. */
const FEWEST_AT_ONCE = 4;
const MOST_AT_ONCE = 256;

/**
 * Lets settlements linger for the turn that claims the next job: where jobs come one after the other, one turn then does for both, so that
 * a job costs Redis two calls instead of three. Only the settlement of a job on whose end nothing depends lingers: the job completed, nobody has
 * chosen its id, no result is kept, nothing follows it, it keeps no place of the queue from others, and it may run once more if the process is
 * killed before it is settled.
 *
 * A caller that schedules the next job only when it hears of the end of the last gains nothing and loses 10 ms. So after a settlement that has
 * lingered in vain the next ones go at once, twice as many each time. Where other jobs come meanwhile, their turns hide that.
 */
export class Linger {
  private freesNothing = false;
  /** Until when what has ended may linger; `NEVER` where nothing has ended. */
  private until = NEVER;
  /** How many turns settle at once since the last settlement that has lingered in vain; 0 where one has found its turn since. */
  private afterVain = 0;
  /** How many of these are still to go out. */
  private leftAtOnce = 0;

  constructor(
    private readonly clock: Clock,
    private readonly maxCrashes: number,
  ) {}

  /** By when what has ended has to go with a turn. */
  get endsAt(): number {
    return this.until;
  }

  noteAnswer({ freesNothingForOthers }: TurnAnswer): void {
    this.freesNothing = freesNothingForOthers;
  }

  noteEnded(ended: EndedRun): void {
    const mayLinger = this.freesNothing && this.leftAtOnce === 0 && dependsNothingOn(ended) && this.mayRunAgain(ended);
    this.until = mayLinger ? Math.min(this.until, this.clock.now() + LINGER_MS) : AT_ONCE;
  }

  /** A turn takes along what has ended, all but so many. */
  noteTaken(left: number): void {
    if (this.until === AT_ONCE) this.leftAtOnce = Math.max(0, this.leftAtOnce - 1);
    else if (this.until !== NEVER) this.learn(this.clock.now() < this.until);
    this.until = left > 0 ? AT_ONCE : NEVER;
  }

  private mayRunAgain({ job, isLastAttempt }: EndedRun): boolean {
    return !isLastAttempt && job.crashes + 1 < this.maxCrashes;
  }

  private learn(hasFoundTurn: boolean): void {
    this.afterVain = hasFoundTurn ? 0 : Math.min(Math.max(2 * this.afterVain, FEWEST_AT_ONCE), MOST_AT_ONCE);
    this.leftAtOnce = this.afterVain;
  }
}

function dependsNothingOn({ settlement, job }: EndedRun): boolean {
  if (settlement.transition !== 'complete') return false;
  const isFollowed = settlement.next !== undefined || (job.envelope as { set?: string }).set !== undefined;
  return !isFollowed && !settlement.idWasChosen && settlement.result === undefined;
}
