import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../core/clock.js';
import type { Log } from '../../../core/log.js';
import type { SharedOptions } from '../../../core/options/shared-options.js';
import { processOf } from '../keys.js';
import type { DifferingWorker } from '../view/presence.js';

const EVERY_MS = 300_000;
/** A rolling deploy, whose processes differ, is over by then. */
const TOLERATED_MS = 600_000;
/** A pair that has not been seen for so long is forgotten. If these two differ again later, a new warning is logged. */
const FORGOTTEN_MS = 3_600_000;
/** Lines for one queue in one look: many processes with many values must not flood the log. The next looks log the other pairs. */
const LINES_A_LOOK = 10;
const NAMED_A_LINE = 10;

/** Another worker, one option, and its value there. */
interface Pair {
  /** Since when it has been seen at every look. */
  readonly sinceMs: number;
  readonly seenAtMs: number;
  isTold: boolean;
}

/** Where a worker runs. */
type Place = Pick<DifferingWorker, 'host' | 'pid'>;

/** The pairs that are to be told in one line. */
interface Disagreement {
  readonly option: string;
  readonly own: unknown;
  readonly other: unknown;
  readonly workers: DifferingWorker[];
  readonly pairs: Pair[];
}

/**
 * Every five minutes, reads which live workers of a queue have other options than this process. Logs each pair and option once, after it has
 * differed at each look for ten minutes. A turn by which a session lists itself starts the look, so no timer is needed.
 *
 * 200 processes with 100 queues each look 67 times a second, while their idle sessions take over 4 000 turns a second. Redis compares, and
 * answers nothing where all agree.
 */
export class OptionsWatch {
  /** By the id of the other worker, the option, and its value there. */
  private readonly pairs = new Map<string, Pair>();
  private lookAtMs: number;
  private lookedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly queue: string,
    private readonly own: SharedOptions,
    /** Which live workers list other options; the own one may be among them. */
    private readonly read: () => Promise<readonly DifferingWorker[]>,
    private readonly log: Log,
    private readonly place: Place,
    private readonly clock: Pick<Clock, 'now'>,
    random: () => number = Math.random,
  ) {
    // Processes that start together look at different times.
    this.lookAtMs = clock.now() + random() * EVERY_MS;
  }

  /** `session` says that it is here. */
  listed(session: string): void {
    const nowMs = this.clock.now();
    if (nowMs < this.lookAtMs) return;
    this.lookAtMs = nowMs + EVERY_MS;
    const id = processOf(session);
    // If Redis refuses this call, it refuses the session's turns as well, and those are logged.
    this.read().then(
      (differing) => this.compare(id, differing, nowMs),
      () => {},
    );
  }

  private compare(id: string, differing: readonly DifferingWorker[], nowMs: number): void {
    for (const [key, { seenAtMs }] of this.pairs) if (nowMs - seenAtMs > FORGOTTEN_MS) this.pairs.delete(key);
    const found = new Map<string, Disagreement>();
    for (const other of differing) {
      // With a fixed `workerId`, the entry of this process from before its restart may still be listed.
      if (other.id === id) continue;
      for (const [option, own] of Object.entries({ groups: null, keepEnded: null, ...this.own })) {
        const value = other.options[option as keyof SharedOptions];
        // A worker of another version may not list this option. A worker lists `groups` only where it limits something, and `keepEnded` only
        // where some are kept.
        if (value === undefined || isDeepStrictEqual(value, own)) continue;
        const text = `${option} ${JSON.stringify(value)}`;
        const pair = this.seen(`${other.id} ${text}`, nowMs);
        if (pair.isTold || nowMs - pair.sinceMs < TOLERATED_MS) continue;
        const alike: Disagreement = found.get(text) ?? { option, own, other: value, workers: [], pairs: [] };
        alike.workers.push(other);
        alike.pairs.push(pair);
        found.set(text, alike);
      }
    }
    this.lookedAtMs = nowMs;
    for (const disagreement of [...found.values()].slice(0, LINES_A_LOOK)) this.tell(id, disagreement);
  }

  private seen(key: string, nowMs: number): Pair {
    const known = this.pairs.get(key);
    const isUnbroken = known?.seenAtMs === this.lookedAtMs;
    const pair = { sinceMs: isUnbroken ? known.sinceMs : nowMs, seenAtMs: nowMs, isTold: known?.isTold ?? false };
    this.pairs.set(key, pair);
    return pair;
  }

  private tell(id: string, { option, own, other, workers, pairs }: Disagreement): void {
    for (const pair of pairs) pair.isTold = true;
    const left = workers.length - NAMED_A_LINE;
    const named = workers.slice(0, NAMED_A_LINE).map(nameOf).join(', ');
    this.log.warn(
      `The processes of queue '${this.queue}' have had different options for ten minutes: ${option} is ${JSON.stringify(own)} in ${nameOf({ id, ...this.place })}, and ${JSON.stringify(other)} in ${named}${left > 0 ? ` and ${left} more` : ''}. Give all of them the same: see docs/operations.md, "Processes that disagree".`,
    );
  }
}

const nameOf = ({ id, host, pid }: Place & { id: string }) => `worker '${id}' (${host}, pid ${pid})`;
