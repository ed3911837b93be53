import type { ScheduledJobDefinition } from '../core/job/definition.js';
import { FIRST_VERSION, includesVersion } from '../core/job/job-versions.js';
import { type JobRef, readRef, readSchedule } from '../core/options/schedule-options.js';
import type { PayloadOf } from '../core/payload/payload-types.js';
import { describe } from '../core/read/describe.js';
import type { Duration } from '../core/read/duration.js';
import { integer, readOptions } from '../core/read/shape.js';
import type { Lifetime } from './lifetime.js';
import { type AwaitedState, readState } from './look/ends.js';
import { type JobExpectation, misfits } from './look/expectations.js';
import { notScheduled, type Past, scheduledAllTheSame } from './look/failures.js';
import { isOfKind, type JobKind } from './look/job-kind.js';
import type { RunJobOptions, RunResult, TestedRun } from './look/tested-run.js';
import { type HandledJob, unhandled, wrongVersion } from './look/unhandled.js';
import { byDueTime, type WaitingJob } from './look/waiting-jobs.js';
import {
  type AnyJob,
  kindOf,
  laterBy,
  readAdvance,
  readAt,
  readDrain,
  readExpectation,
  readMs,
  readSignal,
  refuse,
} from './read-arguments.js';
import type { Conductor } from './run/conductor.js';
import type { Fault } from './run/faults.js';
import type { TestedInstance } from './run/tested-instance.js';

/** How many runs, and jobs that are gone, a failure tells of. */
const MOST_TOLD_OF_PAST = 5;

/**
 * Moves the time of an application under test, runs its jobs, and tells what is scheduled and what has run. Nothing runs and no time
 * passes but inside `advance`, `drain` and `run`; one run at a time, in claim order, each awaited. One tester serves all instances of
 * the module in the application: `app.get(ScheduledQueueTester)`.
 */
export class ScheduledQueueTester {
  /** @internal The module makes it. */
  constructor(
    private readonly conductor: Conductor,
    private readonly instances: readonly TestedInstance[],
    private readonly lifetime: Lifetime,
  ) {}

  /** The virtual time. */
  now(): Date {
    return new Date(this.conductor.clock.wallNow());
  }

  /**
   * Calls `listener` at once, and from now on at each instant at which virtual time stops, before anything runs at it: the place to set a
   * fake `Date`, in Vitest by `tester.onTime((now) => vi.setSystemTime(now))`. Answers a function that ends this. What `listener` throws
   * fails the call under way.
   */
  onTime(listener: (now: Date) => void): () => void {
    if (typeof listener !== 'function') throw refuse(`onTime: got ${describe(listener)}, expected a function.`);
    return this.conductor.clock.watch(listener);
  }

  /**
   * Lets so much time pass: runs what is due, then goes from instant to instant (due times, retries, occurrences, leases, pauses), runs
   * what is due at each, and ends exactly so much later. A number is milliseconds. The event loop turns every 100 ms of real time. Throws
   * `ScheduledQueueTestError` for a handler that has not ended after 5 s of real time, for more than 100 000 runs at one instant or
   * instants without a run, and inside a handler.
   *
   * @example
   * ```ts
   * await tester.advance('30 days');
   * ```
   */
  async advance(duration: Duration): Promise<void> {
    this.lifetime.requireRunning('advance');
    const ms = readAdvance(duration);
    await this.conductor.advance('advance', () => laterBy(ms, this.conductor.clock.wallNow(), 'advance'));
  }

  /** Runs what is due, and what that schedules for now. With `until`, an instant, time goes on to it as in `advance`. Throws likewise. */
  async drain(options: { until?: Date | number | string } = {}): Promise<void> {
    this.lifetime.requireRunning('drain');
    const untilMs = readDrain(options);
    await this.conductor.advance('drain', () => {
      const nowMs = this.conductor.clock.wallNow();
      if (untilMs !== undefined && untilMs < nowMs)
        throw refuse(`drain: until: got ${describe(new Date(untilMs))}, which is past: it is ${describe(this.now())}.`);
      return untilMs ?? nowMs;
    });
  }

  /**
   * Runs the handler of a job once, with a payload that is checked as in `schedule`, and answers how it ended. Nothing is scheduled for
   * it, nothing retried, nothing counted, and no event told; no other job runs, not even in a call of a batch handler. Throws `InvalidPayloadError`, and `ScheduledQueueTestError` where no handler has the job.
   */
  run(job: ScheduledJobDefinition<void>): Promise<RunResult>;
  run<T>(
    job: ScheduledJobDefinition<T> | string,
    payload: NoInfer<PayloadOf<T>>,
    options?: RunJobOptions,
  ): Promise<RunResult>;
  async run(job: AnyJob, payload?: unknown, options: RunJobOptions = {}): Promise<RunResult> {
    this.lifetime.requireRunning('run');
    const anything = (value: unknown) => ({ value });
    const { attempt = 1, dueAt } = readOptions<{ attempt: number; dueAt: unknown }>(
      options,
      { attempt: integer(1, 1_000), dueAt: anything },
      'run',
      refuse,
    );
    const dueAtMs = dueAt === undefined ? undefined : readAt(dueAt, 'run: dueAt');
    const request = readSchedule(job, undefined, payload, 'run');
    const instance = this.instances.find((one) => one.fleet.handles(request));
    if (!instance) throw unhandled('run', request, this.handled());
    const versions = instance.fleet.versionsOf(request);
    if (!includesVersion(versions, request.version ?? FIRST_VERSION)) throw wrongVersion('run', request, versions);
    const told = await this.conductor.single('run', (follow) =>
      instance.fleet.single(request, payload, attempt, dueAtMs, follow),
    );
    const { outcome, result, error, retryAt, reason } = told;
    return {
      outcome,
      ...(result !== undefined && { result }),
      ...(error !== undefined && { error }),
      ...(retryAt !== undefined && { retryAt }),
      ...(reason !== undefined && { reason }),
    };
  }

  /**
   * Inside a handler, or what it calls: lets virtual time go on, up to so much later. Await it at once: other jobs run meanwhile, leases
   * are kept, and a timeout may come. Rejects with the reason of `signal` when that aborts. A sleep that has lost a `Promise.race` has to be
   * aborted where the handler does real I/O after it, which the kit would not wait for.
   */
  async sleep(duration: Duration, options: { signal?: AbortSignal } = {}): Promise<void> {
    const ms = readMs(duration, 'sleep');
    laterBy(ms, this.conductor.clock.wallNow(), 'sleep');
    const signal = readSignal(options, 'sleep');
    signal?.throwIfAborted();
    await this.conductor.sleep(ms, signal);
  }

  /**
   * The jobs that wait, by due time. A definition that names a queue means the jobs of that queue alone; any other, and a name, those of
   * all queues. So it is wherever a job is given here.
   */
  scheduled(job?: AnyJob): WaitingJob[] {
    this.lifetime.requireStarted('scheduled');
    const kind = job === undefined ? undefined : kindOf(job);
    return this.waiting(kind);
  }

  /** The runs so far, in the order in which they began; those of one job, where it is given. */
  runs(job?: AnyJob): TestedRun[] {
    this.lifetime.requireStarted('runs');
    return this.conductor.log.of(job === undefined ? undefined : kindOf(job));
  }

  /** Throws unless such a job waits; says what waits instead, and how it differs. Answers the first that fits. */
  expectScheduled<T>(job: ScheduledJobDefinition<T> | string, expected: JobExpectation<NoInfer<T>> = {}): WaitingJob {
    this.lifetime.requireStarted('expectScheduled');
    const nowMs = this.conductor.clock.wallNow();
    const read = readExpectation(expected, nowMs, 'expectScheduled');
    const waiting = this.waiting();
    const kind = kindOf(job);
    const found = waiting.find((one) => isOfKind(one, kind) && misfits(one, read, nowMs).length === 0);
    if (!found) throw notScheduled(kind, read, waiting, this.pastOf(kind), nowMs);
    return found;
  }

  /** Throws if such a job waits, and tells which. */
  expectNotScheduled<T>(job: ScheduledJobDefinition<T> | string, expected: JobExpectation<NoInfer<T>> = {}): void {
    this.lifetime.requireStarted('expectNotScheduled');
    const nowMs = this.conductor.clock.wallNow();
    const read = readExpectation(expected, nowMs, 'expectNotScheduled');
    const found = this.waiting(kindOf(job)).filter((one) => misfits(one, read, nowMs).length === 0);
    if (found.length > 0) throw scheduledAllTheSame(kindOf(job), read, found, nowMs);
  }

  /** Throws if any job waits, and tells which. */
  expectNothingScheduled(): void {
    this.lifetime.requireStarted('expectNothingScheduled');
    const found = this.waiting();
    if (found.length > 0) throw scheduledAllTheSame(undefined, {}, found, this.conductor.clock.wallNow());
  }

  /**
   * Resolves when the job is in this state, or has ended so; every end is remembered. Moves no time, so await it after `advance` or
   * `drain`, or begin it before. Rejects where the job has ended otherwise, or is not known.
   */
  async waitFor(ref: JobRef, state: AwaitedState): Promise<void> {
    this.lifetime.requireStarted('waitFor');
    const job = readRef(ref, undefined, 'waitFor');
    const awaited = readState(state);
    const known = await Promise.all(this.instances.map(({ ends }) => ends.stateOf(job)));
    const at = known.findIndex((one) => one !== undefined);
    const instance = this.instances[Math.max(0, at)]!;
    await instance.ends.wait(job, awaited, {
      idle: () => this.conductor.idle(),
      explain: () => instance.explain(job, this.handled()),
      queuesOf: (id) => this.instances.flatMap(({ ends }) => ends.queuesOf(id)),
    });
  }

  /**
   * The next run of that name fails with this error, and the handler is not called; one that has other jobs in the same call is called
   * without it. Twice: the next two.
   */
  failNext(job: AnyJob, error: unknown): void {
    this.order('failNext', job, { kind: 'fail', error });
  }

  /**
   * The process dies at the end of the next run of that name: the handler runs, its outcome is thrown away, and the lease runs out
   * `leaseMs` of virtual time later. The job is recovered then, with one more attempt and one more crash. Others of its call are settled.
   */
  crashNext(job: AnyJob): void {
    this.order('crashNext', job, { kind: 'crash' });
  }

  /**
   * The next run of that name loses its lease as its handler begins: `signal.aborted` is true from the handler's first line on, the event
   * `abort` comes once it has awaited something, and its result is dropped. The job is recovered `leaseMs` of virtual time later.
   */
  loseLeaseNext(job: AnyJob): void {
    this.order('loseLeaseNext', job, { kind: 'lose-lease' });
  }

  /**
   * From now on each job that completes is handed out once more in the same call, with the same id and attempt and a higher fence; the
   * outcome of the second run counts. A correct handler tolerates that. A job of a batch comes alone the second time.
   */
  deliverTwice(on = true): void {
    if (typeof on !== 'boolean')
      throw refuse(`deliverTwice: got ${describe(on)}, expected true or false. It is for every job, not for one.`);
    this.lifetime.requireOpen('deliverTwice');
    this.conductor.faults.deliversTwice = on;
  }

  /**
   * From now on Redis is away: nothing runs, and each call that would ask Redis rejects at once with `QueueUnavailableError`, with the
   * outcome `'refused'`. `run` still calls its handler. What became due meanwhile runs in the next call of the tester after `redisAway(false)`.
   */
  redisAway(on = true): void {
    if (typeof on !== 'boolean') throw refuse(`redisAway: got ${describe(on)}, expected true or false.`);
    this.lifetime.requireOpen('redisAway');
    for (const instance of this.instances) instance.redisAway(on);
  }

  /** May be called before the application has started: a fault waits for its run. */
  private order(call: string, job: AnyJob, fault: Fault): void {
    this.lifetime.requireOpen(call);
    const kind = kindOf(job);
    const handled = this.handled();
    if (this.lifetime.isStarted && !handled.some((one) => one.runsHere && isOfKind(one, kind)))
      throw unhandled(call, kind, handled);
    this.conductor.faults.order(kind, fault);
  }

  /** The jobs that the handlers of the application have, whether it runs them or not. */
  private handled(): HandledJob[] {
    return this.instances.flatMap(({ fleet }) => fleet.handled());
  }

  private waiting(kind?: JobKind): WaitingJob[] {
    return this.instances.flatMap((instance) => instance.waiting(kind)).sort(byDueTime);
  }

  private pastOf(kind: JobKind): Past {
    const { log } = this.conductor;
    const gone = this.instances.flatMap(({ ends }) => ends.gone(kind)).filter((job) => !log.hasRun(job));
    return { runs: log.last(kind, MOST_TOLD_OF_PAST), gone: gone.slice(-MOST_TOLD_OF_PAST) };
  }
}
