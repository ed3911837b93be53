import v8 from 'node:v8';
import vm from 'node:vm';
import { expect, it } from '@jest/globals';
import { SystemClock } from '../../../../lib/core/clock.js';
import { LeaseClock } from '../../../../lib/worker/run/lease-clock.js';
import { RunningJob } from '../../../../lib/worker/run/running-job.js';
import type { SessionLoop } from '../../../../lib/worker/session/session-loop.js';

v8.setFlagsFromString('--expose-gc');
const gc = vm.runInNewContext('gc') as () => void;
const CLAIM = { id: 'a', fence: '1', dueAtMs: 0, claimedAtMs: 0, attempt: 1, crashes: 0, envelope: { unreadable: '' } };
const EVENTS = { wants: () => false, tell() {} };
const ENVELOPE = { name: 'n', settings: {} } as never;
const LIMITS = { maxAttempts: 1, timeoutMs: 0 };

it('a run that beats hundreds of thousands of times holds no more memory than before', async () => {
  const clock = new SystemClock();
  const leases = new LeaseClock(1_000_000_000, clock, { renew() {} } as SessionLoop);
  leases.noteRenewal(clock.now());
  const context = { queue: 'q', leases, events: EVENTS, clock };
  const run = new RunningJob(context, CLAIM, clock.now(), ENVELOPE, LIMITS);
  const beat = async (times: number) => {
    for (let i = 0; i < times; i++) await run.heartbeat();
    gc();
    return process.memoryUsage().heapUsed;
  };
  const before = await beat(1_000);
  const BEATS = 100_000;
  const grownBy = (await beat(BEATS)) - before;
  expect(grownBy / BEATS).toBeLessThan(50);
  expect(run.signal.aborted).toBe(false);
});
