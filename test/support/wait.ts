type Truthy<T> = Exclude<T, false | null | undefined | 0 | ''>;

/** A bound for what hangs, not for what is slow: many times what the busiest machine seen needs. Jest's `testTimeout` is longer. */
export const HANG_MS = 60_000;

/**
 * A bound that tells a worker which was woken from one that looked by itself: that is every `maxSleepMs`, 5 s by default.
 * It leaves a busy machine as much time as there is.
 */
export const BEFORE_NEXT_LOOK_MS = 4_000;

/** Resolves to the first truthy answer of `ask`; throws with `what` when none came in time. */
export async function until<T>(what: string, ask: () => T | Promise<T>, deadlineMs = HANG_MS): Promise<Truthy<T>> {
  for (const deadline = performance.now() + deadlineMs; ; ) {
    const answer = await ask();
    if (answer) return answer as Truthy<T>;
    if (performance.now() > deadline) throw new Error(`Waited ${deadlineMs} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
