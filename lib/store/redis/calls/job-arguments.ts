import { looksMade } from '../../../core/job/job-id.js';
import type { Due } from '../../../core/read/due.js';

/**
 * A due time as the scripts read it: an instant as epoch ms, a delay as minus its ms. No instant is as small as that (see core/read/due.ts).
 * Rounded up to a whole millisecond, so that no job is due before the fraction of its last millisecond is over.
 */
export function toDueArgument(due: Due): number {
  return 'delayMs' in due ? -Math.ceil(due.delayMs) : Math.ceil(due.at);
}

/** How a caller's own id looks to the scripts: `m` may be one that was made for a call which ended in an error. */
export function howChosen(id: string): 'm' | 'c' {
  return looksMade(id) ? 'm' : 'c';
}
