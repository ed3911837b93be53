import { TIME_ZONE_DATA } from '../../../core/calendar/occurrences.js';
import { parseRuleText } from '../../../core/calendar/read-rule.js';
import type { CallerPool } from '../calls/caller-pool.js';
import type { QueueKeys } from '../keys.js';
import type { ServerClock } from '../link/server-clock.js';
import { refillScript, tendScript } from '../scripts/recur/contract.js';
import { instantsAhead } from './instants-ahead.js';

/** About how many recurrences one call looks at: after an outage each may have a state of 4 KiB. */
const LOOKED_AT_A_CALL = 100;
/** So long after a walk through all has begun the next one begins, by whichever process comes first. */
const TEND_EVERY_MS = 7_000;
const REFILLED_A_CALL = 50;
const FIELDS_A_NEED = 6;

/** The id of an occurrence: that of its recurrence, and its instant. */
const OCCURRENCE = /^(.*)@\d+$/;

/** In how many ms the recurrences are to be tended again, and the blackouts of their queue; `undefined` for never. */
interface Tended {
  inMs: number | undefined;
  blackoutsInMs: number | undefined;
}

const inMs = (at: string, now: string) => (at === '' ? undefined : Math.max(0, Number(at) - Number(now)));

/** Looks after the recurrences of one queue: see `QueueRecurrences.tend`. */
export class RedisTending {
  private readonly tendScript;
  private readonly refillScript;

  constructor(
    private readonly callers: CallerPool,
    private readonly clock: ServerClock,
    keys: QueueKeys,
  ) {
    this.tendScript = tendScript(keys);
    this.refillScript = refillScript(keys);
  }

  async tend(named: readonly string[] = [], tellDamaged?: (ids: readonly string[]) => void): Promise<Tended> {
    const damaged: string[] = [];
    try {
      return await this.walk([...new Set(named)], damaged);
    } finally {
      if (damaged.length > 0) tellDamaged?.(damaged);
    }
  }

  /** `ids`: to look after besides. Adds to `damaged`. */
  private async walk(ids: string[], damaged: string[]): Promise<Tended> {
    let cursor = '';
    for (;;) {
      const [, now, next, tendAt, blackoutsAt, needs, ...found] = await this.callers.call(this.tendScript, {
        cursor,
        limit: LOOKED_AT_A_CALL,
        everyMs: TEND_EVERY_MS,
        zones: TIME_ZONE_DATA,
        ids: ids.splice(0, LOOKED_AT_A_CALL),
      });
      damaged.push(...found);
      await this.refill(needs);
      cursor = next;
      if (cursor === '' && ids.length === 0) return { inMs: inMs(tendAt, now), blackoutsInMs: inMs(blackoutsAt, now) };
    }
  }

  /** To be called with the ids of jobs that have been cancelled. */
  afterCancel(jobIds: readonly string[]): Promise<void> {
    return this.afterSkip(jobIds.flatMap((id) => OCCURRENCE.exec(id)?.[1] ?? []));
  }

  /** To be called with the ids of recurrences whose armed jobs are gone. What fails here is done by whoever tends next. */
  async afterSkip(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.tend(ids).catch(() => {});
  }

  /** Gives recurrences the instants that they need; see `tend.lua` for what stands in `needs`. */
  private async refill(needs: readonly string[]): Promise<void> {
    for (let i = 0; i < needs.length; i += REFILLED_A_CALL * FIELDS_A_NEED) {
      const reckonedAt = Math.floor(this.clock.at());
      const rows: (string | number)[] = [];
      for (let at = i; at < Math.min(needs.length, i + REFILLED_A_CALL * FIELDS_A_NEED); at += FIELDS_A_NEED) {
        const [id, version, how, from, wall, rule] = needs.slice(at, at + FIELDS_A_NEED) as Need;
        const beginWall = Number(wall) || undefined;
        const { list, skipped } = instantsAhead(parseRuleText(rule), Number(from), reckonedAt, beginWall);
        rows.push(id, version, how, from, skipped, list);
      }
      await this.callers.call(this.refillScript, { zones: TIME_ZONE_DATA, reckonedAt, rows });
    }
  }
}

type Need = [id: string, version: string, how: string, from: string, wall: string, rule: string];
