import { FIRST_VERSION, upgradePayload } from '../../core/job/job-versions.js';
import type { Codecs } from '../../core/payload/codecs.js';
import type { PayloadChecker } from '../../core/payload/payload-class.js';
import type { ClaimOpener } from './claim-opener.js';
import type { JobHandler } from './job-handler.js';
import type { RunningJob } from './running-job.js';
import type { EndedRun, SettlementBuilder } from './settlement-builder.js';

/** What of a handler says how it reads payloads. */
type ReadingHandler = Pick<JobHandler, 'payload' | 'versions'>;

/** Gives runs their payloads, as their handlers get them. Never throws, and never rejects. */
export class PayloadReader {
  constructor(
    private readonly opener: ClaimOpener,
    private readonly codecs: Codecs,
    private readonly checker: PayloadChecker,
    private readonly builder: SettlementBuilder,
  ) {}

  /** Answers how the job ends where its payload cannot be read, or does not fit its class; a promise of that where a codec or a class needs time. */
  read(run: RunningJob, handler: ReadingHandler): EndedRun | undefined | Promise<EndedRun | undefined> {
    if (handler.payload) return this.check(run, handler);
    const unfit = this.opener.readPayload(run);
    if (run.payload instanceof Promise) return this.check(run, handler, run.payload);
    return unfit ?? (isOwn(run, handler) ? undefined : this.upgrade(run, handler));
  }

  /** `decoding`: a payload that is being decoded already. */
  private async check(
    run: RunningJob,
    handler: ReadingHandler,
    decoding?: PromiseLike<unknown>,
  ): Promise<EndedRun | undefined> {
    try {
      const plain = await (decoding ?? this.codecs.decode(run.envelope, run));
      const fields = fieldsOf(run);
      const payload = isOwn(run, handler) ? plain : upgradePayload(plain, run.version, handler.versions, fields);
      run.payload = await this.checker.check(payload, handler.payload, fields);
      return undefined;
    } catch (error) {
      return this.builder.undecodable(run, error);
    }
  }

  private upgrade(run: RunningJob, handler: ReadingHandler): EndedRun | undefined {
    try {
      run.payload = upgradePayload(run.payload, run.version, handler.versions, fieldsOf(run));
      return undefined;
    } catch (error) {
      return this.builder.undecodable(run, error);
    }
  }
}

/** What an error about its payload tells of a job. */
const fieldsOf = ({ queue, name, id }: RunningJob) => ({ queue, jobName: name, jobId: id });

/** Whether the payload is in the handler's own version, as most are. */
const isOwn = ({ version }: RunningJob, { versions }: ReadingHandler) =>
  version === (versions === undefined ? FIRST_VERSION : versions.last);
