import { occurrencesAfter } from './occurrences.js';
import type { Timing } from './rule.js';
import { timeZone } from './time-zone.js';

/** A rule and its next instant in one line, such as `cron '30 2 * * *' Europe/Berlin, next 2026-11-24T02:30+01:00`; no jitter, nothing of pauses. */
export function timingLine(timing: Timing, nowMs: number): string {
  const { cron, everyMs, offsetMs, timeZone: zone } = timing;
  const rule =
    cron === undefined ? `everyMs ${everyMs}${offsetMs > 0 ? `, offsetMs ${offsetMs}` : ''}` : `cron '${cron}' ${zone}`;
  for (const { atMs } of occurrencesAfter(timing, nowMs)) return `${rule}, next ${wallTime(atMs, zone)}`;
  return `${rule}, no further instant`;
}

/** As the clock of the zone shows it, with its offset; seconds only where there are any. */
function wallTime(atMs: number, zone: string): string {
  const { offsetMs } = timeZone(zone).stretchAt(atMs);
  const shown = new Date(atMs + offsetMs).toISOString().replace(/(?::00)?\.000Z$|Z$/, '');
  if (offsetMs === 0) return `${shown}Z`;
  const minutes = Math.abs(offsetMs) / 60_000;
  const [hour, minute] = [Math.floor(minutes / 60), Math.floor(minutes % 60)].map((part) =>
    String(part).padStart(2, '0'),
  );
  return `${shown}${offsetMs < 0 ? '-' : '+'}${hour}:${minute}`;
}
