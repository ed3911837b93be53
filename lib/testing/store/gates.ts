import { type BlackoutRule, isCron } from '../../core/blackouts/blackout.js';
import { type BlackoutWindow, type KnownWindows, windowsAt } from '../../core/blackouts/windows.js';
import type { QueueSettings } from '../../core/options/queue-options.js';
import { type RateRule, rateWindowMs } from '../../core/options/rate-limit.js';

/** What narrows the number of jobs that may be claimed over all processes: a pause, blackouts, the limit of running jobs, the rate of starts. */
export class Gates {
  private pausedUntilMs = 0;
  private starts: { atMs: number; count: number }[] = [];
  private blackouts: readonly BlackoutRule[] = [];
  private windows?: KnownWindows;
  private windowsAtMs = 0;
  /** Until when a place under `globalConcurrency` is left for a job; remembered for a while longer. */
  readonly yields = new Map<string, number>();
  /** The same for processes that wait for a place for their suspects. */
  readonly suspectYields = new Map<string, number>();

  constructor(private readonly settings: QueueSettings) {}

  pause(untilMs: number): void {
    this.pausedUntilMs = untilMs;
  }

  pausedUntil(nowMs: number): number | undefined {
    return this.pausedUntilMs > nowMs ? this.pausedUntilMs : undefined;
  }

  setBlackouts(blackouts: readonly BlackoutRule[]): void {
    this.blackouts = blackouts;
    this.windows = undefined;
  }

  /** Those that are not over for good. */
  blackoutsAt(nowMs: number): BlackoutRule[] {
    return this.blackouts.filter((rule) => isCron(rule) || rule.toMs > nowMs);
  }

  /** Until when a blackout lasts that is on. */
  blackoutUntil(nowMs: number): number | undefined {
    // Before the time for which they were computed: the clock was set back.
    if (!this.windows || nowMs < this.windowsAtMs || nowMs >= (this.windows.moreAtMs ?? Number.POSITIVE_INFINITY)) {
      this.windows = windowsAt(nowMs, this.blackouts);
      this.windowsAtMs = nowMs;
    }
    const isOn = ({ fromMs, toMs }: BlackoutWindow) => fromMs <= nowMs && nowMs < toMs;
    return this.windows.windows.find(isOn)?.toMs;
  }

  noteStarts(count: number, nowMs: number): void {
    if (!this.settings.rateLimit || count === 0) return;
    this.starts = this.started(nowMs);
    this.starts.push({ atMs: nowMs, count });
  }

  /** How many have started within the window, and when the first of those leaves it. */
  rate(nowMs: number): { started: number; opensAtMs: number } {
    const started = this.started(nowMs);
    return {
      started: started.reduce((sum, { count }) => sum + count, 0),
      opensAtMs: (started[0]?.atMs ?? nowMs) + windowMs(this.settings.rateLimit),
    };
  }

  private started(nowMs: number) {
    return this.starts.filter(({ atMs }) => atMs > nowMs - windowMs(this.settings.rateLimit));
  }
}

function windowMs(rule: RateRule | undefined): number {
  return rule ? rateWindowMs(rule) : 0;
}
