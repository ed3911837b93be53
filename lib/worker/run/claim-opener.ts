import type { Codecs } from '../../core/payload/codecs.js';
import { isReadable } from '../../store/envelope.js';
import type { ClaimedJob } from '../../store/job-store.js';
import { limitsOf } from './run-limits.js';
import { type RunContext, RunningJob } from './running-job.js';
import type { EndedRun, SettingsByName, SettlementBuilder } from './settlement-builder.js';

/** Makes runs of claimed jobs, for handlers and for those who pop. Never throws. */
export class ClaimOpener {
  constructor(
    private readonly context: RunContext,
    private readonly byName: SettingsByName,
    private readonly codecs: Codecs,
    private readonly builder: SettlementBuilder,
  ) {}

  /** The run of a job that was asked for at `askedAt`, its payload still unread; or how the job ends where it cannot run. */
  open(claim: ClaimedJob, askedAt: number): RunningJob | EndedRun {
    const { envelope } = claim;
    if (!isReadable(envelope)) return this.builder.unreadable(claim, envelope.unreadable);
    const byName = this.byName.get(envelope.name);
    if (!byName) return this.builder.unreadable(claim, 'the envelope has a name that was not asked for');
    const limits = limitsOf(envelope, byName.settings);
    if (claim.attempt > limits.maxAttempts) return this.builder.attemptsUsedUp(claim, envelope, limits);
    return new RunningJob(this.context, claim, askedAt, envelope, limits);
  }

  /**
   * Reads a payload that has no class, so it need only be readable; it may be the promise of a codec then. Answers how the job ends
   * where reading fails.
   */
  readPayload(run: RunningJob): EndedRun | undefined {
    try {
      const payload = this.codecs.decode(run.envelope, run);
      // Its rejection may stay unheard: the job may go back before anybody waits for its payload.
      if (payload instanceof Promise) payload.catch(() => {});
      run.payload = payload;
      return undefined;
    } catch (error) {
      return this.builder.undecodable(run, error);
    }
  }
}
