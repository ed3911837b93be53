import type { RunSpan } from '../../core/observe/tracer.js';
import type { RunningJob } from './running-job.js';
import type { EndedRun } from './settlement-builder.js';

/** Whoever holds the jobs: each that was started is ended once. */
export interface RunHolder {
  /** A job turned out fit to run. */
  beginRun(run: RunningJob): void;
  /** It has ended so; `run` is missing where it was not fit to run. */
  endRun(ended: EndedRun, run?: RunningJob): void;
  /** Its handler was not called: it was settled before that, or its lease is over. */
  dropRun(run: RunningJob): void;
}

/** Ends a run, and its span before that. Whatever ended it earlier has ended its span as well. */
export function end(ended: EndedRun, run: RunningJob, holder: RunHolder): void {
  if (run.span) endSpan(run.span, ended);
  holder.endRun(ended, run);
}

/**
 * Whether a run whose handler is about to be called must not begin: it was cancelled, or its time was over, while its payload was checked; or
 * the process stood still, or a handler before this one blocked it, until others may have the job. Such a run is dropped here.
 */
export function isDropped(run: RunningJob, holder: RunHolder): boolean {
  if (!run.abandoned && !run.leaseIsOver()) return false;
  run.span?.end();
  holder.dropRun(run);
  return true;
}

/** Whatever the queue counts as a failed attempt has failed, and what the handler made a dead letter. */
function endSpan(span: RunSpan, { settlement, error, reason }: EndedRun): void {
  const { transition } = settlement;
  if (transition !== 'retry' && transition !== 'dead') span.end();
  else if (reason === 'dead-lettered') span.fail(error, reason);
  else span.fail(error);
}
