import { BaseAdapter } from '@bull-board/api/dist/queueAdapters/base.js';
import type { JobSchedulerUpdateResult, QueueMetrics } from '@bull-board/api/typings/app';
import { refused } from './refusal.js';

/** What no queue of this library does for a board, nor has. */
export abstract class RefusingAdapter extends BaseAdapter {
  /** Jobs have no log; their failures are shown as errors. */
  async getJobLogs(): Promise<string[]> {
    return [];
  }

  async obliterate(): Promise<void> {
    throw refused('A queue cannot be obliterated: empty it, and clean its failed jobs.');
  }

  /** True, so that the board asks `updateJobScheduler`, which says why it refuses. */
  override get supportsJobSchedulerUpdate(): boolean {
    return true;
  }

  async updateJobScheduler(): Promise<JobSchedulerUpdateResult> {
    throw refused(
      'The rule of a recurrence cannot be edited: change it where the application declares it, or call upsertRecurrence.',
    );
  }

  async setGlobalConcurrency(): Promise<void> {
    throw refused(
      'The concurrency of a queue cannot be set: it is the option globalConcurrency of the processes that work at it.',
    );
  }

  override async releaseActiveRateLimit(): Promise<void> {
    throw refused(
      'A rate limit cannot be released: it is the option rateLimit of the processes that work at the queue.',
    );
  }

  /** The board then shows none. */
  async getMetrics(): Promise<QueueMetrics> {
    throw refused('A queue keeps no history of its numbers.');
  }

  /** The board then says that it has none. */
  async getRedisInfo(): Promise<null> {
    return null;
  }
}
