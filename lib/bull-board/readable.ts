/** An open page of the board reads a queue every five seconds: what one reading has met is told as long as the next one. */
const TOLD_MS = 10_000;

/** What of a queue is read for the pages that show all queues. */
type Part = 'counts' | 'pause' | 'schedulers' | 'jobs';

/**
 * Reads a queue for the pages that show all queues, and remembers what could not be read. bull-board reads all queues at once: one that
 * cannot be read, as its data is damaged or its Redis away, would take all others off the page.
 */
export class Readable {
  private readonly problems = new Map<Part, { text: string; until: number }>();

  /** Why the queue could not be read lately. */
  get problem(): string | undefined {
    const now = performance.now();
    for (const { text, until } of this.problems.values()) if (now < until) return text;
    return undefined;
  }

  /** Resolves to `instead` where that part cannot be read. */
  async read<T, I>(part: Part, call: Promise<T>, instead: I): Promise<T | I> {
    try {
      const value = await call;
      this.problems.delete(part);
      return value;
    } catch (error) {
      // The board asked wrongly: the queue is not to blame.
      if ('statusCode' in (error as Error)) throw error;
      this.problems.set(part, { text: (error as Error).message, until: performance.now() + TOLD_MS });
      return instead;
    }
  }
}
