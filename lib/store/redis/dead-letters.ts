import { DUE_NOW, type Due } from '../../core/due.js';
import type { QueueKeys } from '../keys.js';
import { toDueArgument } from './due-argument.js';
import type { SlotPool } from './slot-pool.js';

/** How many dead jobs one call moves: a script of so many stays well below a millisecond or two. */
const JOBS_A_CALL = 100;

/** What is done to the dead-letter set of one queue, in bounded steps. */
export class RedisDeadLetters {
  constructor(
    private readonly slots: SlotPool,
    private readonly keys: QueueKeys,
    private readonly options: { clustered: boolean; keepRecordMs: number; stealAfterMs: number },
  ) {}

  async replayOne(id: string, due: Due): Promise<number> {
    return (await this.replay(id, 0, due, 0, 0)).count;
  }

  /** Only those that are dead by now: a job that dies again meanwhile is not put back a second time. */
  async replayAll(due: Due | undefined, perSecond: number | undefined): Promise<number> {
    const spacingMs = perSecond === undefined ? 0 : 1_000 / perSecond;
    let replayed = 0;
    let leftThere = 0;
    let diedBy = 0;
    for (;;) {
      const next = this.laterBy(due, replayed * spacingMs, diedBy);
      const { count, seen, nowMs } = await this.replay('', diedBy, next, spacingMs, leftThere);
      // That of the first call, so that nothing which dies after it is put back again.
      diedBy ||= nowMs;
      replayed += count;
      // Those whose envelope cannot be read stay, in front of the others.
      leftThere += seen - count;
      if (seen < JOBS_A_CALL) return replayed;
    }
  }

  async purge(): Promise<number> {
    const { keys } = this;
    const fixed = [keys.jobs, keys.claims, keys.failures, keys.dead, keys.stats];
    let purged = 0;
    let diedBy = 0;
    for (;;) {
      const reply = await this.slots.call('purge', fixed, [this.options.keepRecordMs, JOBS_A_CALL, diedBy]);
      diedBy ||= Number(reply[1]);
      purged += Number(reply[2]);
      if (Number(reply[2]) < JOBS_A_CALL) return purged;
    }
  }

  /** The due time of a later call's first job: a delay counts from the first call on. */
  private laterBy(due: Due = DUE_NOW, ms: number, startedAt: number): Due {
    if ('at' in due) return { at: due.at + ms };
    return startedAt === 0 ? due : { at: startedAt + due.delayMs + ms };
  }

  private async replay(
    id: string,
    diedBy: number,
    due: Due,
    spacingMs: number,
    passOver: number,
  ): Promise<{ count: number; seen: number; nowMs: number }> {
    const { keys, options } = this;
    const fixed = [keys.jobs, keys.claims, keys.dead, keys.levels, keys.sleeping];
    const args = [
      options.keepRecordMs,
      options.clustered ? 1 : 0,
      id,
      JOBS_A_CALL,
      diedBy,
      toDueArgument(due),
      spacingMs,
      passOver,
      options.stealAfterMs,
    ];
    const reply = await this.slots.call('replay', fixed, args);
    const [count = 0, seen = 0] = String(reply[2]).split(' ').map(Number);
    return { count, seen, nowMs: Number(reply[1]) };
  }
}
