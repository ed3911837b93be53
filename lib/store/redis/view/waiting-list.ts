import type { OrderingRule } from '../../../core/options/queue-options.js';
import type { WaitingState } from '../../job-store.js';
import { LANE_ENDINGS, levelsKey, type QueueKeys } from '../keys.js';
import type { QueueLink } from '../link/queue-link.js';
import { ask } from '../scripts/bound-script.js';
import { headsScript, lanesScript } from '../scripts/look/contract.js';
import { clockScript } from '../scripts/server/contract.js';
import { byPlace, LaneMerge, type LaneStart, type WaitingJob } from './lane-merge.js';

/** How many heads, levels, lanes and jobs of lanes one call reads. Each such call takes Redis 1 to 3 ms. */
const HEADS_A_CALL = 2_000;
const LEVELS_A_CALL = 250;
const LANES_A_CALL = 250;
const JOBS_A_CALL = 1_000;
/** How many lanes with a due first job are opened at a time: later jobs of such a lane may be scheduled ones. */
const DUE_LANES = 1_000;

/** Finds the waiting jobs of one queue in order, by as many short calls as are needed. Lanes that cannot matter are not read. */
export class WaitingList {
  constructor(
    private readonly connection: QueueLink,
    private readonly keys: QueueKeys,
    private readonly giveUpAt: number,
    private readonly ordering: OrderingRule,
  ) {}

  /**
   * Due jobs come in the order of claims, scheduled ones by due time. The order of the scheduled ones is exact while at most 1 000
   * lanes have a due first job. Beyond that, the jobs of each further thousand of such lanes come after all that were read before.
   */
  async ids(state: WaitingState, offset: number, limit: number): Promise<string[]> {
    const [nowMs, levels] = await Promise.all([this.now(), this.levels()]);
    const wanted = offset + limit;
    const found = state === 'due' ? await this.due(nowMs, levels, wanted) : await this.scheduled(nowMs, levels, wanted);
    return found.slice(offset, wanted);
  }

  private async due(nowMs: number, levels: readonly string[], wanted: number): Promise<string[]> {
    const isStrict = this.ordering.mode === 'strict';
    const lanes = await this.heads(levels, '-inf', String(nowMs), wanted, isStrict ? wanted : Number.POSITIVE_INFINITY);
    const merge = new LaneMerge(lanes, byPlace('due', this.ordering), (asked, count) =>
      this.jobs(asked, count, '-inf', nowMs),
    );
    return await merge.first(wanted);
  }

  private async scheduled(nowMs: number, levels: readonly string[], wanted: number): Promise<string[]> {
    const order = byPlace('scheduled', this.ordering);
    const read = (asked: readonly LaneStart[], count: number) => this.jobs(asked, count, String(nowMs));
    const found = new Set<string>();
    let later = await this.heads(levels, `(${nowMs}`, '+inf', wanted);
    let place: HeadsPlace | undefined = START;
    // Scheduled jobs may also lie behind a lane's due first job, where the heads do not show them.
    while (place) {
      const due: LaneStart[] = [];
      while (place && due.length < DUE_LANES) {
        const step = await this.headsFrom(
          place,
          levels,
          '-inf',
          String(nowMs),
          Number.MAX_SAFE_INTEGER,
          DUE_LANES - due.length,
        );
        due.push(...step.lanes);
        place = step.next;
      }
      const behind = due.map(({ priority, lane }) => ({ priority, lane }));
      const merge = new LaneMerge([...later, ...behind], order, read);
      for (const id of await merge.first(wanted - found.size)) found.add(id);
      if (found.size >= wanted) break;
      later = [];
    }
    return [...found];
  }

  /** Redis' clock says what is due. */
  private async now(): Promise<number> {
    return Number(await ask(this.connection, clockScript(this.keys), {}, this.giveUpAt));
  }

  /** The endings of the keys of heads, the most urgent level first. */
  private async levels(): Promise<string[]> {
    const found = await Promise.all(
      LANE_ENDINGS.map(async (ending) => {
        const key = levelsKey(this.keys, ending);
        const priorities = await this.connection.read('list', (client) => client.zrange(key, '0', '-1'), this.giveUpAt);
        return priorities.map((priority) => ({ priority: priorityOf(priority), level: priority + ending }));
      }),
    );
    return found
      .flat()
      .sort((a, b) => a.priority - b.priority)
      .map(({ level }) => level);
  }

  /** The earliest lanes of each level, at most `ofLevel` of each. No further priority is read once there are `enough`. */
  private async heads(
    levels: readonly string[],
    from: string,
    to: string,
    ofLevel: number,
    enough = Number.POSITIVE_INFINITY,
  ): Promise<LaneStart[]> {
    const lanes: LaneStart[] = [];
    for (let place: HeadsPlace | undefined = START; place; ) {
      const { at, passOver } = place;
      if (lanes.length >= enough && passOver === 0 && priorityOf(levels[at]!) !== lanes.at(-1)!.priority) break;
      const step = await this.headsFrom(place, levels, from, to, ofLevel, HEADS_A_CALL);
      lanes.push(...step.lanes);
      place = step.next;
    }
    return lanes;
  }

  /** One call. Where levels are left, or more heads of a level, it answers where the next one goes on. */
  private async headsFrom(
    { at, passOver }: HeadsPlace,
    levels: readonly string[],
    from: string,
    to: string,
    ofLevel: number,
    left: number,
  ): Promise<{ lanes: LaneStart[]; next: HeadsPlace | undefined }> {
    const asked = levels.slice(at, at + LEVELS_A_CALL);
    if (asked.length === 0) return { lanes: [], next: undefined };
    const args = { base: this.keys.base, from, to, ofLevel, left, passOver, levels: asked };
    const [isCut, ...found] = await ask(this.connection, headsScript(this.keys), args, this.giveUpAt);
    const lanes = found.flatMap((heads, i) => readHeads(heads, priorityOf(asked[i]!)));
    const last = at + found.length - 1;
    if (isCut !== '1') return { lanes, next: last + 1 < levels.length ? { at: last + 1, passOver: 0 } : undefined };
    const ofLast = found.at(-1)!.length / 2;
    return { lanes, next: { at: last, passOver: found.length === 1 ? passOver + ofLast : ofLast } };
  }

  /** More jobs of some lanes, in several calls; only those that are due at `until` or before. */
  private async jobs(asked: readonly LaneStart[], count: number, after: string, until = Number.POSITIVE_INFINITY) {
    const lanesACall = Math.max(1, Math.min(LANES_A_CALL, Math.floor(JOBS_A_CALL / count)));
    const found: WaitingJob[][] = [];
    for (let at = 0; at < asked.length; at += lanesACall) {
      const lanes = asked.slice(at, at + lanesACall);
      const args = {
        base: this.keys.base,
        after,
        count,
        lanes: lanes.flatMap(({ lane, passOver = 0 }) => [lane, passOver]),
      };
      const reply = await ask(this.connection, lanesScript(this.keys), args, this.giveUpAt);
      for (const [i, jobs] of reply.entries())
        found.push(
          pairs(jobs)
            .map(([id, due]) => ({ id, due, priority: lanes[i]!.priority }))
            .filter(({ due }) => due <= until),
        );
    }
    return found;
  }
}

/** Which level comes next, and how many of its heads to pass over. */
interface HeadsPlace {
  readonly at: number;
  readonly passOver: number;
}

const START: HeadsPlace = { at: 0, passOver: 0 };

const priorityOf = (level: string) => Number.parseInt(level, 10);

function readHeads(heads: readonly string[], priority: number): LaneStart[] {
  return pairs(heads).map(([head, due]) => {
    const tab = head.indexOf('\t');
    return { priority, lane: head.slice(tab + 1), first: { id: head.slice(0, tab), due, priority } };
  });
}

function pairs(flat: readonly string[]): [member: string, score: number][] {
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i]!, Number(flat[2 * i + 1])]);
}
