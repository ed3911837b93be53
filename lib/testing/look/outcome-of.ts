import type { Settled } from '../../store/job-store.js';
import type { EndedRun } from '../../worker/run/settlement-builder.js';
import type { RunOutcome, RunResult, TestedRun } from './tested-run.js';

const OUTCOMES: Record<EndedRun['settlement']['transition'], RunOutcome> = {
  complete: 'completed',
  retry: 'failed',
  dead: 'dead',
  snooze: 'snoozed',
  discard: 'discarded',
  cancel: 'cancelled',
  release: 'released',
  extend: 'running',
};

/** What a run's end says to a test. `returned`: what its handler returned. */
export function outcomeOf({ settlement, error, reason }: EndedRun, returned: unknown, nowMs: number): RunResult {
  const outcome = OUTCOMES[settlement.transition];
  const retryAt = retryAtOf(settlement, nowMs);
  return {
    outcome,
    ...(outcome === 'completed' && { result: returned }),
    ...(error !== undefined && { error }),
    ...(retryAt !== undefined && { retryAt: new Date(retryAt) }),
    ...(reason !== undefined && { reason }),
  };
}

/** What the queue has made of what was said of a run. */
export function settledAs(told: TestedRun, settled: Settled): void {
  if (settled === 'lost') told.outcome = 'leaseLost';
  else if (settled === 'cancelled') told.outcome = 'cancelled';
  else if ((settled === 'replaced' || settled === 'final') && told.outcome === 'dead') told.outcome = 'failed';
  if (settled !== 'counted') delete told.retryAt;
}

function retryAtOf(settlement: EndedRun['settlement'], nowMs: number): number | undefined {
  if (settlement.transition === 'retry') return Math.ceil(nowMs + settlement.delayMs);
  if (settlement.transition !== 'snooze') return undefined;
  return Math.ceil('at' in settlement.due ? settlement.due.at : nowMs + settlement.due.delayMs);
}
