import type { QueueOverview } from '../store/job-store.js';
import { Kept, type Source } from './source.js';

/** Redis that has not told by then what it was asked for is down. A scrape is over a moment later. */
const ANSWER_WITHIN_MS = 2_000;

/** What a scrape shows beside what is counted. */
export interface Reading {
  /** Whether the Redis of each source told all that it was asked for; `undefined` where there is no source. */
  readonly isUp?: boolean;
  /** Of several sources, the offset that is furthest from 0. */
  readonly offsetMs?: number;
  /** By the label of the queue. */
  readonly queues: ReadonlyMap<string, QueueOverview>;
}

interface ReadSource {
  readonly source: Source;
  readonly isUp: boolean;
  /** By the label of the queue. */
  readonly queues: ReadonlyMap<string, QueueOverview>;
}

/** Reads the queues of all sources of a registry for its gauges, once for all that are asked at the same time. */
export class Scrapes {
  private readonly sources = new Set<Source>();
  /** By the label of the queue. If two sources know a queue, a reading of one serves the other as well. */
  private readonly overviews = new Map<string, Kept<QueueOverview>>();
  private pending?: Promise<Reading>;

  add(source: Source): void {
    this.sources.add(source);
  }

  /** The source is read no more, and its readings are forgotten. */
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
    // A source whose Redis is away must not take the queues that another one can read.
    const upFirst = [...this.sources].sort((a, b) => Number(b.wasUp) - Number(a.wasUp));
    const read = await Promise.all(upFirst.map((source) => this.readOne(source, taken)));
    // An application may have closed meanwhile, and removed its source.
    const there = read.filter(({ source }) => this.sources.has(source));
    if (there.length === 0) return { queues: new Map() };
    return {
      isUp: there.every(({ isUp }) => isUp),
      offsetMs: furthest(there.flatMap(({ source: { offsetMs } }) => (offsetMs === undefined ? [] : [offsetMs]))),
      queues: new Map(there.flatMap(({ queues }) => [...queues])),
    };
  }

  private async readOne(source: Source, taken: Set<string>): Promise<ReadSource> {
    const endsAt = performance.now() + ANSWER_WITHIN_MS;
    const answered = new Map<string, QueueOverview>();
    const kept = new Map<string, QueueOverview>();
    const readOverview = async (queue: string) => {
      const label = source.labelOf(queue);
      const last = this.overviews.get(label);
      // After an outage every queue is asked anew: what was kept is shown only where Redis answers.
      if (source.wasUp && last?.isFresh) return kept.set(label, last.value);
      const read = await source.overview(queue, Math.max(0, endsAt - performance.now()));
      if (read && this.sources.has(source)) this.overviews.set(label, new Kept(read, source));
      return read && answered.set(label, read);
    };
    const readKnown = async () => {
      const own = source.queues.filter((queue) => takes(taken, source.labelOf(queue)));
      return (await Promise.all(own.map(readOverview))).every(Boolean);
    };
    const readQueues = async () => {
      // The known ones do not wait for the list: the node of a cluster that has it may be the one that is frozen.
      const told = await Promise.all([source.readQueues(ANSWER_WITHIN_MS), readKnown()]);
      const isNewRead = await readKnown();
      return told.every(Boolean) && isNewRead;
    };
    const told = await Promise.all([source.readClock(ANSWER_WITHIN_MS), readQueues()]);
    source.wasUp = told.every(Boolean);
    return { source, isUp: source.wasUp, queues: new Map([...(source.wasUp ? kept : []), ...answered]) };
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
