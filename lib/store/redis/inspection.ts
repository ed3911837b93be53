import type { OrderingRule } from '../../core/queue-options.js';
import type { JobCounts, JobState, PriorityCounts, StoredJob } from '../job-store.js';
import { ANY_WORKER, headsKey, laneKey, levelsKey, processOf, type QueueKeys } from '../keys.js';
import type { RedisConnection } from './connection.js';

/** How many due lanes one call counts: about as many microseconds. With more the counts are of several moments. */
const LANES_A_CALL = 5_000;

/** Reads of one queue. Nothing here writes. */
export class RedisInspection {
  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: QueueKeys,
    private readonly commandTimeoutMs: number,
  ) {}

  async counts(): Promise<JobCounts> {
    const { waiting, active, dead, completed, ...first } = await this.readCounts(0, LANES_A_CALL);
    let { due, whole } = first;
    for (let lanes = LANES_A_CALL; !whole; lanes += LANES_A_CALL) {
      const next = await this.readCounts(lanes, LANES_A_CALL);
      due += next.due;
      whole = next.whole;
    }
    return { scheduled: Math.max(0, waiting - due), due, active, completed, dead };
  }

  /** Waiting jobs by priority, most urgent first. */
  async countsByPriority(): Promise<PriorityCounts[]> {
    const { keys } = this;
    const counts = new Map<number, PriorityCounts>();
    for (let lanes = 0, whole = false; !whole; lanes += LANES_A_CALL) {
      const args = [keys.base, lanes, LANES_A_CALL];
      const reply = (await this.connection.run('priorities', [keys.levels], args, this.giveUpAt())) as (
        | string
        | number
      )[];
      whole = reply[0] === '1';
      for (let i = 1; i < reply.length; i += 3) {
        const [priority = 0, waiting = 0, due = 0] = reply.slice(i, i + 3).map(Number);
        const sum = counts.get(priority) ?? { priority, scheduled: 0, due: 0 };
        counts.set(priority, { priority, scheduled: sum.scheduled + waiting - due, due: sum.due + due });
      }
    }
    return [...counts.values()];
  }

  async nextDue(): Promise<{ dueAtMs: number | undefined; nowMs: number }> {
    const { nextDue, nowMs } = await this.readCounts(0, 0);
    return { dueAtMs: nextDue, nowMs };
  }

  async stats(): Promise<Record<string, number>> {
    const stats = await this.connection.read((client) => client.hgetall(this.keys.stats), this.giveUpAt());
    return Object.fromEntries(Object.entries(stats).map(([counter, count]) => [counter, Number(count)]));
  }

  async job(id: string): Promise<StoredJob | undefined> {
    const { keys } = this;
    const read = [
      keys.jobs,
      keys.claims,
      keys.failures,
      keys.active,
      keys.dead,
      keys.completed,
      keys.finished,
      keys.queued,
    ];
    const reply = (await this.connection.run('job', read, [keys.base, id], this.giveUpAt())) as string[];
    return reply.length === 0 ? undefined : readJob(id, reply);
  }

  async list(state: JobState, offset: number, limit: number, ordering: OrderingRule): Promise<StoredJob[]> {
    const ids = await this.ids(state, offset, limit, ordering);
    const jobs = await Promise.all(ids.map((id) => this.job(id)));
    // One that has moved on since its id was read is no longer what was asked for.
    return jobs.filter((job): job is StoredJob => job?.state === state);
  }

  private ids(state: JobState, offset: number, limit: number, ordering: OrderingRule): Promise<string[]> {
    const { keys } = this;
    const end = offset + limit - 1;
    switch (state) {
      case 'active':
        return this.connection.read(
          (client) => client.zrange(keys.active, String(offset), String(end)),
          this.giveUpAt(),
        );
      case 'dead':
        return this.connection.read((client) => client.zrevrange(keys.dead, offset, end), this.giveUpAt());
      case 'completed':
        return this.connection.read((client) => client.zrevrange(keys.completed, offset, end), this.giveUpAt());
      default:
        return this.waitingIds(state, offset, limit, ordering);
    }
  }

  /** Due ones in the order of claims; those not yet due by due time alone. */
  private async waitingIds(
    state: 'scheduled' | 'due',
    offset: number,
    limit: number,
    ordering: OrderingRule,
  ): Promise<string[]> {
    const { nowMs } = await this.readCounts(0, 0);
    const [from, to] = state === 'due' ? ['-inf', String(nowMs)] : [`(${nowMs}`, '+inf'];
    const wanted = offset + limit;
    const found: { id: string; due: number; priority: number }[] = [];
    for (const { priority, heads } of await this.levels()) {
      for (const lane of await this.lanesIn(heads, state === 'due' ? to! : '+inf', wanted)) {
        const key = laneKey(this.keys, lane);
        const jobs = await this.connection.read(
          (client) => client.zrangebyscore(key, from!, to!, 'WITHSCORES', 'LIMIT', 0, wanted),
          this.giveUpAt(),
        );
        for (let i = 0; i < jobs.length; i += 2)
          found.push({ id: jobs[i]!, due: Number(jobs[i + 1]), priority: Number(priority) });
      }
    }
    const rank = rankOf(state, ordering);
    found.sort((a, b) => rank(a) - rank(b) || a.priority - b.priority || a.due - b.due || (a.id < b.id ? -1 : 1));
    return found.slice(offset, wanted).map(({ id }) => id);
  }

  /** Where the heads of lanes stand: those of lanes without a preferred worker, and of all with one. */
  private async levels(): Promise<{ priority: string; heads: string }[]> {
    const found = await Promise.all(
      ['', ANY_WORKER].map(async (ending) => {
        const key = levelsKey(this.keys, ending);
        const priorities = await this.connection.read((client) => client.zrange(key, '0', '-1'), this.giveUpAt());
        return priorities.map((priority) => ({ priority, heads: headsKey(this.keys, priority, ending) }));
      }),
    );
    return found.flat();
  }

  /** Due ones need only the earliest lanes; a lane whose head is due may hold the next one that is not. */
  private async lanesIn(headsKey: string, to: string, wanted: number): Promise<string[]> {
    const limit = to === '+inf' ? -1 : wanted;
    const heads = await this.connection.read(
      (client) => client.zrangebyscore(headsKey, '-inf', to, 'LIMIT', 0, limit),
      this.giveUpAt(),
    );
    return heads.map((head) => head.slice(head.indexOf('\t') + 1));
  }

  private async readCounts(passOver: number, lanes: number) {
    const { keys } = this;
    const read = [keys.jobs, keys.active, keys.dead, keys.completed, keys.levels];
    const reply = (await this.connection.run('counts', read, [keys.base, passOver, lanes], this.giveUpAt())) as (
      | string
      | number
    )[];
    const [waiting, due, active, dead, completed, whole, now, nextDue] = reply;
    return {
      waiting: Number(waiting),
      due: Number(due),
      active: Number(active),
      dead: Number(dead),
      completed: Number(completed),
      whole: whole === '1',
      nowMs: Number(now),
      nextDue: nextDue === '' ? undefined : Number(nextDue),
    };
  }

  private giveUpAt(): number {
    return performance.now() + this.commandTimeoutMs;
  }
}

/** What the script that claims orders by. */
function rankOf(
  state: 'scheduled' | 'due',
  ordering: OrderingRule,
): (job: { due: number; priority: number }) => number {
  if (state === 'scheduled') return ({ due }) => due;
  if (ordering.mode === 'strict') return ({ priority }) => priority;
  return ({ due, priority }) => due + priority * ordering.msPerLevel;
}

function readJob(
  id: string,
  [now, state, time, envelope, record, failures, finished, queuedDue]: (string | null)[],
): StoredJob {
  const at = Number(time);
  const lines = failures === '' ? [] : failures!.split('\n');
  if (state === 'completed') {
    const [head, result, ...rest] = finished!.split('\n');
    const [attempts, dueAtMs] = head!.split(' ').map(Number);
    return {
      id,
      state,
      dueAtMs: dueAtMs!,
      endedAtMs: at,
      attempts: attempts!,
      crashes: 0,
      envelope: rest.join('\n'),
      failures: lines,
      result,
    };
  }
  const [mark, attempts, crashes, due, worker] = record === '' ? ['0', '0', '0', '0', '-'] : record!.split(' ');
  // Letters behind it are marks; a 'c' says that the job is to be cancelled.
  const fence = mark!.replace(/[a-z]+$/, '');
  const known = { id, attempts: Number(attempts), crashes: Number(crashes), envelope: envelope!, failures: lines };
  if (state === 'active') {
    const cancelRequested = mark!.includes('c');
    return {
      ...known,
      state,
      dueAtMs: Number(due),
      leaseUntilMs: at,
      fence,
      worker: processOf(worker!),
      cancelRequested,
      ...(typeof queuedDue === 'string' && { queuedDueAtMs: Number(queuedDue) }),
    };
  }
  if (state === 'dead') return { ...known, state, dueAtMs: Number(due), endedAtMs: at };
  return { ...known, state: at <= Number(now) ? 'due' : 'scheduled', dueAtMs: at };
}
