import { InvalidOptionsError } from '../core/errors.js';
import type { PoppedJob } from '../core/job/popped-job.js';
import { type PopOptions, readPop } from '../core/options/pop-options.js';
import { type RelayOptions, readRelay, type ScheduledQueueRelay } from '../core/options/relay-options.js';
import type { Fleet } from '../worker/handle/fleet.js';
import type { Pullers } from '../worker/pull/pullers.js';
import type { Relays } from '../worker/relay/relays.js';

/** What a process does with queues: `worker` is the same as `both`, for a process that says which it is. */
export type Role = 'both' | 'producer' | 'worker';

/** Starts and stops the workers of this process, hands out jobs to code that pulls them, and relays jobs to streams and lists. */
export class ScheduledQueueConsumer {
  /** @internal The module makes it. */
  constructor(
    private readonly fleet: Fleet,
    private readonly pullers: Pullers,
    private readonly relays: Relays,
    private readonly role: Role,
  ) {}

  /**
   * Starts the workers of every queue that has handlers here, or of those that the option `runs` names. Does nothing if they have started. You need it only with
   * `autoStart: false` or after `stop`. Throws `InvalidOptionsError` in a process with `role: 'producer'`, and `QueueClosedError`
   * after shutdown.
   */
  async start(): Promise<void> {
    this.refuseProducers('start');
    await this.fleet.start();
  }

  /**
   * Stops the workers of this process and waits for running handlers, for up to `shutdownTimeoutMs`. After that their signals abort,
   * and their jobs go back to the queue without using an attempt. `start` starts the workers again.
   */
  async stop(): Promise<void> {
    await this.fleet.stop();
  }

  /**
   * Claims up to `count` due jobs, in the order in which handlers would get them. If none is due, it waits for up to `waitMs`, without
   * polling, and ends with the first job that is due. If still none is due, it answers none. Earlier calls are served first.
   *
   * You hold each job under a lease of the queue's `leaseMs`, which nobody renews: settle the job before the lease runs out, or
   * `extend` it. Attempts, retries and dead letters are as with handlers. `maxAttempts` and `backoff` come from the call to `schedule`,
   * else from the module's `jobs`, else from the defaults. No handler is needed. `start` and `stop` do not affect pops. Payloads are
   * not made instances of a class.
   *
   * At shutdown, before any `onModuleDestroy`, waiting pops answer no jobs; later ones throw `QueueClosedError`. You can settle popped jobs until all
   * `beforeApplicationShutdown` hooks have ended, so await your loop in that hook. The jobs that are left go back to the queue without
   * using an attempt.
   *
   * Throws `InvalidOptionsError` for a wrong option and in a process with `role: 'producer'`. Throws `QueueUnavailableError` if Redis
   * refuses, or has not answered for `commandTimeoutMs` after the wait; jobs claimed for such a call go back by themselves.
   *
   * @example
   * ```ts
   * const [popped] = await consumer.pop<{ to: string }>({ names: ['reminder.send'], waitMs: '30s' });
   * await popped?.complete();
   * ```
   */
  async pop<T = unknown>(options: PopOptions = {}): Promise<PoppedJob<T>[]> {
    this.refuseProducers('pop');
    return (await this.pullers.pop(readPop(options))) as PoppedJob<T>[];
  }

  /**
   * Moves due jobs to a Redis Stream or List, for programs in any language; docs/relay.md has the format. It runs until you call `stop`
   * or the application closes. It moves jobs in the order in which handlers would get them. One atomic step in Redis moves up to
   * `batch` jobs, so each job is moved exactly once, whichever process or answer is lost. No handler is needed. Handlers and other
   * relays of the same jobs share them.
   *
   * For the queue a moved job has ended: it counts as started and completed, is not kept, and no event tells it. What happens then is
   * up to its reader. Pauses, `rateLimit` and `maxLatenessMs` apply; `globalConcurrency` does not.
   *
   * If Redis refuses, or the target's key is of another type, nothing is moved. The log says so once, and the relay tries again every
   * second.
   *
   * Throws `InvalidOptionsError` for a wrong option, in a process with `role: 'producer'`, for a target among the queue's own keys,
   * and on a cluster for a target without the queue's hash tag (`relayKey` makes one). Throws `QueueClosedError` after shutdown.
   */
  relay(options: RelayOptions): ScheduledQueueRelay {
    this.refuseProducers('relay');
    const relay = this.relays.start(readRelay(options));
    return { stop: () => relay.stop() };
  }

  private refuseProducers(where: string): void {
    if (this.role !== 'producer') return;
    throw new InvalidOptionsError(
      `${where}: this process has role 'producer', which never claims: expected 'both' or 'worker'.`,
    );
  }
}
