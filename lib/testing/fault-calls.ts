import { describe } from '../core/read/describe.js';
import type { Lifetime } from './lifetime.js';
import { isOfKind } from './look/job-kind.js';
import { type HandledJob, unhandled } from './look/unhandled.js';
import { type AnyJob, kindOf, refuse } from './read-arguments.js';
import type { Conductor } from './run/conductor.js';
import type { Fault } from './run/faults.js';
import type { TestedInstance } from './run/tested-instance.js';

/** The jobs that the handlers of the application have. */
export function handledBy(instances: readonly TestedInstance[]): HandledJob[] {
  return instances.flatMap(({ fleet }) => fleet.handled());
}

/** The calls of the tester that order faults. */
export abstract class FaultCalls {
  readonly #conductor: Conductor;
  readonly #instances: readonly TestedInstance[];
  readonly #lifetime: Lifetime;

  /** @internal */
  constructor(conductor: Conductor, instances: readonly TestedInstance[], lifetime: Lifetime) {
    this.#conductor = conductor;
    this.#instances = instances;
    this.#lifetime = lifetime;
  }

  /** The next run of that name fails with this error, and the handler is not called. Twice: the next two. */
  failNext(job: AnyJob, error: unknown): void {
    this.order('failNext', job, { kind: 'fail', error });
  }

  /**
   * The process dies at the end of the next run of that name: the handler runs, its outcome is thrown away, and the lease runs out
   * `leaseMs` of virtual time later. The job is recovered then, with one more attempt and one more crash.
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
   * outcome of the second run counts. A correct handler tolerates that.
   */
  deliverTwice(on = true): void {
    if (typeof on !== 'boolean')
      throw refuse(`deliverTwice: got ${describe(on)}, expected true or false. It is for every job, not for one.`);
    this.#lifetime.requireOpen('deliverTwice');
    this.#conductor.faults.deliversTwice = on;
  }

  /**
   * From now on Redis is away: nothing runs, and each call that would ask Redis rejects at once with `QueueUnavailableError`, with the
   * outcome `'refused'`. `run` still calls its handler. What became due meanwhile runs in the next call of the tester after `redisAway(false)`.
   */
  redisAway(on = true): void {
    if (typeof on !== 'boolean') throw refuse(`redisAway: got ${describe(on)}, expected true or false.`);
    this.#lifetime.requireOpen('redisAway');
    for (const instance of this.#instances) instance.redisAway(on);
  }

  /** May be called before the application has started: a fault waits for its run. */
  private order(call: string, job: AnyJob, fault: Fault): void {
    this.#lifetime.requireOpen(call);
    const kind = kindOf(job);
    const handled = handledBy(this.#instances);
    if (this.#lifetime.isStarted && !handled.some((one) => isOfKind(one, kind))) throw unhandled(call, kind, handled);
    this.#conductor.faults.order(kind, fault);
  }
}
