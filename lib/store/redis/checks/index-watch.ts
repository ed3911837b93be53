import type { Log } from '../../../core/log.js';
import type { Placement } from '../view/inspection.js';

const EVERY_MS = 60_000;

/** Compares the jobs of one queue with the index that leads to them, once a minute, and tells where Redis has lost part of either. */
export class IndexWatch {
  private lookAt = Number.NEGATIVE_INFINITY;
  private isTold = false;

  constructor(
    private readonly queue: string,
    /** `undefined` where another process is to look. */
    private readonly read: (session: string) => Promise<Placement | undefined>,
    private readonly log: Log,
  ) {}

  /** `session` says that it is here. */
  listed(session: string): void {
    const now = performance.now();
    if (now < this.lookAt) return;
    this.lookAt = now + EVERY_MS;
    // What Redis refuses, the session's own calls tell.
    this.read(session).then(
      (placement) => placement && this.tell(placement),
      () => {},
    );
  }

  /** Once, until they agree again. */
  private tell(placement: Placement): void {
    const wasTold = this.isTold;
    const loss = lossIn(this.queue, placement);
    this.isTold = loss !== undefined;
    if (wasTold || loss === undefined) return;
    this.log.warn(
      `Redis has lost data: ${loss}. Restore a backup of Redis, or see docs/operations.md, "Data that Redis has lost".`,
    );
  }
}

/** What follows from it that jobs and index do not agree; `undefined` where they do. */
export function lossIn(queue: string, { jobs, placed }: Placement): string | undefined {
  if (jobs === placed) return undefined;
  return jobs > placed
    ? `the index leads to ${placed} of the ${jobs} jobs of queue '${queue}', and the others do not run`
    : `${placed} jobs of queue '${queue}' are listed and only ${jobs} have a content; the others are dead (envelope-missing) when their turn comes`;
}
