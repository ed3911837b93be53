import { startOfLatest } from '../../../core/calendar/latest-instants.js';
import { firesInRepeatedHours, occurrencesAfter } from '../../../core/calendar/occurrences.js';
import type { Rule } from '../../../core/calendar/rule.js';
import { MADE_UP_WITHIN_MS, MISSED_AFTER_MS, MOST_MADE_UP } from '../../../core/constants.js';

/** Known ahead are at least so many instants, and all of so long, but not more than so many. */
const FEWEST_AHEAD = 5;
const AHEAD_MS = 20_000;
const MOST_AHEAD = 300;
/** So many past instants are walked through, in about 0.1 s; of a longer outage then only the latest that count. */
const MOST_WALKED = 100_000;
const MINUTE_MS = 60_000;

/** Behind the last instant of a rule. */
const WHOLE = '.';
/** Behind missed ones that are too many to be made up for, whichever they are. */
const TOO_MANY = '!';

export interface InstantsAhead {
  /** As they stand in a state: see scripts/recur/record.lua. */
  readonly list: string;
  /** How many past ones before the first of the list are left out, as the rule makes up for none of them. Those not walked through do not count. */
  readonly skipped: number;
}

interface Instant {
  readonly atMs: number;
  readonly wallMs: number;
}

/**
 * Lists the rule's instants after `afterMs`. Past instants are kept only if a run may still make up for them: with `onMissed: 'all'` every
 * one younger than `missedWithin`, oldest first; otherwise the last two, because the very last may not count as missed yet. First instants
 * whose wall time is not later than `beginWall` are left out, unless the rule fires in both of two hours that a clock set back repeats.
 */
export function instantsAhead(rule: Rule, afterMs: number, nowMs: number, beginWall?: number): InstantsAhead {
  const past = new PastInstants(rule, nowMs);
  const ahead: Instant[] = [];
  let isWhole = true;
  let walked = 0;
  let hasBegun = beginWall === undefined || firesInRepeatedHours(rule.timing);
  const walk = (fromMs: number): number | undefined => {
    for (const instant of occurrencesAfter(rule.timing, fromMs)) {
      hasBegun ||= instant.wallMs > beginWall!;
      if (!hasBegun) continue;
      if (instant.atMs <= nowMs) {
        if (walked++ === MOST_WALKED) {
          const latestMs = startOfLatest(rule.timing, past.mostKept, instant.atMs, nowMs);
          if (latestMs > instant.atMs) return latestMs;
        }
        past.add(instant);
      } else {
        ahead.push(instant);
        const isEnough = ahead.length >= FEWEST_AHEAD && instant.atMs > nowMs + AHEAD_MS;
        if (isEnough || ahead.length >= MOST_AHEAD) {
          isWhole = false;
          return undefined;
        }
      }
    }
    return undefined;
  };
  const goOn = walk(afterMs);
  if (goOn !== undefined) walk(goOn);
  const kept = past.end();
  const isCut = kept.length > MOST_AHEAD;
  const all = isCut ? kept.slice(0, MOST_AHEAD) : [...kept, ...ahead];
  const texts = all.map(encodeInstant);
  if (past.wereTooMany) texts.unshift(TOO_MANY);
  if (isWhole && !isCut) texts.push(WHOLE);
  return { list: texts.join(' '), skipped: past.skipped };
}

/** Gathers what may be made up for of instants that come in order. */
class PastInstants {
  skipped = 0;
  wereTooMany = false;
  private kept: Instant[] = [];
  private last?: Instant;

  constructor(
    private readonly rule: Rule,
    private readonly nowMs: number,
  ) {}

  /** How many of the latest are needed to tell which are kept, and whether they are too many. */
  get mostKept(): number {
    return this.rule.onMissed === 'all' ? MOST_MADE_UP + 2 : 2;
  }

  add(instant: Instant): void {
    this.follow(instant);
    this.last = instant;
  }

  /** The latest past one stays: it may not be missed yet. */
  end(): readonly Instant[] {
    const { last, rule, nowMs } = this;
    if (last) this.kept.push(last);
    const isLastMissed = last && nowMs >= last.atMs + rule.jitterMs + MISSED_AFTER_MS;
    const tooMany = this.kept.length - MOST_MADE_UP - (isLastMissed ? 0 : 1);
    if (tooMany <= 0) return this.kept;
    this.wereTooMany = true;
    this.skipped += tooMany;
    return this.kept.slice(tooMany);
  }

  /** The last one was missed, as the next one is past as well. */
  private follow(next: Instant): void {
    const { last } = this;
    if (!last) return;
    const withinMs = this.rule.missedWithinMs ?? Math.max(MADE_UP_WITHIN_MS, next.atMs - last.atMs);
    if (this.rule.onMissed === 'all') {
      if (this.nowMs - last.atMs <= withinMs) this.kept.push(last);
      else this.skipped++;
      return;
    }
    // The latest missed one, as the one after it may not be missed yet.
    this.skipped += this.kept.length;
    this.kept = [last];
  }
}

/** Where the wall clock shows another time than UTC, by how many minutes. */
function encodeInstant({ atMs, wallMs }: Instant): string {
  const minutes = Math.round((wallMs - atMs) / MINUTE_MS);
  return minutes === 0 ? String(atMs) : `${atMs}:${minutes}`;
}
