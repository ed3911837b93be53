import { occurrencesAfter } from '../calendar/occurrences.js';
import { type BlackoutRule, type CronBlackout, type FixedBlackout, isCron } from './blackout.js';

const DAY_MS = 86_400_000;
/** So far ahead the blackouts that come again are computed. Half of it may pass before anybody has to compute more. */
const AHEAD_MS = 32 * DAY_MS;
/** At most so many windows are kept ahead: a hundred kilobytes. A list that has more of them is known less far ahead. */
const WINDOWS_AT_MOST = 4_000;
/** About so many occurrences are computed at a time, for all blackouts of a list together: some 50 ms. */
const OCCURRENCES_AT_MOST = 10_000;
/** A blackout of a list gets at least so many, so that even a list of a thousand daily ones is known for a month. */
const OCCURRENCES_AT_LEAST = 50;

/** From its beginning to just before its end, nothing is claimed. */
export interface BlackoutWindow {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The windows of a list of blackouts that are not over, in order, and disjoint. */
export interface KnownWindows {
  readonly windows: readonly BlackoutWindow[];
  /** Every window that begins before this is among them. `Infinity` where no others come at all. */
  readonly knownUntilMs: number;
  /** When the next ones are to be computed; `undefined` where no others come at all. */
  readonly moreAtMs: number | undefined;
}

/** Computes the windows that are on at an instant or come after it, as far ahead as is sensible. */
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
  found.push(...fixed.filter(({ toMs }) => toMs > nowMs));
  const merged = merge(found.filter(({ fromMs }) => fromMs < knownUntilMs));
  if (merged.length > WINDOWS_AT_MOST) knownUntilMs = merged[WINDOWS_AT_MOST]!.fromMs;
  return {
    windows: merged.slice(0, WINDOWS_AT_MOST),
    knownUntilMs,
    moreAtMs: Number.isFinite(knownUntilMs) ? nowMs + Math.ceil((knownUntilMs - nowMs) / 2) : undefined,
  };
}

/** The instants at which a blackout begins, later than this one. */
export function* beginningsAfter({ cron, timeZone }: CronBlackout, afterMs: number): Generator<number> {
  for (const { atMs } of occurrencesAfter({ cron, timeZone, offsetMs: 0, exclude: [] }, afterMs)) yield atMs;
}

/** The windows of one rule that begin before an instant; where they are too many, those of a shorter time. */
function windowsOf(
  rule: CronBlackout,
  nowMs: number,
  beforeMs: number,
  share: number,
): { windows: BlackoutWindow[]; knownUntilMs: number } {
  const windows: BlackoutWindow[] = [];
  let ahead = 0;
  // Those that began earlier are over.
  for (const fromMs of beginningsAfter(rule, nowMs - rule.durationMs)) {
    // Only what is to come counts: whatever is on at present belongs to one window.
    if (fromMs >= beforeMs || (fromMs > nowMs && ++ahead > share)) return { windows, knownUntilMs: fromMs };
    windows.push({ fromMs, toMs: fromMs + rule.durationMs });
  }
  return { windows, knownUntilMs: Number.POSITIVE_INFINITY };
}

/** Makes one of all that overlap or touch. */
function merge(windows: readonly BlackoutWindow[]): BlackoutWindow[] {
  const merged: { fromMs: number; toMs: number }[] = [];
  for (const { fromMs, toMs } of [...windows].sort((a, b) => a.fromMs - b.fromMs)) {
    const last = merged.at(-1);
    if (last && fromMs <= last.toMs) last.toMs = Math.max(last.toMs, toMs);
    else merged.push({ fromMs, toMs });
  }
  return merged;
}
