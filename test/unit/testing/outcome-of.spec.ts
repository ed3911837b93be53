import { expect, it } from '@jest/globals';
import type { Settled } from '../../../lib/store/job-store.js';
import { settledAs } from '../../../lib/testing/look/outcome-of.js';
import type { RunOutcome, TestedRun } from '../../../lib/testing/look/tested-run.js';

const RETRY_AT = new Date('2027-01-01T10:00:00Z');

// The queue has the last word on how a run ended.
it.each<[said: RunOutcome, settled: Settled, outcome: RunOutcome]>([
  ['completed', 'counted', 'completed'],
  ['failed', 'counted', 'failed'],
  ['dead', 'counted', 'dead'],
  ['completed', 'lost', 'leaseLost'],
  ['failed', 'lost', 'leaseLost'],
  ['dead', 'lost', 'leaseLost'],
  ['completed', 'cancelled', 'cancelled'],
  ['failed', 'cancelled', 'cancelled'],
  ['completed', 'replaced', 'completed'],
  ['failed', 'replaced', 'failed'],
  ['dead', 'replaced', 'failed'],
])(
  'a run that is said to be %s, and is %s, is told as %s; it runs again only where it is counted',
  (said, settled, outcome) => {
    const told = { outcome: said, retryAt: RETRY_AT } as TestedRun;
    settledAs(told, settled);
    expect(told).toEqual(settled === 'counted' ? { outcome, retryAt: RETRY_AT } : { outcome });
  },
);
