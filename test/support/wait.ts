type Truthy<T> = Exclude<T, false | null | undefined | 0 | ''>;

/** Resolves to the first truthy answer of `ask`; throws with `what` when none came in time. */
export async function until<T>(what: string, ask: () => T | Promise<T>, deadlineMs = 10_000): Promise<Truthy<T>> {
  for (const deadline = performance.now() + deadlineMs; ; ) {
    const answer = await ask();
    if (answer) return answer as Truthy<T>;
    if (performance.now() > deadline) throw new Error(`Waited ${deadlineMs} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
