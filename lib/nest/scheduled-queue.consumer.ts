import { InvalidOptionsError } from '../core/errors.js';
import type { Fleet } from '../worker/fleet.js';
import type { Role } from './module-options.js';

/** Starts and stops the workers of this process. */
export class ScheduledQueueConsumer {
  constructor(
    private readonly fleet: Fleet,
    private readonly role: Role,
  ) {}

  /**
   * Begins to claim, for every queue that has handlers. Does nothing where that has begun.
   * Throws `InvalidOptionsError` in a process whose `role` is `'producer'`, `QueueClosedError` once the application has closed.
   */
  async start(): Promise<void> {
    if (this.role === 'producer') {
      throw new InvalidOptionsError(
        `start: this process has role 'producer', which never claims: expected 'both' or 'worker'.`,
      );
    }
    await this.fleet.start();
  }

  /**
   * Claims no more and waits for running handlers, up to `shutdownTimeoutMs`; then their signals abort and their jobs go
   * back, with no attempt used. May be started again.
   */
  async stop(): Promise<void> {
    await this.fleet.stop();
  }
}
