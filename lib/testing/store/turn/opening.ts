import type { Stage } from './stage.js';

/** What the gates let through: how many jobs may be claimed now, over all processes, and when more may be. */
export interface Opening {
  count: number;
  /** Infinite where only the end of a run opens the gate. */
  untilMs: number;
  /** Shut by a pause, a blackout or the rate, so that it helps nobody to wait for a place. */
  isShut: boolean;
  /** How many more jobs may run under `globalConcurrency`. */
  placesLeft: number;
  /** When the session looks for the places that it has left to better jobs, if it has. */
  yieldsUntilMs?: number | undefined;
}

/** The narrowest of the gates. `active`: how many jobs run after what this turn has settled and recovered. */
export function openingOf({ queue: { gates, settings }, nowMs, turn }: Stage, active: number): Opening {
  const opening: Opening = {
    count: Number.POSITIVE_INFINITY,
    untilMs: Number.POSITIVE_INFINITY,
    isShut: false,
    placesLeft: Math.max(0, settings.globalConcurrency - active),
  };
  if (turn.limit === 0) return opening;
  opening.count = opening.placesLeft;
  if (settings.rateLimit) {
    const { started, opensAtMs } = gates.rate(nowMs);
    const left = Math.max(0, settings.rateLimit.max - started);
    if (left <= opening.count) Object.assign(opening, { count: left, untilMs: opensAtMs, isShut: left === 0 });
  }
  const shutUntilMs = [gates.pausedUntil(nowMs), gates.blackoutUntil(nowMs)].filter((ms) => ms !== undefined);
  if (shutUntilMs.length > 0) Object.assign(opening, { count: 0, untilMs: Math.max(...shutUntilMs), isShut: true });
  return opening;
}
