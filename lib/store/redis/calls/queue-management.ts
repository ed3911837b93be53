import type { BlackoutRule } from '../../../core/blackouts/blackout.js';
import type { Due } from '../../../core/read/due.js';
import type { DeadSelection, QueueManagement } from '../../job-store.js';
import { annotated } from '../link/call-error.js';
import type { RedisBlackouts } from './blackouts.js';
import type { RedisClearing } from './clearing.js';
import type { RedisDeadLetters } from './dead-letters.js';
import type { RedisGate } from './gate.js';
import type { RedisTaggedJobs } from './tagged-jobs.js';

/** What is done to one queue, each call by the part that knows how; here its errors learn which queue they are about. */
export class RedisQueueManagement implements QueueManagement {
  constructor(
    private readonly queue: string,
    private readonly parts: {
      gate: RedisGate;
      blackouts: RedisBlackouts;
      clearing: RedisClearing;
      tagged: RedisTaggedJobs;
      deadLetters: RedisDeadLetters;
    },
  ) {}

  pause(forMs?: number): Promise<void> {
    return this.about(this.parts.gate.pause(forMs));
  }

  resume(): Promise<void> {
    return this.about(this.parts.gate.resume());
  }

  setBlackouts(blackouts: readonly BlackoutRule[]): Promise<void> {
    return this.about(this.parts.blackouts.set(blackouts));
  }

  tendBlackouts(): Promise<number | undefined> {
    return this.about(this.parts.blackouts.tend());
  }

  clear(): Promise<number> {
    return this.about(this.parts.clearing.clear());
  }

  cancelTagged(tag: string, told: (ids: readonly string[]) => void): Promise<number> {
    return this.about(this.parts.tagged.cancel(tag, told));
  }

  shiftTagged(tag: string, byMs: number): Promise<number> {
    return this.about(this.parts.tagged.shift(tag, byMs));
  }

  replayDead(which: string | DeadSelection = {}, due: Due, perSecond?: number): Promise<number> {
    const { deadLetters } = this.parts;
    if (typeof which === 'string') return this.about(deadLetters.replayOne(which, due), which);
    return this.about(deadLetters.replayMany(which, due, perSecond));
  }

  purgeDead(which: DeadSelection = {}): Promise<number> {
    return this.about(this.parts.deadLetters.purge(which));
  }

  private about<T>(call: Promise<T>, jobId?: string): Promise<T> {
    return annotated(call, { queue: this.queue, ...(jobId !== undefined && { jobId }) });
  }
}
