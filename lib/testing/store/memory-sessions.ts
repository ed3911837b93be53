import { InvalidOptionsError } from '../../core/errors.js';
import type { QueueSessions, Session, SessionNames } from '../../store/job-store.js';
import type { MemoryQueue } from './memory-queue.js';
import { MemorySession } from './turn/memory-session.js';

/** The sessions of a queue. */
export class MemorySessions implements QueueSessions {
  constructor(private readonly queue: MemoryQueue) {}

  worker(workerId: string, { names, weights }: SessionNames): Session {
    return new MemorySession(this.queue, workerId, 'worker', names, weights);
  }

  pull(workerId: string, names: readonly string[] | undefined): Session {
    return new MemorySession(this.queue, workerId, 'pull', names);
  }

  relay(): Session {
    throw new InvalidOptionsError(
      `relay: the queue '${this.queue.name}' lies in memory, where there are no streams or lists; expected a queue in Redis.`,
      { queue: this.queue.name },
    );
  }
}
