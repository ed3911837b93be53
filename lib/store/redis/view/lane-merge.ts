import type { OrderingRule } from '../../../core/options/queue-options.js';
import type { WaitingState } from '../../job-store.js';

export interface WaitingJob {
  id: string;
  due: number;
  priority: number;
}

/** A lane, and its first job where that is known. `passOver`: how many of the lane's jobs have been read already. */
export interface LaneStart {
  priority: number;
  lane: string;
  first?: WaitingJob;
  passOver?: number;
}

type Order = (a: WaitingJob, b: WaitingJob) => number;
/** Reads `count` more jobs of each lane, fewer where a lane has no more. */
type ReadMore = (lanes: readonly LaneStart[], count: number) => Promise<WaitingJob[][]>;

interface OpenLane extends LaneStart {
  jobs: WaitingJob[];
  /** Which of them comes next. */
  at: number;
  passOver: number;
  hasMore: boolean;
  /** How many to read of it next. */
  chunk: number;
}

/** How many lanes are opened or read further at a time, and how many jobs of one lane at the most. */
const LANES_AT_ONCE = 500;
const MOST_OF_A_LANE = 2_000;

/** The order in which `turn` claims, or, of scheduled jobs, the one by due time. */
export function byPlace(state: WaitingState, ordering: OrderingRule): Order {
  const rank = ({ due, priority }: WaitingJob) => {
    if (state === 'scheduled') return due;
    return ordering.mode === 'strict' ? priority : due + priority * ordering.msPerLevel;
  };
  return (a, b) => rank(a) - rank(b) || a.priority - b.priority || a.due - b.due || (a.id < b.id ? -1 : 1);
}

/**
 * Merges lanes, each of which is in order. Their first jobs are known, or read at the beginning. The rest of a lane is read only once
 * its first job has been taken, and then together with that of the lanes that come next.
 */
export class LaneMerge {
  /** A binary heap, the lane with the next job at its top. */
  private readonly open: OpenLane[] = [];
  private readonly unopened: OpenLane[];
  private nextUnopened = 0;
  private readonly unread: OpenLane[];

  constructor(
    lanes: readonly LaneStart[],
    private readonly order: Order,
    private readonly readMore: ReadMore,
  ) {
    const all = lanes.map(openLane);
    this.unread = all.filter(({ first }) => !first);
    this.unopened = all.filter(({ first }) => first).sort((a, b) => order(a.first!, b.first!));
  }

  /** The ids of the first so many jobs, each once. */
  async first(wanted: number): Promise<string[]> {
    const found = new Set<string>();
    const share = Math.ceil(wanted / Math.max(1, this.unread.length + this.unopened.length)) + 1;
    if (wanted > 0) await this.fill(this.unread, share);
    for (const lane of this.unread) this.push(lane);
    while (found.size < wanted) {
      const lane = this.next();
      if (!lane) break;
      found.add(lane.jobs[lane.at++]!.id);
      if (lane.at === lane.jobs.length && lane.hasMore && found.size < wanted) await this.readOn(lane, share);
      this.push(lane);
    }
    return [...found];
  }

  /** Takes out the lane that has the next job. */
  private next(): OpenLane | undefined {
    const unopened = this.unopened[this.nextUnopened];
    const top = this.open[0];
    if (!unopened || (top && this.order(front(top), front(unopened)) <= 0)) return this.pop();
    this.nextUnopened++;
    return unopened;
  }

  /** A lane has run dry. Reads it further, and with it others that will run dry soon. */
  private async readOn(dry: OpenLane, share: number): Promise<void> {
    if (dry.passOver === 1) {
      const others = this.unopened.slice(this.nextUnopened, this.nextUnopened + LANES_AT_ONCE - 1);
      this.nextUnopened += others.length;
      await this.fill([dry, ...others], share);
      for (const lane of others) this.push(lane);
      return;
    }
    const soon = this.open
      .slice(0, LANES_AT_ONCE - 1)
      .filter((lane) => lane.hasMore && lane.jobs.length - lane.at <= 1);
    dry.chunk = Math.min(dry.chunk * 4, MOST_OF_A_LANE);
    await this.fill(
      [dry, ...soon],
      Math.min(dry.chunk, Math.max(1, Math.floor((10 * MOST_OF_A_LANE) / (1 + soon.length)))),
    );
  }

  private async fill(lanes: readonly OpenLane[], share: number): Promise<void> {
    const count = Math.min(share, MOST_OF_A_LANE);
    const found = lanes.length > 0 ? await this.readMore(lanes, count) : [];
    for (const [i, lane] of lanes.entries()) {
      const jobs = found[i] ?? [];
      lane.jobs = [...lane.jobs.slice(lane.at), ...jobs];
      lane.at = 0;
      lane.passOver += jobs.length;
      lane.hasMore = jobs.length === count;
      lane.chunk = Math.max(lane.chunk, count);
    }
  }

  private push(lane: OpenLane): void {
    if (lane.at === lane.jobs.length) return;
    const { open } = this;
    let at = open.push(lane) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.order(front(open[parent]!), front(lane)) <= 0) break;
      open[at] = open[parent]!;
      at = parent;
    }
    open[at] = lane;
  }

  private pop(): OpenLane | undefined {
    const { open } = this;
    const top = open[0];
    const last = open.pop();
    if (!last || last === top) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= open.length) break;
      if (child + 1 < open.length && this.order(front(open[child + 1]!), front(open[child]!)) < 0) child++;
      if (this.order(front(last), front(open[child]!)) <= 0) break;
      open[at] = open[child]!;
      at = child;
    }
    open[at] = last;
    return top;
  }
}

const front = (lane: OpenLane) => lane.jobs[lane.at]!;

function openLane(lane: LaneStart): OpenLane {
  const jobs = lane.first ? [lane.first] : [];
  return { ...lane, jobs, at: 0, passOver: jobs.length, hasMore: true, chunk: 1 };
}
