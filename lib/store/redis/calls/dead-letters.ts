import { DUE_NOW, type Due } from '../../../core/read/due.js';
import type { DeadSelection } from '../../job-store.js';
import type { QueueKeys } from '../keys.js';
import { toDueArgument } from './due-argument.js';
import type { SlotPool } from './slot-pool.js';

/** How many dead jobs one call looks at: a script of so many stays well below a millisecond or two. */
const JOBS_A_CALL = 100;

/** Where the first step begins. A place names the last job that was looked at and left; see lua/parts/dead.lua. */
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
  constructor(
    private readonly slots: SlotPool,
    private readonly keys: QueueKeys,
    private readonly options: { clustered: boolean; keepRecordMs: number; stealAfterMs: number },
  ) {}

  async replayOne(id: string, due: Due): Promise<number> {
    return (await this.replay(id, due, 0, [0, '+inf', 0, OLDEST, ''])).taken;
  }

  /** The oldest first; a job that dies again meanwhile is not put back a second time. */
  replayMany(selection: DeadSelection, due: Due, perSecond: number | undefined): Promise<number> {
    const spacingMs = perSecond === undefined ? 0 : 1_000 / perSecond;
    return this.walk(selection, (choice, replayed, startedAt) =>
      this.replay('', this.laterBy(due, replayed * spacingMs, startedAt), spacingMs, choice),
    );
  }

  purge(selection: DeadSelection): Promise<number> {
    const { keys, options } = this;
    const fixed = [keys.jobs, keys.claims, keys.failures, keys.dead, keys.stats];
    return this.walk(selection, async (choice) =>
      readStep(await this.slots.call('purge', fixed, [options.keepRecordMs, ...choice])),
    );
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
      const until = diedBy === Number.POSITIVE_INFINITY ? '+inf' : diedBy;
      const most = Math.min(JOBS_A_CALL, limit - taken);
      const step = await take([JOBS_A_CALL, until, most, place, reason, ...names], taken, startedAt);
      taken += step.taken;
      place = step.next;
      startedAt ||= step.nowMs;
      diedBy = Math.min(diedBy, startedAt);
      if (step.isLast) break;
    }
    return taken;
  }

  /** The due time of a later step's first job: a delay counts from the first step on. */
  private laterBy(due: Due = DUE_NOW, ms: number, startedAt: number): Due {
    if ('at' in due) return { at: due.at + ms };
    return startedAt === 0 ? due : { at: startedAt + due.delayMs + ms };
  }

  private async replay(id: string, due: Due, spacingMs: number, choice: Choice): Promise<Step> {
    const { keys, options } = this;
    const fixed = [keys.jobs, keys.claims, keys.failures, keys.dead, keys.levels, keys.sleeping];
    const { keepRecordMs, clustered, stealAfterMs } = options;
    const args = [keepRecordMs, clustered ? 1 : 0, stealAfterMs, toDueArgument(due), spacingMs, id, ...choice];
    return readStep(await this.slots.call('replay', fixed, args));
  }
}

/** How many to look at, which died by when, how many to take, the place, the reason, and then the names. */
type Choice = readonly (string | number)[];

/** The place is last: it ends with an id, in which anything printable may stand. */
function readStep(reply: readonly unknown[]): Step {
  const [, taken, isLast, next] = String(reply[2]).match(/^(\d+) ([01]) (.*)$/)!;
  return { nowMs: Number(reply[1]), taken: Number(taken), isLast: isLast === '1', next: next! };
}
