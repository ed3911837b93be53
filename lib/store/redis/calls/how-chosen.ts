import { looksMade } from '../../../core/job/job-id.js';

/** How a caller's own id looks to the scripts: `m` may be one that was made for a call which ended in an error. */
export function howChosen(id: string): 'm' | 'c' {
  return looksMade(id) ? 'm' : 'c';
}
