import { FIRST_VERSION } from '../../../core/job/job-versions.js';
import { type OccurrenceId, occurrenceId, readOccurrenceId } from '../../../core/job/occurrence-id.js';
import type { OrderingRule } from '../../../core/options/queue-options.js';
import { isReadable } from '../../envelope.js';
import type { JobCounts, JobState, PriorityCounts, QueueOverview, StoredJob, VersionCounts } from '../../job-store.js';
import { readVersionedName } from '../codec/versioned-name.js';
import type { QueueKeys } from '../keys.js';
import type { Client } from '../link/client.js';
import type { QueueLink } from '../link/queue-link.js';
import { blockedBy } from '../recur/record-text.js';
import { ask } from '../scripts/bound-script.js';
import {
  countsScript,
  forecastScript,
  lateNamesScript,
  placementScript,
  prioritiesScript,
  readCountsReply,
  sizesScript,
  versionsScript,
} from '../scripts/look/contract.js';
import { RedisListing } from './listing.js';

/** How many due lanes one call counts, each in 2 to 7 µs. With more the counts are of several moments. */
const LANES_A_CALL = 400;

/** How many counts of jobs of a lane one call takes for a forecast, each 2 to 4 µs. The last lane of a call may need 1 000 more. */
const COUNTS_A_CALL = 400;

/** How many lanes and jobs one call counts by version, each in a microsecond. */
const COUNTED_A_CALL = 2_000;

/** The most lanes that are compared with the jobs, in one call as they change; a call of so many takes about a millisecond. */
const LANES_COMPARED = 1_000;
/** A session that has not said for so long that it is here leaves the comparison to others. */
const HERE_WITHIN_MS = 60_000;

/** The same number thrice, unless Redis has lost something: each job stands in one place. */
export interface Placement {
  /** Jobs with a content: waiting, active and dead ones. */
  jobs: number;
  /** Jobs that stand where a claim, a recovery or a replay finds them. */
  placed: number;
  /** By the counters of the queue: those that were scheduled and have not gone. */
  counted: number;
}

/** Reads of one queue. Nothing here writes. */
export class RedisInspection {
  constructor(
    private readonly connection: QueueLink,
    private readonly keys: QueueKeys,
    private readonly commandTimeoutMs: number,
  ) {}

  async counts(): Promise<JobCounts> {
    return (await this.overview(this.commandTimeoutMs)).counts;
  }

  /** One call for up to `LANES_A_CALL` due lanes. */
  async overview(withinMs: number): Promise<QueueOverview> {
    const giveUpAt = this.connection.now() + Math.min(withinMs, this.commandTimeoutMs);
    const { waiting, active, dead, completed, nextDue, nowMs, ...first } = await this.readCounts(
      '',
      LANES_A_CALL,
      giveUpAt,
    );
    let { due, next } = first;
    while (next !== '') {
      const page = await this.readCounts(next, LANES_A_CALL, giveUpAt);
      due += page.due;
      next = page.next;
    }
    const counts = { scheduled: Math.max(0, waiting - due), due, active, completed, dead };
    return { counts, dueAtMs: nextDue, nowMs };
  }

  /** Waiting jobs by priority, most urgent first. */
  async countsByPriority(): Promise<PriorityCounts[]> {
    const script = prioritiesScript(this.keys);
    const counts = new Map<number, PriorityCounts>();
    const giveUpAt = this.giveUpAt();
    let from = '';
    do {
      const args = { base: this.keys.base, from, costLeft: LANES_A_CALL };
      const [next, ...rows] = await ask(this.connection, script, args, giveUpAt);
      for (let i = 0; i < rows.length; i += 3) {
        const [priority = 0, waiting = 0, due = 0] = rows.slice(i, i + 3).map(Number);
        const sum = counts.get(priority) ?? { priority, scheduled: 0, due: 0 };
        counts.set(priority, { priority, scheduled: sum.scheduled + waiting - due, due: sum.due + due });
      }
      from = next;
    } while (from !== '');
    return [...counts.values()].sort((a, b) => a.priority - b.priority);
  }

  async forecast(boundsMs: readonly number[]): Promise<number[]> {
    const sums = boundsMs.slice(1).map(() => 0);
    const giveUpAt = this.giveUpAt();
    let from = '';
    do {
      const args = { base: this.keys.base, from, costLeft: COUNTS_A_CALL, bounds: boundsMs };
      const [next, ...counts] = await ask(this.connection, forecastScript(this.keys), args, giveUpAt);
      counts.forEach((count, i) => {
        sums[i]! += Number(count);
      });
      from = next;
    } while (from !== '');
    return sums;
  }

  async nextDue(): Promise<{ dueAtMs: number | undefined; nowMs: number }> {
    const { nextDue, nowMs } = await this.readCounts('', 0);
    return { dueAtMs: nextDue, nowMs };
  }

  async stats(): Promise<Record<string, number>> {
    const read = (client: Client) => client.hgetall(this.keys.stats);
    const { schema: _, ...stats } = await this.connection.read('fields', read, this.giveUpAt());
    return Object.fromEntries(Object.entries(stats).map(([counter, count]) => [counter, Number(count)]));
  }

  /**
   * Compares the jobs with the index that leads to them; `undefined` where that would take too long for one call. `session`: answered only
   * if no process that is here comes before its own by name, so that one process of a queue looks.
   */
  async placement(session = ''): Promise<Placement | undefined> {
    const args = { base: this.keys.base, most: LANES_COMPARED, withinMs: HERE_WITHIN_MS, session };
    const script = placementScript(this.keys);
    const [isKnown, jobs, placed, counted] = await ask(this.connection, script, args, this.giveUpAt());
    return isKnown === '1' ? { jobs, placed, counted } : undefined;
  }

  /** The names and versions of jobs that have been due for longer than so many ms, by name. */
  async lateNames(lateMs: number): Promise<{ name: string; version: number }[]> {
    const all = new Set<string>();
    let from = '';
    do {
      const args = { base: this.keys.base, from, costLeft: LANES_A_CALL, lateMs };
      const [next, ...names] = await ask(this.connection, lateNamesScript(this.keys), args, this.giveUpAt());
      for (const name of names) all.add(name);
      from = next;
    } while (from !== '');
    return [...all].sort().map((each) => ({ version: FIRST_VERSION, ...readVersionedName(each) }));
  }

  /** The jobs of a name by version, each version of which there is one; in ascending order. */
  async versions(name: string): Promise<VersionCounts[]> {
    const counts = new Map<number, VersionCounts>();
    const giveUpAt = this.giveUpAt();
    let from = '';
    do {
      const args = { base: this.keys.base, name, from, costLeft: COUNTED_A_CALL };
      const [next, ...rows] = await ask(this.connection, versionsScript(this.keys), args, giveUpAt);
      for (let i = 0; i < rows.length; i += 3) {
        const version = Number(rows[i]);
        const known = counts.get(version) ?? { version, waiting: 0, active: 0, dead: 0 };
        counts.set(version, known);
        known[rows[i + 1] as 'waiting' | 'active' | 'dead'] += Number(rows[i + 2]);
      }
      from = next;
    } while (from !== '');
    return [...counts.values()].sort((a, b) => a.version - b.version);
  }

  /** At least how many recurrences have a record and no state: nobody lists or arms these. */
  async lostTimings(): Promise<number> {
    const counts = [this.keys.recurrences, this.keys.timetable].map((key) =>
      this.connection.read('count', (client) => client.hlen(key), this.giveUpAt()),
    );
    const [records = 0, states = 0] = (await Promise.all(counts)).map(Number);
    return Math.max(0, records - states);
  }

  /** The hash of the queue that holds the most, and about how many bytes it holds, by a sample. */
  async largestHash(): Promise<{ key: string; bytes: number }> {
    const script = sizesScript(this.keys);
    const sizes = await ask(this.connection, script, {}, this.giveUpAt());
    const hashes = script.keys.map((key, i) => ({ key, bytes: sizes[i]! }));
    return hashes.reduce((largest, hash) => (hash.bytes > largest.bytes ? hash : largest));
  }

  async job(id: string): Promise<StoredJob | undefined> {
    const job = await new RedisListing(this.connection, this.keys, this.giveUpAt()).job(id);
    const isWaiting = job?.state === 'scheduled' || job?.state === 'due';
    const occurrence = isWaiting && isReadable(job.envelope) && job.envelope.occurrence && readOccurrenceId(id);
    if (!occurrence) return job;
    return { ...job, ...(await this.blockedBy(occurrence)) };
  }

  /** Passes each job to `as` when it arrives and keeps only the answer of `as`. Takes at most `commandTimeoutMs`. */
  async list<T>(
    state: JobState,
    offset: number,
    limit: number,
    ordering: OrderingRule,
    as: (job: StoredJob) => T = (job) => job as T,
  ): Promise<T[]> {
    const jobs: T[] = [];
    await this.listing(ordering).each(state, offset, limit, (job) => jobs.push(as(job)));
    return jobs;
  }

  /** Due jobs and then those not yet due, each once, all within `commandTimeoutMs`. */
  async peek<T>(count: number, ordering: OrderingRule, as: (job: StoredJob) => T): Promise<T[]> {
    const jobs = new Map<string, T>();
    const listing = this.listing(ordering);
    const take = (job: StoredJob) => jobs.set(job.id, as(job));
    await listing.each('due', 0, count, take);
    // One that became due between the two reads may be in both.
    if (jobs.size < count) await listing.each('scheduled', 0, count - jobs.size, take);
    return [...jobs.values()];
  }

  /** The occurrence for whose end this one waits, and its own due time; `undefined` where it waits for none. */
  private async blockedBy({ recurrenceId, atMs }: OccurrenceId): Promise<Partial<StoredJob> | undefined> {
    const { timetable } = this.keys;
    const state = await this.connection.read('text', (client) => client.hget(timetable, recurrenceId), this.giveUpAt());
    const blocked = state ? blockedBy(state, atMs) : undefined;
    return blocked && { waitsForEndOf: occurrenceId(recurrenceId, blocked.beganAtMs), dueAtMs: blocked.dueAtMs };
  }

  private listing(ordering: OrderingRule): RedisListing {
    return new RedisListing(this.connection, this.keys, this.giveUpAt(), ordering);
  }

  private async readCounts(from: string, costLeft: number, giveUpAt = this.giveUpAt()) {
    const args = { base: this.keys.base, from, costLeft };
    const reply = await ask(this.connection, countsScript(this.keys), args, giveUpAt);
    const { now, nextDue, ...counts } = readCountsReply(reply);
    return { ...counts, nowMs: Number(now), nextDue: nextDue === '' ? undefined : Number(nextDue) };
  }

  private giveUpAt(): number {
    return this.connection.now() + this.commandTimeoutMs;
  }
}
