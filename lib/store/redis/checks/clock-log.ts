import type { Log } from '../../../core/log.js';

/** All queues of a process notice one jump, each with its next answer. */
const QUIET_MS = 60_000;

/** Tells when Redis' clock jumps. */
export class ClockLog {
  /** When it was told last, by direction. */
  private readonly toldAt = { ahead: Number.NEGATIVE_INFINITY, back: Number.NEGATIVE_INFINITY };

  constructor(private readonly log: Log) {}

  /** `byMs`: how far it went ahead, or back where that is negative. */
  jumped(byMs: number): void {
    const at = performance.now();
    const direction = byMs > 0 ? 'ahead' : 'back';
    if (at - this.toldAt[direction] < QUIET_MS) return;
    this.toldAt[direction] = at;
    const seconds = Math.round(Math.abs(byMs) / 1_000);
    const harm =
      byMs > 0
        ? `${seconds} s ahead: jobs are due, and leases end, that much earlier (or this machine was suspended for so long)`
        : `back by ${seconds} s: jobs that wait are that much late`;
    this.log.warn(`The clock of Redis went ${harm}. Keep the clocks of Redis and of its replicas right by NTP.`);
  }
}
