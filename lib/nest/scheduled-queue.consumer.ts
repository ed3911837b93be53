import { InvalidOptionsError } from '../core/errors.js';
import { type PopOptions, readPop } from '../core/pop-options.js';
import type { PoppedJob } from '../core/popped-job.js';
import { type RelayOptions, readRelay, type ScheduledQueueRelay } from '../core/relay-options.js';
import type { Fleet } from '../worker/fleet.js';
import type { Pullers } from '../worker/pullers.js';
import type { Relays } from '../worker/relays.js';
import type { Role } from './module-options.js';

/** Starts and stops the workers of this process, hands out jobs to those who pull them, and relays jobs to others. */
export class ScheduledQueueConsumer {
  constructor(
    private readonly fleet: Fleet,
    private readonly pullers: Pullers,
    private readonly relays: Relays,
    private readonly role: Role,
  ) {}

  /**
   * Begins to claim, for every queue that has handlers. Does nothing where that has begun.
   * Throws `InvalidOptionsError` in a process whose `role` is `'producer'`, `QueueClosedError` once the application has closed.
   */
  async start(): Promise<void> {
    this.refuseProducers('start');
    await this.fleet.start();
  }

  /**
   * Claims no more and waits for running handlers, up to `shutdownTimeoutMs`; then their signals abort and their jobs go
   * back, with no attempt used. May be started again.
   */
  async stop(): Promise<void> {
    await this.fleet.stop();
  }

  /**
   * Claims up to `count` due jobs, in the order in which handlers would get them, and resolves to them: to none where nothing
   * is due, or has become due within `waitMs`. It waits without polling, ends with the first job that can be had, and takes
   * with it what else is due by then. Who asked first is served first.
   *
   * Each job is claimed by one step in Redis and held under a lease of the queue's `leaseMs`, which is not renewed by itself:
   * settle the job before it runs out, or `extend` it. Its attempts, retries and dead letters are those of handlers, with the
   * `maxAttempts` and `backoff` of the call to `schedule`, else of the module's `jobs`, else the defaults. Needs no handler, and
   * neither `start` nor `stop` concerns it. Payloads come as they were serialised: there is no class to make them of.
   *
   * When the application closes, pops that wait resolve to none before any `onModuleDestroy`, and later ones throw `QueueClosedError`.
   * Popped jobs can be settled until all `beforeApplicationShutdown` hooks have ended, so that is where to await whoever works on
   * some; what is left then goes back, with no attempt used.
   *
   * Throws `InvalidOptionsError`, also in a process whose `role` is `'producer'`, and `QueueUnavailableError` where Redis has
   * not answered for `commandTimeoutMs` after the wait, or refuses: what was claimed for it goes back by itself.
   */
  async pop<T = unknown>(options: PopOptions = {}): Promise<PoppedJob<T>[]> {
    this.refuseProducers('pop');
    return (await this.pullers.pop(readPop(options))) as PoppedJob<T>[];
  }

  /**
   * From now on moves jobs that are due to a Redis Stream or List, in the order in which handlers would get them, for consumers in
   * any language; docs/relay.md has the format. One step in Redis writes up to `batch` jobs to the target and takes them out of
   * the queue: whatever process or reply is lost, each is there once. It needs no handler, sleeps until something is due, and is
   * woken as a worker is. Others that claim the same names get some of the jobs.
   *
   * To the queue a job that was moved is done: counted as started and completed, never kept as completed, and told by no event;
   * what becomes of it is its consumers' matter. Pauses and `rateLimit` hold, `globalConcurrency` does not count it, and what is
   * too late for its `maxLatenessMs` meets its `onLate`.
   *
   * Where Redis refuses, or the target's key is of another type, nothing is moved; the log says so once, and it is tried again
   * every second. It stops by `stop`, and by itself when the application closes.
   *
   * Throws `InvalidOptionsError`, also in a process whose `role` is `'producer'`, for a target among the queues' own keys, and on a
   * cluster for one without the queue's hash tag (`relayKey` makes it); `QueueClosedError` once the application is closing.
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
