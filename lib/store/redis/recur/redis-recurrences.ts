import { TIME_ZONE_DATA } from '../../../core/calendar/occurrences.js';
import type { NewRecurrence, QueueRecurrences, StoredRecurrence, UpsertAnswer } from '../../recurrences.js';
import type { RedisBlackouts } from '../calls/blackouts.js';
import type { CallerPool } from '../calls/caller-pool.js';
import type { QueueKeys } from '../keys.js';
import type { QueueLink } from '../link/queue-link.js';
import { textOf } from '../link/send-script.js';
import type { ServerClock } from '../link/server-clock.js';
import { ask } from '../scripts/bound-script.js';
import {
  backfillRecurrenceScript,
  pauseRecurrenceScript,
  recurrenceIdsScript,
  recurrencesScript,
  removeRecurrenceScript,
  resumeRecurrenceScript,
  runRecurrenceScript,
  upsertRecurrenceScript,
} from '../scripts/recur/contract.js';
import { instantsAhead } from './instants-ahead.js';
import { decodeRecurrence, encodeRecord, isReckonedInRedis } from './record-text.js';
import type { RedisTending } from './redis-tending.js';

/** How many are read, walked through and added in one call. */
const READ_A_CALL = 100;
const WALKED_A_CALL = 1_000;
const ADDED_A_CALL = 250;
/** Of a rule that Redis reckons itself. */
const RECKONED_THERE = '-';
/** How often instants are reckoned anew for one upsert, as time has gone on. */
const MOST_TRIES = 5;

/** The recurrences of one queue. */
export class RedisRecurrences implements QueueRecurrences {
  private readonly scripts;

  constructor(
    private readonly callers: CallerPool,
    private readonly connection: QueueLink,
    private readonly clock: ServerClock,
    keys: QueueKeys,
    private readonly options: {
      isUsed(): void;
      queue: string;
      commandTimeoutMs: number;
      tending: RedisTending;
      blackouts: RedisBlackouts;
    },
  ) {
    this.scripts = {
      upsert: upsertRecurrenceScript(keys),
      remove: removeRecurrenceScript(keys),
      pause: pauseRecurrenceScript(keys),
      resume: resumeRecurrenceScript(keys),
      run: runRecurrenceScript(keys),
      backfill: backfillRecurrenceScript(keys),
      read: recurrencesScript(keys),
      ids: recurrenceIdsScript(keys),
    };
  }

  async upsert(recurrence: NewRecurrence): Promise<UpsertAnswer> {
    const { id, rule, job } = recurrence;
    this.options.isUsed();
    const record = encodeRecord(recurrence);
    const isReckonedHere = !isReckonedInRedis(rule);
    let from = await this.nowMs();
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const list = isReckonedHere ? instantsAhead(rule, from, from).list : RECKONED_THERE;
      const args = { id, owner: '', ...record, zones: TIME_ZONE_DATA, reckonedFrom: from, list };
      const [, , status, nextAt] = await this.callers.call(this.scripts.upsert, args, job.payload.length);
      if (status !== 'again') return { status, nextAtMs: Number(nextAt) || null };
      from = Number(nextAt);
    }
    throw new Error(
      `the recurrence '${id}' in queue '${this.options.queue}': its instants were over before they arrived.`,
    );
  }

  async remove(id: string): Promise<'removed' | 'unknown' | 'declared'> {
    return (await this.callers.call(this.scripts.remove, { id }))[2];
  }

  async pause(id: string, reason = ''): Promise<boolean> {
    return (await this.callers.call(this.scripts.pause, { id, reason }))[2] === '1';
  }

  async resume(id: string): Promise<boolean> {
    const [, , isResumed, isShort] = await this.callers.call(this.scripts.resume, { id });
    if (isShort === '1') await this.options.tending.afterSkip([id]);
    return isResumed === '1';
  }

  async runNow(id: string): Promise<{ id: string; name: string; dueAtMs: number } | undefined> {
    const [, , jobId, due, name] = await this.callers.call(this.scripts.run, { id });
    return jobId === '' ? undefined : { id: jobId, name, dueAtMs: Number(due) };
  }

  async backfill(id: string, instants: readonly number[]): Promise<number | undefined> {
    let added = 0;
    let at = 0;
    do {
      const some = instants.slice(at, at + ADDED_A_CALL);
      const args = { id, instants: some };
      const [, , count, isShort] = await this.callers.call(this.scripts.backfill, args);
      if (isShort === '1') await this.options.tending.afterSkip([id]);
      if (count === '') return at === 0 ? undefined : added;
      added += Number(count);
      at += ADDED_A_CALL;
    } while (at < instants.length);
    return added;
  }

  async get(id: string): Promise<StoredRecurrence | undefined> {
    return (await this.read([id]))[0];
  }

  async list(offset: number, limit: number): Promise<StoredRecurrence[]> {
    const ids = (await this.ids()).sort().slice(offset, offset + limit);
    const found: StoredRecurrence[] = [];
    for (let i = 0; i < ids.length; i += READ_A_CALL) found.push(...(await this.read(ids.slice(i, i + READ_A_CALL))));
    return found;
  }

  /** The blackouts of the queue as well: whoever tends one tends the other. */
  async tend(named?: readonly string[], tellDamaged?: (ids: readonly string[]) => void): Promise<number | undefined> {
    const { tending, blackouts } = this.options;
    const { inMs, blackoutsInMs } = await tending.tend(named, tellDamaged);
    const known = [inMs, blackoutsInMs === 0 ? await blackouts.tend() : blackoutsInMs].filter((ms) => ms !== undefined);
    return known.length === 0 ? undefined : Math.min(...known);
  }

  /** By Redis' clock. */
  private async nowMs(): Promise<number> {
    if (!this.clock.known) await this.clock.learn(this.giveUpAt);
    return this.clock.at();
  }

  private get giveUpAt(): number {
    return this.connection.now() + this.options.commandTimeoutMs;
  }

  /** All that are listed. */
  private async ids(): Promise<string[]> {
    const all = new Set<string>();
    let cursor = '0';
    do {
      const args = { cursor, limit: WALKED_A_CALL };
      const [next, ...ids] = await ask(this.connection, this.scripts.ids, args, this.giveUpAt);
      for (const id of ids) all.add(id);
      cursor = next;
    } while (cursor !== '0');
    return [...all];
  }

  private async read(ids: readonly string[]): Promise<StoredRecurrence[]> {
    const found = (await ask(this.connection, this.scripts.read, { ids: [...ids] }, this.giveUpAt, {
      fromBytes: recordsFromBytes,
    })) as (string | Buffer)[];
    return ids.flatMap((id, i) => decodeRecurrence(id, found[2 * i]!, found[2 * i + 1] as string) ?? []);
  }
}

/** Payloads stand in the records; the states are text. */
function recordsFromBytes(reply: unknown): unknown {
  return (reply as unknown[]).map((field, at) => (at % 2 === 0 ? field : textOf(field)));
}
