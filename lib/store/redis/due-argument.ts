import type { Due } from '../../core/due.js';

/** A due time as the scripts read it: an instant as epoch ms, a delay as a number of at most 0. */
export function toDueArgument(due: Due): number {
  if ('delayMs' in due) return -due.delayMs;
  // Instants up to 1970 are past like any other, but their numbers would read as delays.
  return Math.max(due.at, 1);
}
