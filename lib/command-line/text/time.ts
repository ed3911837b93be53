const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A length of time in its largest unit of which there are two or more, such as `90 s` or `3 min`. */
export function about(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < 2 * MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < 2 * HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / DAY)} d`;
}

/** When something was or will be, seen from now, such as `3 min ago` or `in 2 h`. */
export function fromNow(at: Date, nowMs: number): string {
  const ms = at.getTime() - nowMs;
  if (Math.abs(ms) < SECOND) return 'now';
  return ms < 0 ? `${about(-ms)} ago` : `in ${about(ms)}`;
}

/** When a waiting job is due, or how late it is. */
export function dueness(dueAt: Date, nowMs: number): string {
  const ms = dueAt.getTime() - nowMs;
  return ms <= 0 ? `${about(-ms)} late` : `in ${about(ms)}`;
}
