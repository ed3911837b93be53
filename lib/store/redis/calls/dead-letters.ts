import { DUE_NOW, type Due } from '../../../core/read/due.js';
import type { DeadSelection } from '../../job-store.js';
import type { QueueKeys } from '../keys.js';
import { type PurgeArguments, type PurgeReply, purgeScript, replayScript } from '../scripts/dead/contract.js';
import type { CallerPool } from './caller-pool.js';
import { toDueArgument } from './job-arguments.js';

/** How many dead jobs one call looks at: a script of so many stays well below a millisecond or two. */
const JOBS_A_CALL = 100;

/** Where the first step begins. Its cursor names the last job that was looked at and left; see scripts/dead/dead-walk.lua. */
const OLDEST = '-inf 0 ';

/** What one call has done. */
interface Step {
  nowMs: number;
  /** How many were put back, or deleted. */
  taken: number;
  /** No other job is left to look at. */
  isLast: boolean;
  next: string;
}

/** What is done to the dead-letter set of one queue, in bounded steps. */
export class RedisDeadLetters {
  private readonly scripts;

  constructor(
    private readonly callers: CallerPool,
    keys: QueueKeys,
  ) {
    this.scripts = { purge: purgeScript(keys), replay: replayScript(keys) };
  }

  async replayOne(id: string, due: Due): Promise<number> {
    return (await this.replay(id, due, 0, 0, ANY)).taken;
  }

  /** The oldest first; a job that dies again meanwhile is not put back a second time. */
  replayMany(selection: DeadSelection, due: Due, perSecond: number | undefined): Promise<number> {
    const spacingMs = perSecond === undefined ? 0 : 1_000 / perSecond;
    return this.walk(selection, (choice, replayed, startedAt) =>
      this.replay('', this.firstDue(due, startedAt), spacingMs, replayed, choice),
    );
  }

  purge(selection: DeadSelection): Promise<number> {
    return this.walk(selection, async (choice) => readStep(await this.callers.call(this.scripts.purge, choice)));
  }

  /**
   * Steps from the oldest dead job on, until all that died before the first step, or before `diedBeforeMs`, have been looked at, or
   * enough are taken. `take` is told what to look at and for, how many were taken before, and when the first step ran (0 in that step).
   */
  private async walk(
    selection: DeadSelection,
    take: (choice: Choice, taken: number, startedAt: number) => Promise<Step>,
  ): Promise<number> {
    const { names = [], diedBeforeMs = Number.POSITIVE_INFINITY, limit = Number.POSITIVE_INFINITY } = selection;
    const reason = selection.reason ?? '';
    let taken = 0;
    let startedAt = 0;
    let place = OLDEST;
    // Those that died in that very millisecond are not meant.
    let diedBy = diedBeforeMs - 1;
    while (taken < limit) {
      const choice: Choice = {
        limit: JOBS_A_CALL,
        diedBy: diedBy === Number.POSITIVE_INFINITY ? '+inf' : diedBy,
        most: Math.min(JOBS_A_CALL, limit - taken),
        from: place,
        reason,
        names,
      };
      const step = await take(choice, taken, startedAt);
      taken += step.taken;
      place = step.next;
      startedAt ||= step.nowMs;
      diedBy = Math.min(diedBy, startedAt);
      if (step.isLast) break;
    }
    return taken;
  }

  /** When the first job of all steps is due: a delay counts from the first step on. */
  private firstDue(due: Due = DUE_NOW, startedAt: number): Due {
    return 'at' in due || startedAt === 0 ? due : { at: startedAt + due.delayMs };
  }

  private async replay(id: string, due: Due, spacingMs: number, replayed: number, choice: Choice): Promise<Step> {
    const args = {
      dueOrDelay: toDueArgument(due),
      spacing: spacingMs,
      replayed,
      id,
      ...choice,
    };
    return readStep(await this.callers.call(this.scripts.replay, args));
  }
}

/** What one call looks at, and for. */
type Choice = PurgeArguments;

/** For a job that is named by its id. */
const ANY: Choice = { limit: 0, diedBy: '+inf', most: 0, from: OLDEST, reason: '', names: [] };

/** The place is last: it ends with an id, in which anything printable may stand. */
function readStep([, now, result]: PurgeReply): Step {
  const [, taken, isLast, next] = result.match(/^(\d+) ([01]) (.*)$/)!;
  return { nowMs: Number(now), taken: Number(taken), isLast: isLast === '1', next: next! };
}
