import { Dice } from './dice.js';
import type { PlannedOperation } from './work-plan.js';

/** Far less than `DEBOUNCE_MS`, so that without a longest wait nothing would run before the changes end. */
const MEAN_PAUSE_MS = 60;
const DEBOUNCE_MS = 300;
/** Then another id is changed: the last change of each must run. */
const CHANGES_AN_ID = 80;

/** Changes of ids that are changed over and over, one debounced and one throttled, without end; by dice of its own. */
export function* planChanges(seed: number, producer: string): Generator<PlannedOperation & { operation: 'replace' }> {
  const dice = new Dice(seed, producer, 'changes');
  for (let revision = 1; ; revision++) {
    const isDebounced = dice.chance(0.5);
    const kind = isDebounced ? 'debounced' : 'throttled';
    const token = `${producer}-${kind}-${Math.floor(revision / CHANGES_AN_ID)}`;
    const payload = { token, revision, kind } as const;
    const delayMs = isDebounced ? DEBOUNCE_MS : 0;
    const how = { queue: 'default', chosen: true, priority: 5, delayMs, asInstant: dice.chance(0.3) } as const;
    yield { pauseMs: dice.gapMs(MEAN_PAUSE_MS), operation: 'replace', job: { token, ...how, payload } };
  }
}
