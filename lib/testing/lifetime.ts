import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { ScheduledQueueTestError } from './errors.js';

/**
 * Whether the application under test has started, and whether it was closed. Before and after, no handler is there: a call would do
 * nothing, and a test that expects nothing would pass.
 */
export class Lifetime implements OnApplicationBootstrap, OnModuleDestroy {
  private hasStarted = false;
  private wasClosed = false;

  /** `atClose`: called when the application is closed. */
  constructor(private readonly atClose: () => void) {}

  onApplicationBootstrap(): void {
    this.hasStarted = true;
  }

  onModuleDestroy(): void {
    if (!this.wasClosed) this.atClose();
    this.wasClosed = true;
  }

  get isStarted(): boolean {
    return this.hasStarted;
  }

  /** For calls that only look: an application that was closed may still be asked what it has done. */
  requireStarted(call: string): void {
    if (this.hasStarted || this.wasClosed) return;
    throw new ScheduledQueueTestError(
      `tester.${call}: got an application that has not started, so no handler is there and nothing is scheduled by itself. Expected a started one: call await app.init() before the tester is used.`,
    );
  }

  requireOpen(call: string): void {
    if (this.wasClosed)
      throw new ScheduledQueueTestError(
        `tester.${call}: got an application that was closed, so no handler is there any more. Expected an open one: call it before app.close(), or make a new application for each test.`,
      );
  }

  /** For calls that let handlers run. */
  requireRunning(call: string): void {
    this.requireOpen(call);
    this.requireStarted(call);
  }
}
