import { QueueUnavailableError, type ScheduledQueueErrorFields } from '../../core/errors.js';

const AWAY = 'the test has called tester.redisAway()';

/** Whether Redis cannot be reached, as a test wants it. All queues share it. */
export class Outage {
  isOn = false;
  private waiting: (() => void)[] = [];

  switch(on: boolean): void {
    this.isOn = on;
    if (!on) for (const resolve of this.waiting.splice(0)) resolve();
  }

  get trouble(): Error | undefined {
    return this.isOn ? new Error(AWAY) : undefined;
  }

  /** Resolves when it is switched off next, or when `signal` aborts. */
  end(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  /** Throws as where Redis has no connection: nothing has been sent. `about`: what the call was for. */
  requireThere(about: ScheduledQueueErrorFields = {}): void {
    if (!this.isOn) return;
    throw new QueueUnavailableError(`Redis is unavailable (${AWAY}); the call has not happened.`, 'refused', about);
  }
}
