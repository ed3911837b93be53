import { expect, it } from '@jest/globals';
import { TurnPlan } from '../../../../lib/worker/session/turn-plan.js';

/** For when the plan has it, in ms from now: between what it is before the plan was made and after. */
function plannedIn(ms: number): { least: number; most: number } {
  const plan = new TurnPlan();
  plan.lookOnlyIfTold();
  const before = performance.now();
  plan.lookIn(ms);
  const after = performance.now();
  const at = plan.nextAt({ looks: true, holds: false, owes: false });
  return { least: at - after, most: at - before };
}

it.each([
  [10, 9.5],
  [1, 1],
  [0.4, 0.4],
  [0, 0],
])('what is due in %d ms is looked for in %d ms', (ms, planned) => {
  const { least, most } = plannedIn(ms);
  // To the precision of a double of this size.
  expect(least).toBeLessThanOrEqual(planned + 1e-6);
  expect(most).toBeGreaterThanOrEqual(planned - 1e-6);
});
