import { monotonicMs } from './history.js';
import type { Unfinished } from './queues-under-test.js';

/** The longest delay and the longest job, and every lease and outage on the way, with room for a busy machine. */
const ORDINARY_WITHIN_MS = 45_000;
const MORE_MS_A_SECOND = 150;
/**
 * Suspects, jobs with one crash left, run one at a time, those of a queue in two of three processes, and a long run leaves more than a
 * hundred of them. So their bound is one of progress: within this time some job must end. The longest suspect, tried again after its
 * backoff and with other jobs in between, takes a third of it.
 */
const PROGRESS_WITHIN_MS = 30_000;
const ASKED_EVERY_MS = 100;

/** How much longer all that waits behind ordinary jobs may take after a long run, which leaves more of them: a quarter of a minute after two. */
export function moreAfterMs(seconds: number): number {
  return Math.max(0, seconds - 20) * MORE_MS_A_SECOND;
}

/**
 * Waits until nothing waits or runs. False as soon as an ordinary job waits for too long, or nothing has ended for too long.
 * `seconds`: how long faults happened. `now` and `pause` are for tests.
 */
export async function drains(
  ask: () => Promise<Unfinished | undefined>,
  seconds: number,
  now: () => number = monotonicMs,
  pause: (ms: number) => Promise<void> = (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
): Promise<boolean> {
  const from = now();
  const ordinaryWithinMs = ORDINARY_WITHIN_MS + moreAfterMs(seconds);
  let fewest = Number.POSITIVE_INFINITY;
  for (let endedAt = from; ; await pause(ASKED_EVERY_MS)) {
    const left = await ask();
    const count = left ? left.active + left.ordinary + left.suspects : fewest;
    if (count === 0) return true;
    if (count < fewest) {
      fewest = count;
      endedAt = now();
    }
    if (left && left.ordinary > 0 && now() - from > ordinaryWithinMs) return false;
    if (now() - endedAt > PROGRESS_WITHIN_MS) return false;
  }
}
