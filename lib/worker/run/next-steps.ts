import type { Clock } from '../../core/clock.js';
import { nextJob } from '../../core/job/chain.js';
import { JobIdMaker, newMaker } from '../../core/job/job-id.js';
import type { NextJob } from '../../store/job-store.js';
import { toKeptJson } from './kept-json.js';
import type { RunningJob } from './running-job.js';

/** Makes the next job of a chain of the one that has completed. */
export class NextSteps {
  private readonly ids = new JobIdMaker();
  private readonly maker = newMaker();

  constructor(
    private readonly clock: Pick<Clock, 'wallNow'>,
    /** Of a result that goes along. */
    private readonly maxBytes: number,
  ) {}

  /** `undefined` where no chain goes on. `result`: what the job has returned; one that JSON cannot hold is left out, as the work is done. */
  after({ id, envelope }: RunningJob, result: unknown): NextJob | undefined {
    const { chain, set } = envelope;
    if (!chain?.next) return undefined;
    const { text } = result === undefined ? {} : toKeptJson(result, this.maxBytes, '');
    const job = nextJob(chain, chain.next, { id, set, result: text });
    return Object.assign(job, { id: this.ids.next(this.maker, this.clock.wallNow()) });
  }
}
