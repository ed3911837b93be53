import { expect, it } from '@jest/globals';
import { TurnPlan } from '../../../../lib/worker/session/turn-plan.js';
import { ManualClock } from '../../../support/manual-clock.js';

it.each([
  [10, 9.5],
  [1, 1],
  [0.4, 0.4],
  [0, 0],
])('what is due in %d ms is looked for in %d ms', (ms, planned) => {
  const plan = new TurnPlan(new ManualClock());
  plan.lookOnlyIfTold();
  plan.lookIn(ms);
  expect(plan.nextAt({ looks: true, holds: false, owesBy: Number.POSITIVE_INFINITY })).toBe(planned);
});
