import type { Codecs } from '../../core/payload/codecs.js';
import type { PayloadChecker, PayloadClass } from '../../core/payload/payload-class.js';
import type { ClaimOpener } from './claim-opener.js';
import type { RunningJob } from './running-job.js';
import type { EndedRun, SettlementBuilder } from './settlement-builder.js';

/** Gives runs their payloads, as their handlers get them. Never throws, and never rejects. */
export class PayloadReader {
  constructor(
    private readonly opener: ClaimOpener,
    private readonly codecs: Codecs,
    private readonly checker: PayloadChecker,
    private readonly builder: SettlementBuilder,
  ) {}

  /** Answers how the job ends where its payload cannot be read, or does not fit its class; a promise of that where a codec or a class needs time. */
  read(run: RunningJob, type: PayloadClass | undefined): EndedRun | undefined | Promise<EndedRun | undefined> {
    if (type) return this.check(run, type);
    const unfit = this.opener.readPayload(run);
    return run.payload instanceof Promise ? this.check(run, type, run.payload) : unfit;
  }

  /** `decoding`: a payload that is being decoded already. */
  private async check(
    run: RunningJob,
    type: PayloadClass | undefined,
    decoding?: PromiseLike<unknown>,
  ): Promise<EndedRun | undefined> {
    try {
      const plain = await (decoding ?? this.codecs.decode(run.envelope, run));
      const fields = { queue: run.queue, jobName: run.name, jobId: run.id };
      run.payload = await this.checker.check(plain, type, fields);
      return undefined;
    } catch (error) {
      return this.builder.undecodable(run, error);
    }
  }
}
