import type { Log } from '../core/log.js';

/** Names may be made up at run time. Beyond this many pairs of names no warning follows, so that the set cannot grow for ever. */
const PAIRS_REMEMBERED = 1_000;

/** Warns where a job of another name has the id: the caller's job was not scheduled. Once for each pair of names. */
export class TakenIds {
  private readonly warned = new Set<string>();

  constructor(private readonly log: Log) {}

  /** `name` was to be scheduled; a job named `takenBy` has its id. */
  warn(queue: string, name: string, takenBy: string): void {
    const pair = JSON.stringify([queue, name, takenBy]);
    if (this.warned.size === PAIRS_REMEMBERED || this.warned.has(pair)) return;
    this.warned.add(pair);
    this.log.warn(
      `A job '${name}' was not scheduled in queue '${queue}': a job '${takenBy}' has its id. Ids are unique in a queue: begin them with the job's name. This is said once for these two names.`,
    );
  }
}
