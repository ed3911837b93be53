import type { Due } from '../../core/due.js';

/** A due time as the scripts read it: an instant as epoch ms, a delay as a number of at most 0. No instant is that small (see core/due.ts). */
export function toDueArgument(due: Due): number {
  return 'delayMs' in due ? -due.delayMs : due.at;
}
