import type { Clock } from '../../core/clock.js';
import { outsideJobs } from '../../core/job/current-job.js';
import type { SessionLoop } from '../session/session-loop.js';
import { Signal } from '../session/signal.js';
import type { LeaseKeeper } from './running-job.js';

/** When the leases of a queue were last renewed, for handlers that want to know. */
export class LeaseClock implements LeaseKeeper {
  private renewedAt = Number.NEGATIVE_INFINITY;
  private readonly renewed = new Signal();

  constructor(
    private readonly leaseMs: number,
    private readonly clock: Clock,
    private readonly loop: SessionLoop,
  ) {}

  /** A renewal younger than a sixth of a lease is enough, so frequent heartbeats at most double the renewals. */
  renewal(): Promise<void> | undefined {
    if (this.clock.now() < this.renewedAt + this.leaseMs / 6) return undefined;
    const renewal = this.renewed.wait();
    // A handler has asked, and what the loop says from now on is not below that handler.
    outsideJobs(() => this.loop.renew());
    return renewal;
  }

  heldUntil(askedAt: number): number {
    return Math.max(askedAt, this.renewedAt) + this.leaseMs;
  }

  /** Counted from the sending of the call that renewed, so that a slow answer does not stretch a lease. */
  noteRenewal(sentAt: number): void {
    this.renewedAt = sentAt;
    this.renewed.fire();
  }
}
