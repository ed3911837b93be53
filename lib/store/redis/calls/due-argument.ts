import type { Due } from '../../../core/read/due.js';

/**
 * A due time as the scripts read it, in whole ms, rounded up: an instant as epoch ms, a delay as minus its ms. No instant is as small as
 * that (see core/read/due.ts).
 */
export function toDueArgument(due: Due): number {
  return 'delayMs' in due ? -Math.ceil(due.delayMs) : Math.ceil(due.at);
}
