import type { QueueOverview } from '../store/job-store.js';
import { Kept, type Source } from './source.js';

/** Redis that has not answered by then is down. A scrape is over a moment later. */
const ANSWER_WITHIN_MS = 2_000;

/** What a scrape shows beside what is counted. */
export interface Reading {
  /** Whether the Redis of each source answers; `undefined` where there is no source. */
  readonly isUp?: boolean;
  /** Of several, that of the source whose clock is furthest off. */
  readonly offsetMs?: number;
  /** By the label of the queue. */
  readonly queues: ReadonlyMap<string, QueueOverview>;
}

interface ReadSource {
  readonly source: Source;
  readonly isUp: boolean;
  readonly queues: ReadonlyMap<string, QueueOverview>;
}

/** Reads the queues of all sources of a registry for its gauges, once for all that are asked at the same time. */
export class Scrapes {
  private readonly sources = new Set<Source>();
  /** What was read last, by the label of the queue: whichever source has read it, no other one asks again so soon. */
  private readonly overviews = new Map<string, Kept<QueueOverview>>();
  private pending?: Promise<Reading>;

  add(source: Source): void {
    this.sources.add(source);
  }

  /** It is asked no more, and what it has told is forgotten. */
  remove(source: Source): void {
    this.sources.delete(source);
    for (const [label, kept] of this.overviews) if (kept.source === source) this.overviews.delete(label);
  }

  /** Never rejects, and resolves in little more than `ANSWER_WITHIN_MS`. */
  read(): Promise<Reading> {
    this.pending ??= this.readAll().finally(() => {
      this.pending = undefined;
    });
    return this.pending;
  }

  private async readAll(): Promise<Reading> {
    const taken = new Set<string>();
    const read = await Promise.all([...this.sources].map((source) => this.readOne(source, taken)));
    // One may have gone meanwhile.
    const there = read.filter(({ source }) => this.sources.has(source));
    if (there.length === 0) return { queues: new Map() };
    return {
      isUp: there.every(({ isUp }) => isUp),
      offsetMs: furthest(there.flatMap(({ source: { offsetMs } }) => (offsetMs === undefined ? [] : [offsetMs]))),
      queues: new Map(there.flatMap(({ isUp, queues }) => (isUp ? [...queues] : []))),
    };
  }

  private async readOne(source: Source, taken: Set<string>): Promise<ReadSource> {
    const endsAt = performance.now() + ANSWER_WITHIN_MS;
    const queues = new Map<string, QueueOverview>();
    const readQueues = async () => {
      const known = await source.queues(ANSWER_WITHIN_MS);
      const leftMs = Math.max(0, endsAt - performance.now());
      const readQueue = async (queue: string) => {
        const overview = await this.overview(source, queue, leftMs);
        if (overview) queues.set(source.labelOf(queue), overview);
      };
      await Promise.all(known.filter((queue) => takes(taken, source.labelOf(queue))).map(readQueue));
    };
    const [isUp] = await Promise.all([source.isUp(ANSWER_WITHIN_MS), readQueues()]);
    return { source, isUp, queues };
  }

  private async overview(source: Source, queue: string, withinMs: number): Promise<QueueOverview | undefined> {
    const label = source.labelOf(queue);
    const kept = this.overviews.get(label);
    if (kept?.isFresh) return kept.value;
    const read = await source.overview(queue, withinMs);
    if (read && this.sources.has(source)) this.overviews.set(label, new Kept(read, source));
    return read;
  }
}

/** Of several sources that know a queue of this label, the first one takes it. */
function takes(taken: Set<string>, label: string): boolean {
  const before = taken.size;
  return taken.add(label).size > before;
}

function furthest(offsets: readonly number[]): number | undefined {
  return [...offsets].sort((a, b) => Math.abs(b) - Math.abs(a))[0];
}
