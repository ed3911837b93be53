import type { EventSink } from '../../core/job/events.js';
import type { Log } from '../../core/log.js';
import type { ClaimedJob, Session, Turn, TurnAnswer } from '../../store/job-store.js';
import { Outage } from '../store/memory-queue.js';

/** What a session has to do with, whose only job no queue knows: nothing of it is stored or told. */
export const NO_QUEUE = {
  outage: new Outage(),
  handOutAgain: ({ fence }: { fence: string }): string | undefined => String(Number(fence) + 1),
};
/** Listeners would hear that it started, and never how it ended. */
export const NO_EVENTS: EventSink = { wants: () => false, tell() {} };
export const NO_LOG: Log = { log() {}, warn() {}, error() {} };

/** The session of one job that no queue knows: the first turn that may claims it. */
export class SingleSession implements Session {
  private claimed: ClaimedJob[];

  constructor(claim: ClaimedJob) {
    this.claimed = [claim];
  }

  async turn({ settlements, limit }: Turn): Promise<TurnAnswer> {
    return {
      settled: settlements.map(() => 'counted'),
      lost: [],
      toCancel: [],
      recovered: [],
      late: [],
      skippedOccurrences: [],
      brokenJobs: [],
      deadDropped: [],
      claimed: limit > 0 ? this.claimed.splice(0) : [],
      isUnconfirmed: false,
      expired: [],
      isReplay: false,
      sleepMs: Number.POSITIVE_INFINITY,
      isContended: false,
      tendInMs: undefined,
      toTend: [],
    };
  }

  listen(): void {}

  leave(): void {}
}
