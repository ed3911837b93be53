import { describeError } from '../../core/error-description.js';
import { InvalidBatchResultError } from '../../core/errors.js';
import { askBackoff, backoffDelayMs } from '../../core/job/backoff.js';
import type { DeadReason } from '../../core/job/events.js';
import { isOutcome, type JobOutcome } from '../../core/job/outcome.js';
import { DEFAULT_BACKOFF } from '../../core/options/defaults.js';
import type { RunSettings } from '../../core/options/run-settings.js';
import { withoutValues } from '../../core/payload/without-values.js';
import type { Envelope, Failure } from '../../store/envelope.js';
import type { ClaimedJob, Settlement } from '../../store/job-store.js';
import type { KeptResults } from './kept-json.js';
import type { NextSteps } from './next-steps.js';
import { PayloadRefusal } from './payload-refusal.js';
import type { RunLimits } from './run-limits.js';
import type { RunningJob, SharedCall } from './running-job.js';

/** How a run ended: what Redis is to be told, and what is known of it here. */
export interface EndedRun {
  job: ClaimedJob;
  /** Missing where none began, and where it completed: then nothing of it is kept until the turn is answered. */
  run?: RunningJob;
  name: string;
  settlement: Settlement;
  durationMs: number;
  /** Whether the job may not be claimed again: if its process were killed before it is settled, it would be dead. Missing where none began. */
  isLastAttempt?: boolean;
  error?: unknown;
  reason?: DeadReason;
  /** What was wrong with the answer of the job's backoff function, if anything. */
  backoffProblem?: string;
  /** Why the result of a completed job is not kept, if it was to be and cannot. */
  resultProblem?: string;
  /** The error that a handler returned instead of throwing it. */
  returnedError?: Error;
  /** The call that it shared: all that one call settles goes with one turn. */
  call?: SharedCall;
}

/** What holds for jobs of a name whose call to `schedule` says nothing of its own. */
export interface SettingsByName {
  /** `place`: where the handler stands in the application; missing for popped jobs. */
  get(name: string): { readonly settings: RunSettings; readonly place?: string } | undefined;
}

/** What is kept of the reason why a job was discarded: it is for people. */
const REASON_KEPT = 1_000;

/** Makes the settlement of each run. Never throws. */
export class SettlementBuilder {
  constructor(
    private readonly byName: SettingsByName,
    private readonly results: KeptResults | undefined,
    private readonly steps: NextSteps,
  ) {}

  /** It returned. */
  completed(run: RunningJob, result: unknown): EndedRun {
    const said = outcomeIn(result);
    if (said?.kind === 'each') return this.failed(run, this.eachOfOne(run, said));
    if (said) return this.asSaid(run, said);
    if (isError(result)) return { ...this.completedBy(run, result), run, returnedError: result };
    return this.completedBy(run, result);
  }

  /** It threw, or something in front of its handler has refused it. */
  thrown(run: RunningJob, thrown: unknown): EndedRun {
    const refused = PayloadRefusal.errorIn(thrown);
    return refused ? this.dead(run.claim, run.envelope, 'invalid-payload', refused, run) : this.failed(run, thrown);
  }

  private completedBy(run: RunningJob, result: unknown): EndedRun {
    const { id, fence } = run.claim;
    const { idWasChosen } = run.envelope;
    const progress = run.endProgress(this.results !== undefined);
    const next = run.envelope.chain && this.steps.after(run, result);
    if (!this.results) return this.outcome(run, { id, fence, transition: 'complete', idWasChosen, next });
    const { text, problem } = this.results.read(result);
    const ended = this.outcome(run, { id, fence, transition: 'complete', result: text, idWasChosen, progress, next });
    return problem === undefined ? ended : { ...ended, resultProblem: problem };
  }

  private asSaid(run: RunningJob, { kind, reason, due }: JobOutcome): EndedRun {
    const { id, fence } = run.claim;
    if (kind === 'snooze') {
      const progress = run.endProgress(true);
      return this.outcome(run, { id, fence, transition: 'snooze', due: due!, progress });
    }
    if (kind === 'discard') {
      run.endProgress(false);
      const { idWasChosen } = run.envelope;
      const kept = reason.slice(0, REASON_KEPT);
      const settlement: Settlement = { id, fence, transition: 'discard', idWasChosen, reason: kept };
      return { ...this.outcome(run, settlement), run, error: reason };
    }
    return this.dead(run.claim, run.envelope, 'dead-lettered', reason, run);
  }

  /** It goes on, and its lease ends so long from now. */
  extended(run: RunningJob, leaseMs: number): EndedRun {
    const { id, fence } = run.claim;
    return { ...this.outcome(run, { id, fence, transition: 'extend', leaseMs }), run };
  }

  /** The outcome of a run that somebody wanted cancelled. */
  cancelled(run: RunningJob): EndedRun {
    const { id, fence } = run.claim;
    run.endProgress(false);
    return { ...this.outcome(run, { id, fence, transition: 'cancel' }), run };
  }

  private eachOfOne({ queue, name, id }: RunningJob, { results }: JobOutcome): InvalidBatchResultError {
    const where = this.byName.get(name)?.place ?? 'pop';
    return new InvalidBatchResultError(
      `${where}: got JobOutcome.each with ${results.length} results for one job. Return what it ends with alone, or give @OnScheduledJob the option batch.`,
      { expected: 1, got: results.length },
      { queue, jobName: name, jobId: id },
    );
  }

  /** The outcome of a run that threw, or ran too long. */
  failed(run: RunningJob, thrown: unknown): EndedRun {
    const error = outcomeIn(thrown) ? thrownOutcome() : thrown;
    const { id, fence, attempt } = run.claim;
    if (hasCode(error, 'UNRECOVERABLE_JOB')) return this.dead(run.claim, run.envelope, 'unrecoverable', error, run);
    if (attempt >= run.maxAttempts) return this.dead(run.claim, run.envelope, 'attempts-exhausted', error, run);
    const { delayMs, problem } = this.waitAfter(run, error);
    const progress = run.endProgress(true);
    return {
      ...this.outcome(run, { id, fence, transition: 'retry', delayMs, failure: toFailure(error), progress }),
      run,
      error,
      backoffProblem: problem,
    };
  }

  private waitAfter(run: RunningJob, error: unknown): { delayMs: number; problem?: string } {
    const { attempt } = run.claim;
    const backoff = run.envelope.settings.backoff ?? this.byName.get(run.name)!.settings.backoff;
    if (typeof backoff !== 'function') return { delayMs: backoffDelayMs(backoff, attempt) };
    const delayMs = askBackoff(backoff, attempt, error, run);
    if (typeof delayMs === 'number') return { delayMs };
    return { delayMs: backoffDelayMs(DEFAULT_BACKOFF, attempt), problem: delayMs.problem };
  }

  /**
   * Its payload could not be decoded, or does not fit its class. What is no JSON now never will be; a codec may only lack something for
   * a moment, such as a key, and says itself where a payload is spoilt for good.
   */
  undecodable(run: RunningJob, error: unknown): EndedRun {
    const isSpoilt = run.envelope.codec === undefined && error instanceof SyntaxError;
    if (!isSpoilt && !hasCode(error, 'INVALID_PAYLOAD')) return this.failed(run, error);
    return this.dead(run.claim, run.envelope, 'invalid-payload', withoutValues(error), run);
  }

  /** It has no attempt left: the last one lost its lease, or failed when there were to be more. None begins. */
  attemptsUsedUp(claim: ClaimedJob, envelope: Envelope, { maxAttempts }: RunLimits): EndedRun {
    const begun = claim.attempt - 1;
    const reason = claim.crashes > 0 ? 'crashed' : 'attempts-exhausted';
    const why = {
      crashed: `its lease ran out during attempt ${begun} of ${maxAttempts}: the worker died or was blocked`,
      'attempts-exhausted': `attempt ${begun} has failed, and maxAttempts is ${maxAttempts} by now`,
    };
    // No stack: it would be this library's.
    const error = Object.assign(new Error(why[reason]), { stack: undefined });
    const outcome = this.dead(claim, envelope, reason, error, undefined, false);
    return { ...outcome, job: { ...claim, attempt: begun } };
  }

  /** Nobody can tell what the job was to be. */
  unreadable(claim: ClaimedJob, problem: string): EndedRun {
    return this.dead(claim, undefined, 'unreadable', new Error(problem));
  }

  /** Why a job is not tried again; `run` is missing where it was not fit to run. */
  dead(
    claim: ClaimedJob,
    envelope: Envelope | undefined,
    reason: DeadReason,
    error: unknown,
    run?: RunningJob,
    hasBegun = true,
  ): EndedRun {
    const settlement: Settlement = {
      id: claim.id,
      fence: claim.fence,
      transition: 'dead',
      failure: toFailure(error, reason),
      ran: hasBegun,
      failed: hasBegun && reason !== 'dead-lettered',
      idWasChosen: envelope?.idWasChosen ?? false,
      progress: run?.endProgress(true),
    };
    const durationMs = run?.durationMs ?? 0;
    return { job: claim, run, name: envelope?.name ?? '', settlement, durationMs, error, reason };
  }

  private outcome(run: RunningJob, settlement: Settlement): EndedRun {
    const isLastAttempt = run.claim.attempt >= run.maxAttempts;
    return { job: run.claim, name: run.name, settlement, durationMs: run.durationMs, isLastAttempt };
  }
}

/** What cannot be looked into is a result like any other. */
export function isError(result: unknown): result is Error {
  try {
    return result instanceof Error;
  } catch {
    return false;
  }
}

/** Without a stack, which would be this library's. */
function thrownOutcome(): Error {
  const message = 'A JobOutcome was thrown, so the attempt has failed. Return it instead: return JobOutcome.snooze(…)';
  return Object.assign(new Error(message), { stack: undefined });
}

/** Of an object that cannot be looked into the answer is undefined: what throws here would take the worker with it. */
export function outcomeIn(result: unknown): JobOutcome | undefined {
  try {
    return isOutcome(result) ? result : undefined;
  } catch {
    return undefined;
  }
}

/** By its code: it may be of this package's other build. What cannot be looked into is an error like any other. */
function hasCode(error: unknown, code: string): boolean {
  try {
    return error instanceof Error && (error as { code?: unknown }).code === code;
  } catch {
    return false;
  }
}

/** How many places of a stack are kept: up to 20 failures are kept with each job, so they are short. */
const PLACES_KEPT = 5;
const STACK_CHARACTERS = 2_000;

/** Whatever a handler may throw, as something that can be kept: short, and never a throw of its own. */
export function toFailure(thrown: unknown, reason?: DeadReason): Failure {
  const { name, message, code, cause, stack } = describeError(thrown, PLACES_KEPT);
  return { name, message, code, cause, stack: stack?.slice(0, STACK_CHARACTERS), reason };
}
