import type { PoppedJob } from '../../core/job/popped-job.js';
import type { PopRequest } from '../../core/options/pop-options.js';
import type { InstanceParts } from '../../worker/instance-parts.js';
import { Pullers } from '../../worker/pull/pullers.js';
import type { ProcessJobStore } from '../redis/process-job-store.js';

const CALLS = ['complete', 'fail', 'snooze', 'extend'] as const;

/**
 * The pullers of an application under test. While Redis is away a real puller sends its calls again for as long as a call may take; that is virtual
 * time, and a test that awaits the call lets none pass. Here each call is refused at once.
 */
export class TestedPullers extends Pullers {
  private readonly tested: ProcessJobStore;

  constructor(instance: InstanceParts) {
    super(instance);
    this.tested = instance.store as ProcessJobStore;
  }

  override async pop(request: PopRequest): Promise<PoppedJob[]> {
    this.tested.outage.requireThere({ queue: request.queue });
    const jobs = await super.pop(request);
    for (const job of jobs) this.refuseWhileAway(job);
    return jobs;
  }

  /** Nobody moves the time of an application that closes, so Redis is back for it: else its end would wait for ever. */
  override async close(withinMs: number): Promise<void> {
    this.tested.outage.switch(false);
    await super.close(withinMs);
  }

  private refuseWhileAway(job: PoppedJob): void {
    for (const call of CALLS) {
      const real = job[call].bind(job) as (...given: unknown[]) => Promise<boolean>;
      const value = async (...given: unknown[]) => {
        this.tested.outage.requireThere({ queue: job.queue, jobName: job.name, jobId: job.id });
        return await real(...given);
      };
      // A job that is logged or serialised shows what its owner knows.
      Object.defineProperty(job, call, { value, configurable: true });
    }
  }
}
