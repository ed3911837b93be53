import { joined } from '../calendar/exclusions.js';
import { startOfLatest } from '../calendar/latest-instants.js';
import { occurrencesAfter } from '../calendar/occurrences.js';
import type { Timing } from '../calendar/rule.js';
import { type BlackoutRule, type CronBlackout, type FixedBlackout, isCron } from './blackout.js';

const DAY_MS = 86_400_000;
/** So far ahead the blackouts that come again are computed. Half of it may pass before anybody has to compute more. */
const AHEAD_MS = 32 * DAY_MS;
/** For so long those that are over are kept, and of them the latest: the clock may have gone ahead, and may be set back. */
const KEPT_MS = DAY_MS;
const KEPT_AT_MOST = 50;
/** So many are known ahead, the one that is on included, as each turn reads them. A list that has more of them is known less far ahead. */
const AHEAD_AT_MOST = 100;
/** About so many occurrences are computed at a time, for all blackouts of a list together: some 5 ms. */
const OCCURRENCES_AT_MOST = 1_000;
/** A blackout of a list gets at least so many, so that even a list of a thousand daily ones is known for a month. */
const OCCURRENCES_AT_LEAST = 50;

/** From its beginning to just before its end, nothing is claimed. */
export interface BlackoutWindow {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The windows of a list of blackouts that have not been over for long, in order, and disjoint. */
export interface KnownWindows {
  readonly windows: readonly BlackoutWindow[];
  /** Every window that begins before this is among them. `Infinity` where no others come at all. */
  readonly knownUntilMs: number;
  /** When the next ones are to be computed; `undefined` where no others come at all. */
  readonly moreAtMs: number | undefined;
}

/** Computes the windows of the day before an instant, those that are on at it and those that come after it, as far ahead as is sensible. */
export function windowsAt(nowMs: number, rules: readonly BlackoutRule[]): KnownWindows {
  const recurring = rules.filter(isCron);
  const share = Math.max(OCCURRENCES_AT_LEAST, Math.floor(OCCURRENCES_AT_MOST / recurring.length));
  let knownUntilMs = Number.POSITIVE_INFINITY;
  const found: BlackoutWindow[] = [];
  for (const rule of recurring) {
    const computed = windowsOf(rule, nowMs, Math.min(knownUntilMs, nowMs + AHEAD_MS), share);
    found.push(...computed.windows);
    knownUntilMs = Math.min(knownUntilMs, computed.knownUntilMs);
  }
  const fixed = rules.filter((rule): rule is FixedBlackout => !isCron(rule));
  found.push(...fixed.filter(({ toMs }) => toMs > nowMs - KEPT_MS));
  const known = found.filter(({ fromMs }) => fromMs < knownUntilMs);
  const disjoint = joined(known.map(({ fromMs, toMs }) => ({ from: fromMs, to: toMs })));
  const merged = disjoint.map(({ from, to }) => ({ fromMs: from, toMs: to }));
  const over = merged.filter(({ toMs }) => toMs <= nowMs).length;
  const end = over + AHEAD_AT_MOST;
  if (merged.length > end) knownUntilMs = merged[end]!.fromMs;
  return {
    windows: merged.slice(Math.max(0, over - KEPT_AT_MOST), end),
    knownUntilMs,
    moreAtMs: Number.isFinite(knownUntilMs) ? nowMs + Math.ceil((knownUntilMs - nowMs) / 2) : undefined,
  };
}

/** The instants at which a blackout begins, later than this one. */
export function* beginningsAfter(rule: CronBlackout, afterMs: number): Generator<number> {
  for (const { atMs } of occurrencesAfter(timingOf(rule), afterMs)) yield atMs;
}

function timingOf({ cron, timeZone }: CronBlackout): Timing {
  return { cron, timeZone, offsetMs: 0, exclude: [] };
}

/** The windows of one rule that have not been over for long and begin before an instant; where they are too many, those of a shorter time. */
function windowsOf(
  rule: CronBlackout,
  nowMs: number,
  beforeMs: number,
  share: number,
): { windows: BlackoutWindow[]; knownUntilMs: number } {
  const windows: BlackoutWindow[] = [];
  let ahead = 0;
  // Those that began earlier are over.
  const overMs = nowMs - rule.durationMs;
  for (const fromMs of beginningsAfter(rule, startOfLatest(timingOf(rule), KEPT_AT_MOST, overMs - KEPT_MS, overMs))) {
    // Only what is to come counts: whatever is on at present belongs to one window.
    if (fromMs >= beforeMs || (fromMs > nowMs && ++ahead > share)) return { windows, knownUntilMs: fromMs };
    windows.push({ fromMs, toMs: fromMs + rule.durationMs });
  }
  return { windows, knownUntilMs: Number.POSITIVE_INFINITY };
}
