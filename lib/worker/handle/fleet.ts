import { QueueClosedError } from '../../core/errors.js';
import type { EventSink } from '../../core/job/events.js';
import type { Log } from '../../core/log.js';
import type { QueueSettings } from '../../core/options/queue-options.js';
import type { PayloadChecker } from '../../core/payload/payload-class.js';
import { LONGEST_TIMEOUT_MS, type Timers } from '../../core/timers.js';
import type { JobStore } from '../../store/job-store.js';
import { haveLimits } from '../capacity/room.js';
import type { Solitude } from '../capacity/solitude.js';
import type { HandlerRegistry } from '../run/job-handler.js';
import { keptResults } from '../run/kept-results.js';
import { Processor } from '../run/processor.js';
import { Settler } from '../run/settler.js';
import { Reporter } from '../session/reporter.js';
import { drainedLine, waitingLine } from './drain-report.js';
import { QueueWorker } from './queue-worker.js';

export interface FleetOptions {
  workerId: string;
  shutdownTimeoutMs: number;
  settingsOf(queue: string): QueueSettings;
  /** Also the most that is kept of a job's result. */
  maxPayloadBytes: number;
  /** What the names of this fleet's timers begin with. */
  timerPrefix: string;
  /** Shared by all that may hold jobs in this module instance. */
  solitude: Solitude;
}

/** The workers of this process: one for each queue that has handlers. May be started and stopped again and again. */
export class Fleet {
  private workers: QueueWorker[] = [];
  private stopping?: Promise<void>;
  private patience?: AbortController;
  /** How many running jobs the present or last stop waits for. */
  waitsFor = 0;
  private closed = false;

  constructor(
    private readonly store: JobStore,
    private readonly registry: HandlerRegistry,
    private readonly checker: PayloadChecker,
    /** Found when first needed: what the application has of timers is only known once it has started. */
    private readonly findTimers: () => Timers,
    private readonly events: EventSink,
    private readonly log: Log,
    private readonly options: FleetOptions,
  ) {}

  /** Does nothing where it has started already. Throws `QueueClosedError` after `close`. */
  async start(): Promise<void> {
    await this.stopping;
    if (this.closed)
      throw new QueueClosedError(
        'start: the application is closing or has closed; its queues cannot be started again.',
      );
    if (this.workers.length > 0) return;
    const timers = this.findTimers();
    this.workers = this.registry.queueNames().map((queue) => this.open(queue, timers));
    for (const worker of this.workers) worker.start();
  }

  /** Resolves within `shutdownTimeoutMs` and a second, whatever handlers or Redis do. */
  stop(): Promise<void> {
    this.stopping ??= this.stopAll().finally(() => {
      this.stopping = undefined;
    });
    return this.stopping;
  }

  /** Cuts short a stop that is under way: the running jobs go back at once. */
  stopWaiting(): void {
    this.patience?.abort();
  }

  /** Nothing can be started any more. */
  close(): void {
    this.closed = true;
  }

  private async stopAll(): Promise<void> {
    const atMostMs = Math.min(this.options.shutdownTimeoutMs, LONGEST_TIMEOUT_MS);
    const patience = new AbortController();
    this.patience = patience;
    const timer = setTimeout(() => patience.abort(), atMostMs);
    const running = this.workers.flatMap(({ runs }) => runs.running.held().map(({ name }) => name));
    this.waitsFor = running.length;
    if (running.length > 0 && atMostMs > 0) this.log.log(waitingLine(running, atMostMs));
    const stopped = await Promise.all(this.workers.map((worker) => worker.stop(patience.signal)));
    clearTimeout(timer);
    this.workers = [];
    const drained = drainedLine(running.length, stopped);
    if (drained) this.log[drained.isComplete ? 'log' : 'warn'](drained.line);
  }

  private open(queue: string, timers: Timers): QueueWorker {
    const { workerId, settingsOf, maxPayloadBytes, timerPrefix, solitude } = this.options;
    const settings = settingsOf(queue);
    const handlers = this.registry.handlersOf(queue);
    const names = { names: [...handlers.keys()], limited: haveLimits(handlers) };
    const session = this.store.queue(queue).sessions.worker(workerId, names);
    const settler = new Settler(handlers, keptResults(settings, maxPayloadBytes));
    const processor = new Processor(queue, handlers, this.checker, settler, this.events);
    const reporter = new Reporter(this.log, this.events);
    return new QueueWorker(
      queue,
      session,
      handlers,
      processor,
      settler,
      settings,
      timers,
      reporter,
      solitude,
      timerPrefix,
    );
  }
}
