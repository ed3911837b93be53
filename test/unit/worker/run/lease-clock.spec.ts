import { expect, it } from '@jest/globals';
import { SystemClock } from '../../../../lib/core/clock.js';
import { currentScheduledJob, withCurrentJob } from '../../../../lib/core/job/current-job.js';
import type { ScheduledJob } from '../../../../lib/core/job/scheduled-job.js';
import { LeaseClock } from '../../../../lib/worker/run/lease-clock.js';
import type { SessionLoop } from '../../../../lib/worker/session/session-loop.js';

it('what a heartbeat makes the worker say is not below the handler that beat', () => {
  const seen: unknown[] = [];
  const loop = { renew: () => void seen.push(currentScheduledJob()) } as unknown as SessionLoop;
  const leases = new LeaseClock(1_000, new SystemClock(), loop);
  const beat = withCurrentJob(() => void leases.renewal());
  beat(undefined, { id: 'a' } as ScheduledJob);
  expect(seen).toEqual([undefined]);
});
